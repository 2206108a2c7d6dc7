#include "app/main_window.h"

#include <QActionGroup>
#include <QApplication>
#include <QCloseEvent>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QMessageBox>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <exception>
#include <utility>

#include "app/action_button.h"
#include "app/analysis_model.h"
#include "app/analysis_page.h"
#include "app/batch_page.h"
#include "app/cache_page.h"
#include "app/channel_page.h"
#include "app/command_palette.h"
#include "app/export_menu.h"
#include "app/help_panel.h"
#include "app/model_decoder.h"
#include "app/page_switch.h"
#include "app/paths.h"
#include "app/probes_page.h"
#include "app/reachability_page.h"
#include "app/recipe_panel.h"
#include "app/recipes.h"
#include "app/run_library.h"
#include "app/run_side.h"
#include "app/stability_page.h"
#include "app/status_line.h"
#include "app/training_actions.h"
#include "app/training_page.h"
#include "app/window_bar.h"
#include "engine/version.h"
#include "widgets/banner.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kMargin = 16;
constexpr int kGap = 12;
constexpr int kSaveDelay = 1500;     // ms after the last change
constexpr int kRememberDelay = 500;  // a dragged slider is one step of undo

/// Entries of `over` take the place of those of their name.
widgets::FigureMetadata merged(widgets::FigureMetadata base, const widgets::FigureMetadata& over) {
  for (const auto& entry : over) {
    const auto same = std::find_if(base.begin(), base.end(), [&](const auto& old) { return old.first == entry.first; });
    if (same == base.end()) {
      base.push_back(entry);
    } else {
      same->second = entry.second;
    }
  }
  return base;
}

}  // namespace

MainWindow::MainWindow(widgets::ThemeController& theme, WindowOptions options)
    : theme_(theme), options_(std::move(options)), controller_(options_.make_job), library_(new RunLibrary(this)) {
  if (!options_.open_decoder) {
    options_.open_decoder = [live = controller_.live_model()](const std::string& key) {
      return open_live_decoder(*live, key);
    };
  }
  if (!options_.open_analysis) options_.open_analysis = open_analysis_model;
  setWindowTitle("Fullband");
  setMinimumSize(1024, 700);
  resize(1440, 900);
  const std::string problem = load_stored_session();  // the theme before there is anything to dress in it
  make_pages();
  make_actions();
  build();
  connect_parts();
  restore_session(problem);
  setFocus();  // no control is marked before the keyboard is used
}

// A box that loses the focus may still ask for something, while everything it reaches is there.
MainWindow::~MainWindow() { hide(); }

// In the order of the bar.
void MainWindow::make_pages() {
  // A run in training is measured as it is now, any other from its newest checkpoint.
  const AnalysisWorker::Opener open_analysis = [stored = options_.open_analysis,
                                                live = controller_.live_model()](const std::string& key) {
    auto model = live->open(key);
    return model != nullptr ? std::move(model) : stored(key);
  };
  pages_ = new QStackedWidget(this);
  const auto measuring = [this](auto* page) {
    analysis_.push_back(page);
    connect(page, &AnalysisPage::busy_changed, this, &MainWindow::refresh_status);
    connect(page, &AnalysisPage::training_wanted, this, [this] { show_page("training"); });
    connect(&page->settings(), &FormMemory::changed, this, &MainWindow::session_changed);
    return page;
  };
  const auto add = [&](AnalysisPage* page) { pages_->addWidget(measuring(page)); };
  training_ = new TrainingPage(controller_, *library_, this);
  rollouts_ = new RolloutsPage(options_.open_decoder, this);
  pages_->addWidget(training_);
  add(new ReachabilityPage(open_analysis, this));
  add(new ProbesPage(open_analysis, this));
  add(new StabilityPage(open_analysis, this));
  rollout_parts_ = new PageSwitch(this);
  pages_->addWidget(rollout_parts_);
  auto* batch = measuring(new BatchPage(open_analysis, this));
  auto* cache = measuring(new CachePage(open_analysis, this));
  make_rollout_parts(cache, batch);
  add(new ChannelPage(open_analysis, this));
}

