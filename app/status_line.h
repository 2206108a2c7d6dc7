// The foot of the window: what it is doing on the left; device, threads, memory and speed on the right.
#pragma once

#include <QElapsedTimer>
#include <QFrame>
#include <memory>

#include "engine/training_session.h"
#include "kernels/gpu_load.h"

class QLabel;

namespace app {

class StatusLine : public QFrame {
  Q_OBJECT

 public:
  explicit StatusLine(QWidget* parent = nullptr);
  /// `decoding` is what the Rollouts page does meanwhile, empty for nothing.
  void show_state(const engine::TrainingSnapshot& training, const QString& decoding);
  void show_speed(double tokens_per_second);

 private:
  /// How busy the GPU of this name is, asked once a second; empty when unknown.
  QString load_text(const std::string& gpu);

  QLabel* state_;
  QLabel* device_;
  QLabel* memory_;
  QLabel* speed_;
  std::string loaded_gpu_;
  std::unique_ptr<kernels::GpuLoad> load_;
  QElapsedTimer load_asked_;
  QString load_text_;
};

/// "Training · step 558 of 900", "Paused at step 12 of 900", "Idle" ...
QString state_text(const engine::TrainingSnapshot& training);

}  // namespace app
