// The window and its runs: which are shown, opening others, and what a training changes.
#include <QFileDialog>
#include <QMenu>

#include "app/analysis_page.h"
#include "app/main_window.h"
#include "app/paths.h"
#include "app/recipe_panel.h"
#include "app/run_library.h"
#include "app/run_side.h"
#include "app/training_page.h"

namespace app {

// ---- runs -----------------------------------------------------------------------------------------------------------

void MainWindow::runs_selected() {
  std::vector<TrainingPage::Overlay> overlays;
  for (const std::string& key : side_->shown()) overlays.push_back({key, side_->color_of(key)});
  training_->show_runs(overlays);
  session_.current_run = overlays.empty() ? std::string() : overlays.front().key;
  if (!overlays.empty()) rollouts_->load(session_.current_run);  // with no run selected the last model stays
  tell_analysis_pages(side_->shown());
  view_changed();
}

void MainWindow::tell_analysis_pages(const std::vector<std::string>& keys) {
  std::vector<MeasuredRun> runs;
  for (const std::string& key : keys) runs.push_back({key, side_->color_of(key)});
  for (AnalysisPage* page : analysis_) page->show_runs(runs);
}

bool MainWindow::open_run(const std::string& key) {
  QString problem = tr("this build ships no model; train one, then open its run");
  const bool known = key == kDemoKey ? library_->has_demo() : library_->add(key, problem);
  if (!known) {
    show_message(tr("%1 could not be opened: %2").arg(QString::fromStdString(key), problem));
    return false;
  }
  if (key != kDemoKey) remember_run(session_, key);
  side_->set_entries(library_->entries());
  side_->set_shown({key});
  runs_selected();
  return true;
}

void MainWindow::fill_recent_runs(QMenu* menu) {
  menu->clear();
  for (const std::string& key : session_.recent_runs) {
    const std::filesystem::path folder = key;
    QAction* action = menu->addAction(to_text(folder.filename()), [this, key] { open_run(key); });
    action->setToolTip(to_text(folder));
  }
  if (menu->isEmpty()) menu->addAction(tr("none yet"))->setEnabled(false);
}

void MainWindow::new_run() {
  show_page("training");
  side_->set_shown({});
  runs_selected();
  training_->recipe_panel().focus_recipe();
}

void MainWindow::choose_run() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a run"), to_text(library_->folder()));
  if (!folder.isEmpty()) open_run(folder.toStdString());
}

void MainWindow::choose_runs_folder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Runs folder"), to_text(library_->folder()));
  if (folder.isEmpty()) return;
  session_.runs_folder = folder.toStdString();
  controller_.set_runs_folder(session_.runs_folder);
  library_->set_folder(session_.runs_folder);
  session_changed();
}

void MainWindow::take_recipe() {
  const auto shown = side_->shown();
  const auto run = shown.empty() ? nullptr : library_->data(shown.front());
  if (run == nullptr || !run->recipe) {
    show_message(tr("The selected run has no recipe that can be read; select another run."));
    return;
  }
  training_->set_recipe(*run->recipe, run->seed);
  show_page("training");
}

// ---- training -------------------------------------------------------------------------------------------------------

void MainWindow::training_started(const QString& key) {
  update_live_entry();
  remember_run(session_, key.toStdString());
  side_->set_entries(library_->entries());
  side_->set_shown({key.toStdString()});
  runs_selected();
}

void MainWindow::update_live_entry() {
  const auto live = controller_.live();
  if (!live) return;
  RunEntry entry;
  entry.key = live->key;
  entry.name = live->name;
  entry.step = controller_.now().step;
  entry.total_steps = live->total_steps;
  entry.state = controller_.busy() ? "training" : "stopped";
  if (controller_.now().end == engine::TrainingEnd::done) entry.state = "done";
  if (controller_.now().end == engine::TrainingEnd::failed) entry.state = "failed";
  library_->update(entry);
}

// Pages that follow a training measure it again when it has gone on.
void MainWindow::tell_live_step() {
  const std::string key = controller_.busy() ? controller_.live_key() : std::string();
  for (AnalysisPage* page : analysis_) page->set_live(key, controller_.now().step);
  rollouts_->set_live(key);
}

void MainWindow::training_changed() {
  refresh_status();
  tell_live_step();
  const engine::TrainingSnapshot& now = controller_.now();
  if (now.end == engine::TrainingEnd::discarded && now.state == engine::TrainingState::idle) {
    library_->remove(controller_.live_key());
    side_->set_shown({});
    side_->set_entries(library_->entries());
    runs_selected();
  } else {
    update_live_entry();
  }
  if (controller_.busy()) return;
  // The next training takes the controller's place: what this one measured stays with its run.
  if (now.end != engine::TrainingEnd::discarded && controller_.live()) library_->put(controller_.live());
  for (AnalysisPage* page : analysis_) page->run_changed(controller_.live_key());
  if (closing_) {
    close();
  } else if (session_.current_run == controller_.live_key()) {
    rollouts_->load(session_.current_run, true);
  }
}

}  // namespace app
