// What can be done with a training, as actions: buttons, menu and command palette share them, and each is enabled
// exactly when the state allows it.
#pragma once

#include <QAction>
#include <QObject>
#include <vector>

#include "engine/training_session.h"

namespace app {

class TrainingController;

class TrainingActions : public QObject {
  Q_OBJECT

 public:
  explicit TrainingActions(TrainingController& controller, QObject* parent = nullptr);

  /// Start, pause and resume in one: it names what it would do.
  QAction* main;
  QAction* step;
  QAction* stop_save;
  QAction* stop_discard;
  QAction* finish;
  QAction* rewind;
  QAction* new_seed;
  QAction* go_on;  ///< continue the selected run from its newest checkpoint

  [[nodiscard]] std::vector<QAction*> all() const {
    return {main, step, stop_save, stop_discard, finish, rewind, new_seed, go_on};
  }
  /// Whether the selected run can be gone on with.
  void set_can_continue(bool can);
  void refresh();

 signals:
  void start_wanted();
  void continue_wanted();
  void failed(const QString& sentence);

 private:
  void main_triggered();
  void again(bool new_seed_wanted);

  TrainingController& controller_;
  bool can_continue_ = false;
};

}  // namespace app
