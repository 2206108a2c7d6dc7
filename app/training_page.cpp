#include "app/training_page.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <exception>

#include "app/chart_toolbar.h"
#include "app/now_table.h"
#include "app/page_parts.h"
#include "app/recipe_panel.h"
#include "app/run_library.h"
#include "app/training_actions.h"
#include "app/training_charts.h"
#include "app/training_controller.h"
#include "widgets/banner.h"
#include "widgets/card.h"
#include "widgets/plot.h"
#include "widgets/run_table.h"
#include "widgets/stat_table.h"
#include "widgets/style.h"

namespace app {

namespace {

using engine::TrainingEnd;
using engine::TrainingState;

constexpr int kSideWidth = 332;
constexpr int kTableHeight = 200;

}  // namespace

TrainingPage::TrainingPage(TrainingController& controller, RunLibrary& library, QWidget* parent)
    : QWidget(parent), controller_(controller), library_(library), actions_(new TrainingActions(controller, this)) {
  build();
  connect_parts();
  state_changed();
}

void TrainingPage::build() {
  banner_ = new widgets::Banner(this);
  banner_->hide();
  toolbar_ = new ChartToolbar(this);
  charts_ = new TrainingCharts(this);
  settings_ = new widgets::RunTable(this);
  settings_->setAccessibleName(tr("Settings in which the runs differ"));
  settings_card_ = new widgets::Card(tr("What differs"), this);
  settings_card_->set_heading_style();
  settings_card_->body()->addWidget(settings_);
  settings_card_->setMaximumHeight(kTableHeight);
  auto* left = new QVBoxLayout;
  left->setSpacing(8);
  left->addWidget(toolbar_);
  left->addWidget(scroll_area(charts_, this), 1);
  left->addWidget(settings_card_);
  auto* row = new QHBoxLayout;
  row->setSpacing(kCardGap);
  row->addLayout(left, 1);
  row->addWidget(make_side());
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kCardGap);
  layout->addWidget(banner_);
  layout->addLayout(row, 1);
}

QWidget* TrainingPage::make_side() {
  recipe_ = new RecipePanel(*actions_, this);
  now_ = new widgets::StatTable(this);
  now_->setAccessibleName(tr("Now"));
  auto* content = new QWidget(this);
  auto* inner = new QVBoxLayout(content);
  inner->setContentsMargins(0, 0, 4, 0);
  inner->setSpacing(kCardGap);
  inner->addWidget(recipe_);
  auto* heading = new QLabel(tr("Now"), content);
  widgets::set_kind(*heading, "heading");
  inner->addWidget(heading);
  inner->addWidget(now_);
  inner->addStretch(1);
  auto* card = new widgets::Card(tr("Recipe"), this);
  card->set_heading_style();
  card->setFixedWidth(kSideWidth);
  card->body()->addWidget(scroll_area(content, card), 1);
  return card;
}

void TrainingPage::connect_parts() {
  connect(actions_, &TrainingActions::start_wanted, this, &TrainingPage::start);
  connect(actions_, &TrainingActions::continue_wanted, this, &TrainingPage::continue_selected);
  connect(actions_, &TrainingActions::failed, this, &TrainingPage::show_error);
  connect(recipe_, &RecipePanel::failed, this, &TrainingPage::show_error);
  connect(recipe_, &RecipePanel::changed, this, [this] {
    refresh_now();
    emit recipe_changed();
  });
  connect(toolbar_, &ChartToolbar::changed, this, [this] {
    charts_->set_view(toolbar_->view());
    emit view_changed();
  });
  connect(toolbar_, &ChartToolbar::follow_wanted, charts_, &TrainingCharts::follow);
  connect(charts_, &TrainingCharts::following_changed, toolbar_, &ChartToolbar::set_following);
  connect(&controller_, &TrainingController::progressed, this, [this] {
    charts_->values_changed();
    refresh_now();
  });
  connect(&controller_, &TrainingController::state_changed, this, &TrainingPage::state_changed);
  connect(&library_, &RunLibrary::loaded, this, [this] { refresh_data(); });
}

std::vector<QAction*> TrainingPage::actions() const {
  std::vector<QAction*> all = actions_->all();
  for (QAction* action : toolbar_->actions()) all.push_back(action);
  all.push_back(recipe_->open_action());
  all.push_back(recipe_->save_action());
  return all;
}