void MainWindow::make_rollout_parts(CachePage* cache, AnalysisPage* batch) {
  const auto part = [this](const QString& text, const std::string& id, Qt::Key key, QWidget* page,
                           const QString& name) {
    QAction* action = make_action(this, text, Qt::CTRL | key, [this, id] { show_page(id); });
    action->setCheckable(true);
    part_actions_.push_back(action);
    rollout_parts_->add(id, action, page, name);
  };
  part(tr("Rollouts of one prompt"), "rollouts", Qt::Key_7, rollouts_, tr("One prompt"));
  part(tr("Batch of rollouts"), "batch", Qt::Key_8, batch, tr("Batch"));
  part(tr("Cache and likelihood of rollouts"), "cache", Qt::Key_9, cache, tr("Cache and likelihood"));
  connect(rollouts_, &RolloutsPage::rebuild_wanted, this, [this, cache](const engine::Rollout& rollout) {
    cache->show_rollout(rollout);
    show_page("cache");
  });
}

void MainWindow::make_page_actions() {
  auto* group = new QActionGroup(this);
  // Rollouts comes back with the part that was shown last.
  const auto page = [&](const QString& text, const std::string& name, Qt::Key key) {
    QAction* action = make_action(this, text, Qt::CTRL | key, [this, name] {
      show_page(rollout_parts_->has(name) ? rollout_parts_->part() : name);
    });
    action->setCheckable(true);
    action->setData(QString::fromStdString(name));
    group->addAction(action);
    page_actions_.push_back(action);
  };
  page(tr("Training"), "training", Qt::Key_1);
  page(tr("Reachability"), "reachability", Qt::Key_2);
  page(tr("Probes"), "probes", Qt::Key_3);
  page(tr("Stability"), "stability", Qt::Key_4);
  page(tr("Rollouts"), "rollouts", Qt::Key_5);
  page(tr("Channel"), "channel", Qt::Key_6);
}

void MainWindow::make_actions() {
  make_page_actions();
  file_actions_ = {make_action(this, tr("New run"), Qt::CTRL | Qt::Key_N, [this] { new_run(); }),
                   make_action(this, tr("Open a run…"), Qt::CTRL | Qt::Key_O, [this] { choose_run(); }),
                   make_action(this, tr("Choose the runs folder…"), Qt::CTRL | Qt::SHIFT | Qt::Key_O,
                               [this] { choose_runs_folder(); }),
                   make_action(this, tr("Look for runs again"), Qt::CTRL | Qt::Key_F5, [this] { library_->refresh(); }),
                   make_action(this, tr("Take the selected run's recipe"), Qt::CTRL | Qt::SHIFT | Qt::Key_T,
                               [this] { take_recipe(); }),
                   make_action(this, tr("Export a figure…"), Qt::CTRL | Qt::Key_E, [this] { bar_->open_export(); }),
                   make_action(this, tr("Quit"), Qt::CTRL | Qt::Key_Q, [this] { close(); })};
  file_actions_[0]->setIconText(tr("New run"));
  file_actions_[1]->setIconText(tr("Open…"));

  undo_ =
      make_action(this, tr("Undo the change of view"), Qt::CTRL | Qt::Key_Z, [this] { apply_view(history_.undo()); });
  redo_ = make_action(this, tr("Redo the change of view"), Qt::CTRL | Qt::SHIFT | Qt::Key_Z,
                      [this] { apply_view(history_.redo()); });
  view_actions_ = {
      undo_,
      redo_,
      make_action(this, tr("Theme of the system"), Qt::CTRL | Qt::ALT | Qt::Key_S, [this] { set_theme("auto"); }),
      make_action(this, tr("Light theme"), Qt::CTRL | Qt::ALT | Qt::Key_L, [this] { set_theme("light"); }),
      make_action(this, tr("Dark theme"), Qt::CTRL | Qt::ALT | Qt::Key_D, [this] { set_theme("dark"); }),
      make_action(this, tr("Go to the run list"), Qt::ALT | Qt::Key_R, [this] { side_->focus_list(); }),
      make_action(this, tr("Go to the prompt"), Qt::ALT | Qt::Key_P, [this] {
        show_page("rollouts");
        rollouts_->focus_prompt();
      })};
  help_actions_ = {make_action(this, tr("Help on this page"), Qt::Key_F1, [this] { toggle_help(); }),
                   make_action(this, tr("Command palette"), Qt::CTRL | Qt::Key_K, [this] { palette_->open(); }),
                   make_action(this, tr("Open the menu"), Qt::ALT | Qt::Key_M, [this] { bar_->open_menu(); })};
}

