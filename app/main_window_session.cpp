// The window's memory and its end: the session that comes back, and the question before closing.
#include <QCloseEvent>
#include <QMessageBox>
#include <QPushButton>
#include <exception>
#include <utility>

#include "app/analysis_page.h"
#include "app/main_window.h"
#include "app/paths.h"
#include "app/recipe_panel.h"
#include "app/recipes.h"
#include "app/run_library.h"
#include "app/run_side.h"
#include "app/training_page.h"
#include "widgets/banner.h"
#include "widgets/style.h"

namespace app {

namespace {

widgets::ThemeChoice theme_choice(const std::string& name) {
  if (name == "light") return widgets::ThemeChoice::light;
  if (name == "dark") return widgets::ThemeChoice::dark;
  return widgets::ThemeChoice::automatic;
}

}  // namespace

void MainWindow::set_theme(const QString& name) {
  session_.theme = name.toStdString();
  theme_.set_choice(theme_choice(session_.theme));
  session_changed();
}

std::string MainWindow::load_stored_session() {
  LoadedSession loaded;
  if (!options_.session_file.empty()) loaded = load_session(options_.session_file);
  session_ = std::move(loaded.session);
  const std::string theme = options_.theme.isEmpty() ? session_.theme : options_.theme.toStdString();
  theme_.set_choice(theme_choice(theme));
  return loaded.problem;
}

void MainWindow::restore_session(const std::string& problem) {
  if (!session_.geometry.empty()) restoreGeometry(QByteArray::fromBase64(QByteArray::fromStdString(session_.geometry)));

  std::filesystem::path runs = session_.runs_folder;
  if (runs.empty()) runs = default_runs_folder();
  controller_.set_runs_folder(runs);
  library_->set_folder(runs);
  rollouts_->set_form(session_.rollout);
  for (AnalysisPage* page : analysis_)
    page->settings().set_values(session_.analysis.value(page->words().id, nlohmann::json()));
  try {
    const bool typed = session_.recipe.is_object();
    training_->set_recipe(typed ? engine::recipe_from_json(session_.recipe) : shipped_recipe("demo"),
                          session_.training_seed);
  } catch (const std::exception& error) {
    show_message(QString::fromUtf8(error.what()));
  }

  ViewState view = session_.view;
  const std::string run = options_.run.empty() ? session_.current_run : options_.run;
  side_->set_entries(library_->entries());
  if (!run.empty() && run != kDemoKey) {
    if (open_run(run)) view.shown_runs = {run};
  } else if (library_->has_demo()) {
    view.shown_runs = {kDemoKey};
  }
  history_ = ViewHistory(view);
  apply_view(view);
  refresh_status();
  if (!problem.empty()) banner_->show_message(widgets::Severity::warning, QString::fromStdString(problem));
}

void MainWindow::session_changed() {
  if (!options_.session_file.empty()) save_soon_.start();
}

void MainWindow::save_session_now() {
  save_soon_.stop();
  if (options_.session_file.empty()) return;
  session_.view = present_view();
  session_.rollout = rollouts_->form();
  for (AnalysisPage* page : analysis_) session_.analysis[page->words().id] = page->settings().values();
  session_.recipe = engine::to_json(training_->recipe_panel().recipe());
  session_.training_seed = training_->recipe_panel().seed();
  session_.geometry = saveGeometry().toBase64().toStdString();
  try {
    save_session(session_, options_.session_file);
  } catch (const std::exception& error) {
    show_message(tr("The session could not be saved: %1").arg(QString::fromUtf8(error.what())));
  }
}

void MainWindow::closeEvent(QCloseEvent* event) {
  controller_.poll();  // it may have ended just now
  if (controller_.busy()) {
    event->ignore();
    ask_before_closing();
    return;
  }
  save_session_now();
  event->accept();
}

// One question, which does not stop the window or the training while it is open.
void MainWindow::ask_before_closing() {
  if (closing_) return;  // stopping already: the window closes when it is done
  if (question_ == nullptr) {
    question_ = new QMessageBox(this);
    question_->setWindowTitle(tr("A training is running"));
    question_->setText(tr("A training is running. What should become of it?"));
    QPushButton* save = question_->addButton(tr("Save and close"), QMessageBox::AcceptRole);
    QPushButton* discard = question_->addButton(tr("Discard and close"), QMessageBox::DestructiveRole);
    QPushButton* stay = question_->addButton(tr("Go on training"), QMessageBox::RejectRole);
    question_->setDefaultButton(save);
    question_->setEscapeButton(stay);
    connect(save, &QPushButton::clicked, this, [this] { close_after(&TrainingController::stop_and_save); });
    connect(discard, &QPushButton::clicked, this, [this] { close_after(&TrainingController::stop_and_discard); });
  }
  question_->open();
}

void MainWindow::close_after(void (TrainingController::*stop)()) {
  closing_ = true;
  (controller_.*stop)();
  controller_.poll();
  if (!controller_.busy()) close();
}

}  // namespace app