std::vector<const widgets::FigureSource*> TrainingPage::figures() const {
  return {charts_->plots().begin(), charts_->plots().end()};
}

void TrainingPage::set_view(const ChartView& view) {
  toolbar_->set_view(view);
  charts_->set_view(view);
}

ChartView TrainingPage::view() const { return toolbar_->view(); }

void TrainingPage::set_recipe(const engine::Recipe& recipe, std::uint64_t seed) {
  recipe_->set_recipe(recipe, seed);
  refresh_now();
}

std::shared_ptr<const RunData> TrainingPage::data_of(const std::string& key) const {
  if (key == controller_.live_key()) return controller_.live();
  return library_.data(key);
}

std::shared_ptr<const RunData> TrainingPage::selected() const {
  return overlays_.empty() ? nullptr : data_of(overlays_.front().key);
}

void TrainingPage::show_runs(const std::vector<Overlay>& runs) {
  overlays_ = runs;
  refresh_data();
}

void TrainingPage::refresh_data() {
  std::vector<ShownRun> shown;
  for (const Overlay& overlay : overlays_) {
    if (auto run = data_of(overlay.key)) shown.push_back({std::move(run), overlay.color});
  }
  if (!shown.empty() && !shown.front().data->problem.empty() && !controller_.busy()) {
    banner_->show_message(widgets::Severity::warning, QString::fromStdString(shown.front().data->problem));
  }
  show_differences(shown);
  charts_->set_runs(std::move(shown));
  refresh_now();
}

void TrainingPage::show_differences(const std::vector<ShownRun>& shown) {
  std::vector<widgets::RunSettings> settings;
  for (const ShownRun& run : shown) {
    nlohmann::json values = run.data->recipe ? engine::to_json(*run.data->recipe) : nlohmann::json::object();
    values["seed"] = run.data->seed;
    settings.push_back({QString::fromStdString(run.data->name), std::move(values), run.color});
  }
  settings_card_->setVisible(settings.size() > 1);
  settings_->table().set_runs(std::move(settings));
}

void TrainingPage::refresh_now() {
  const auto run = selected();
  const bool live = run != nullptr && run->key == controller_.live_key();
  const bool can_continue =
      run != nullptr && !live && run->key != kDemoKey && run->recipe && run->step() < run->total_steps;
  const bool resumable =
      live && run->step() > 0 && run->step() < run->total_steps && controller_.now().end == TrainingEnd::stopped;
  actions_->set_can_continue(can_continue || resumable);
  if (run == nullptr || run->steps.empty()) {
    now_->set_rows(plan_rows(recipe_->recipe()));
    return;
  }
  const double left = live ? controller_.seconds_left() : 0;
  auto rows = now_rows(*run, left, live && controller_.busy() ? controller_.now().device.memory_used : 0);
  if (!controller_.busy()) rows.push_back(memory_row(recipe_->recipe()));
  now_->set_rows(std::move(rows));
}

void TrainingPage::start() {
  try {
    if (const QString problem = recipe_->problem(); !problem.isEmpty()) {
      show_error(problem);
      return;
    }
    controller_.start(recipe_->recipe(), recipe_->seed());
  } catch (const std::exception& error) {
    show_error(QString::fromUtf8(error.what()));
  }
}

void TrainingPage::continue_selected() {
  const auto run = selected();
  if (run == nullptr || run->key == kDemoKey) return;
  controller_.continue_run(run->key, *run);
}

void TrainingPage::state_changed() {
  const engine::TrainingSnapshot& now = controller_.now();
  const QString message = QString::fromStdString(now.message);
  recipe_->set_locked(controller_.busy());
  charts_->set_live(controller_.busy());
  if (now.state == TrainingState::starting) banner_->dismiss();
  if (now.state == TrainingState::failed) show_error(message);
  if (now.state == TrainingState::paused && now.non_finite) {
    banner_->show_message(widgets::Severity::error, message, tr("Stop at the last good checkpoint"),
                          [this] { controller_.stop_and_save(); });
  }
  refresh_now();
}

void TrainingPage::show_error(const QString& sentence) { banner_->show_message(widgets::Severity::error, sentence); }

void TrainingPage::update_now() {
  charts_->update_now();
  for (widgets::Plot* plot : charts_->plots()) plot->render_now();
}

}  // namespace app
