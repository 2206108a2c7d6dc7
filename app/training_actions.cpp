#include "app/training_actions.h"

#include <exception>

#include "app/action_button.h"
#include "app/training_controller.h"

namespace app {

using engine::TrainingState;

TrainingActions::TrainingActions(TrainingController& controller, QObject* parent)
    : QObject(parent), controller_(controller) {
  main = make_action(this, tr("Start training"), Qt::Key_F5, [this] { main_triggered(); });
  step = make_action(this, tr("Train a single step"), Qt::Key_F10, [this] { controller_.single_step(); });
  stop_save = make_action(this, tr("Stop and save"), Qt::Key_F6, [this] { controller_.stop_and_save(); });
  stop_discard = make_action(this, tr("Stop and discard the run"), Qt::SHIFT | Qt::Key_F6,
                             [this] { controller_.stop_and_discard(); });
  finish =
      make_action(this, tr("Finish now: save as done"), Qt::CTRL | Qt::Key_F6, [this] { controller_.finish_now(); });
  rewind =
      make_action(this, tr("Rewind: same seed, same initial weights"), Qt::CTRL | Qt::Key_R, [this] { again(false); });
  new_seed = make_action(this, tr("Rewind with a new seed"), Qt::CTRL | Qt::SHIFT | Qt::Key_R, [this] { again(true); });
  go_on =
      make_action(this, tr("Continue the selected run"), Qt::SHIFT | Qt::Key_F5, [this] { emit continue_wanted(); });
  step->setIconText(tr("Step"));
  rewind->setIconText(tr("Rewind"));
  new_seed->setIconText(tr("New seed"));
  go_on->setIconText(tr("Continue"));
  connect(&controller_, &TrainingController::state_changed, this, &TrainingActions::refresh);
  refresh();
}

void TrainingActions::main_triggered() {
  switch (controller_.now().state) {
    case TrainingState::idle:
    case TrainingState::failed:
      emit start_wanted();
      break;
    case TrainingState::paused:
      controller_.resume();
      break;
    default:
      controller_.pause();
      break;
  }
  controller_.poll();
}

void TrainingActions::again(bool new_seed_wanted) {
  try {
    new_seed_wanted ? controller_.rewind_with_new_seed() : controller_.rewind();
  } catch (const std::exception& error) {
    emit failed(QString::fromUtf8(error.what()));
  }
}

void TrainingActions::set_can_continue(bool can) {
  can_continue_ = can;
  refresh();
}

void TrainingActions::refresh() {
  const engine::TrainingSnapshot& now = controller_.now();
  const bool rests = now.state == TrainingState::idle || now.state == TrainingState::failed;
  const bool paused = now.state == TrainingState::paused;
  const bool ending = now.state == TrainingState::stopping || now.state == TrainingState::saving;
  main->setText(rests ? tr("Start training") : paused ? tr("Resume training") : tr("Pause training"));
  main->setIconText(rests ? tr("Start") : paused ? tr("Resume") : tr("Pause"));
  main->setEnabled(!ending && !(paused && now.non_finite));
  step->setEnabled(paused && !now.non_finite);
  stop_save->setEnabled(!rests && !ending);
  stop_discard->setEnabled(!rests);
  finish->setEnabled(!rests && !ending);
  rewind->setEnabled(controller_.can_rewind() && !ending);
  new_seed->setEnabled(controller_.can_rewind() && !ending);
  go_on->setEnabled(rests && can_continue_);
}

}  // namespace app