QMenu* MainWindow::make_menu() {
  auto* menu = new QMenu(this);
  const auto add = [&](const QString& title, const std::vector<QAction*>& actions) {
    QMenu* part = menu->addMenu(title);
    for (QAction* action : actions) {
      part->addAction(action);
      all_actions_.push_back(action);
    }
  };
  add(tr("Run"), file_actions_);
  QMenu* recent = menu->addMenu(tr("Recent runs"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] { fill_recent_runs(recent); });
  add(tr("Pages"), page_actions_);
  add(tr("Training"), training_->actions());
  for (AnalysisPage* page : analysis_) add(page->words().title, page->actions());
  std::vector<QAction*> rollouts = rollouts_->actions();
  rollouts.insert(rollouts.begin(), part_actions_.begin(), part_actions_.end());
  add(tr("Rollouts"), rollouts);
  add(tr("View"), view_actions_);
  add(tr("Help"), help_actions_);
  for (QAction* action : all_actions_) addAction(action);  // shortcuts work wherever the focus is
  return menu;
}

void MainWindow::build() {
  export_menu_ = new ExportMenu([this] { return present_figures(); }, [this] { return figure_metadata(); }, this);
  bar_ = new WindowBar(page_actions_, export_menu_, make_menu(), this);
  side_ = new RunSide(file_actions_[0], file_actions_[1], this);
  banner_ = new widgets::Banner(this);
  banner_->hide();
  help_ = new HelpPanel(this);
  help_->hide();
  status_ = new StatusLine(this);

  auto* middle = new QVBoxLayout;
  middle->setContentsMargins(kMargin, kMargin, kMargin, kMargin);
  middle->setSpacing(kGap);
  middle->addWidget(banner_);
  auto* content = new QHBoxLayout;
  content->setSpacing(kGap);
  content->addWidget(pages_, 1);
  content->addWidget(help_);
  middle->addLayout(content, 1);
  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  row->addWidget(side_);
  row->addLayout(middle, 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(bar_);
  layout->addLayout(row, 1);
  layout->addWidget(status_);
  palette_ = new CommandPalette(this);
  palette_->set_actions({all_actions_.begin(), all_actions_.end()});
}

void MainWindow::connect_parts() {
  save_soon_.setSingleShot(true);
  save_soon_.setInterval(kSaveDelay);
  remember_soon_.setSingleShot(true);
  remember_soon_.setInterval(kRememberDelay);
  connect(&save_soon_, &QTimer::timeout, this, &MainWindow::save_session_now);
  connect(&remember_soon_, &QTimer::timeout, this, &MainWindow::remember_view);
  connect(library_, &RunLibrary::listed, this, [this] { side_->set_entries(library_->entries()); });
  connect(side_, &RunSide::shown_changed, this, &MainWindow::runs_selected);
  connect(training_, &TrainingPage::view_changed, this, &MainWindow::view_changed);
  connect(training_, &TrainingPage::recipe_changed, this, &MainWindow::session_changed);
  connect(rollouts_, &RolloutsPage::form_changed, this, &MainWindow::session_changed);
  connect(rollouts_, &RolloutsPage::token_color_changed, this, &MainWindow::view_changed);
  connect(rollouts_, &RolloutsPage::busy_changed, this, &MainWindow::refresh_status);
  connect(&controller_, &TrainingController::started, this, &MainWindow::training_started);
  connect(&controller_, &TrainingController::state_changed, this, &MainWindow::training_changed);
  connect(&controller_, &TrainingController::progressed, this, [this] {
    update_live_entry();
    tell_live_step();
    refresh_status();
  });
  connect(export_menu_, &ExportMenu::failed, this, [this](const QString& sentence) { show_message(sentence); });
  connect(export_menu_, &ExportMenu::done, this, [this](const QString& sentence) { show_message(sentence, false); });
  connect(help_, &HelpPanel::closed, this, [this] { help_->hide(); });
}

// ---- pages and views ------------------------------------------------------------------------------------------------

// A page that is not known (a session of another version) is Training.
void MainWindow::show_page(const std::string& page) {
  int index = 0;
  const std::string top = rollout_parts_->has(page) ? "rollouts" : page;
  for (std::size_t i = 0; i < page_actions_.size(); ++i) {
    if (page_actions_[i]->data().toString().toStdString() == top) index = static_cast<int>(i);
  }
  if (rollout_parts_->has(page)) rollout_parts_->show_part(page);
  pages_->setCurrentIndex(index);
  page_actions_[static_cast<std::size_t>(index)]->setChecked(true);
  if (help_->isVisible() && help_->page() != "method") help_->show_page(QString::fromStdString(present_page()));
  refresh_status();
  view_changed();
}

std::string MainWindow::present_page() const {
  if (pages_->currentWidget() == rollout_parts_) return rollout_parts_->part();
  return page_actions_[static_cast<std::size_t>(pages_->currentIndex())]->data().toString().toStdString();
}

std::vector<const widgets::FigureSource*> MainWindow::present_figures() const {
  if (const AnalysisPage* page = present_analysis()) return page->figures();
  return present_page() == "rollouts" ? rollouts_->figures() : training_->figures();
}

const AnalysisPage* MainWindow::present_analysis() const {
  const auto is_present = [page = present_page()](const AnalysisPage* candidate) {
    return page == candidate->words().id;
  };
  const auto found = std::find_if(analysis_.begin(), analysis_.end(), is_present);
  return found == analysis_.end() ? nullptr : *found;
}

ViewState MainWindow::present_view() const {
  ViewState view = session_.view;
  view.page = present_page();
  view.charts = training_->view();
  view.token_colour = rollouts_->token_color();
  view.shown_runs = side_->shown();
  return view;
}

void MainWindow::view_changed() {
  if (applying_view_) return;
  remember_soon_.start();
  session_changed();
}

void MainWindow::remember_view() {
  history_.push(present_view());
  undo_->setEnabled(history_.can_undo());
  redo_->setEnabled(history_.can_redo());
}

void MainWindow::apply_view(const ViewState& view) {
  if (remember_soon_.isActive()) remember_soon_.stop();
  const ViewState wanted = view;  // what follows may change the history
  applying_view_ = true;
  training_->set_view(wanted.charts);
  rollouts_->set_token_color(wanted.token_colour);
  side_->set_shown(wanted.shown_runs);
  show_page(wanted.page);
  runs_selected();
  applying_view_ = false;
  undo_->setEnabled(history_.can_undo());
  redo_->setEnabled(history_.can_redo());
  session_changed();
}

void MainWindow::toggle_help() {
  help_->setVisible(!help_->isVisible());
  if (help_->isVisible()) help_->show_page(QString::fromStdString(present_page()));
}

widgets::FigureMetadata MainWindow::figure_metadata() {
  const auto shown = side_->shown();
  const auto live = controller_.live();
  std::shared_ptr<const RunData> run;
  if (!shown.empty()) run = live && shown.front() == live->key ? live : library_->data(shown.front());
  widgets::FigureMetadata metadata;
  if (run != nullptr) {
    metadata = {{"run", QString::fromStdString(run->id.empty() ? run->name : run->id)},
                {"step", QString::number(run->step())},
                {"seed", QString::number(run->seed)},
                {"config", QString::fromStdString(run->config_hash)}};
  }
  metadata.push_back({"version", engine::version()});
  // What a page measured says more exactly what its figures show.
  if (const AnalysisPage* page = present_analysis()) metadata = merged(std::move(metadata), page->metadata());
  return metadata;
}

void MainWindow::refresh_status() {
  QString activity = rollouts_->activity();
  for (const AnalysisPage* page : analysis_) {
    if (activity.isEmpty()) activity = page->activity();
  }
  status_->show_state(controller_.now(), activity);
  const auto live = controller_.live();
  const bool running = controller_.now().state == engine::TrainingState::running;
  status_->show_speed(running && live && !live->steps.empty() ? live->steps.back().tokens_per_second : 0);
}

void MainWindow::show_message(const QString& sentence, bool error) {
  banner_->show_message(error ? widgets::Severity::error : widgets::Severity::information, sentence);
}

bool MainWindow::reading() const { return library_->busy(); }

}  // namespace app
