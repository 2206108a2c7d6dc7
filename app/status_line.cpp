#include "app/status_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QThread>

#include "widgets/numbers.h"
#include "widgets/style.h"

namespace app {

using engine::TrainingEnd;
using engine::TrainingState;

QString state_text(const engine::TrainingSnapshot& training) {
  const QString steps = QObject::tr("step %1 of %2").arg(training.step).arg(training.total_steps);
  switch (training.state) {
    case TrainingState::starting:
      return QObject::tr("Starting");
    case TrainingState::running:
      return QObject::tr("Training · ") + steps;
    case TrainingState::pausing:
      return QObject::tr("Pausing · ") + steps;
    case TrainingState::paused:
      return QObject::tr("Paused · ") + steps;
    case TrainingState::stopping:
      return QObject::tr("Stopping · ") + steps;
    case TrainingState::saving:
      return QObject::tr("Saving · ") + steps;
    case TrainingState::failed:
      return QObject::tr("Failed · ") + steps;
    case TrainingState::idle:
      break;
  }
  switch (training.end) {
    case TrainingEnd::done:
      return QObject::tr("Done · ") + steps;
    case TrainingEnd::stopped:
      return QObject::tr("Stopped · ") + steps;
    case TrainingEnd::discarded:
      return QObject::tr("Discarded");
    default:
      return QObject::tr("Idle");
  }
}

StatusLine::StatusLine(QWidget* parent) : QFrame(parent) {
  widgets::set_kind(*this, "status");
  setFixedHeight(27);
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(16, 0, 16, 0);
  layout->setSpacing(24);
  const auto add = [&](const QString& name) {
    auto* label = new QLabel(this);
    label->setAccessibleName(name);
    layout->addWidget(label);
    return label;
  };
  state_ = add(tr("State"));
  layout->addStretch(1);
  device_ = add(tr("Device"));
  memory_ = add(tr("Memory"));
  speed_ = add(tr("Speed"));
  show_state({}, {});
  show_speed(0);
}

void StatusLine::show_state(const engine::TrainingSnapshot& training, const QString& decoding) {
  QString text = state_text(training);
  if (!decoding.isEmpty()) text = training.state == TrainingState::idle ? decoding : text + "   " + decoding;
  state_->setText(text);
  const bool known = !training.device.name.empty();
  const QString name = known ? QString::fromStdString(training.device.name) : tr("CPU");
  const int threads = known ? training.device.threads : QThread::idealThreadCount();
  const bool is_gpu = known && training.device.name != "CPU";
  const QString units = is_gpu ? tr("%1 · %2 multiprocessors") : tr("%1 · %2 threads");
  device_->setText(units.arg(name).arg(threads) + (is_gpu ? load_text(training.device.name) : QString()));
  memory_->setText(widgets::bytes_text(training.device.memory_used));
  memory_->setVisible(training.device.memory_used > 0);
}

QString StatusLine::load_text(const std::string& gpu) {
  if (gpu != loaded_gpu_) {
    load_ = std::make_unique<kernels::GpuLoad>(gpu);
    loaded_gpu_ = gpu;
    load_asked_.invalidate();
  }
  if (!load_asked_.isValid() || load_asked_.elapsed() > 1000) {
    const std::optional<int> percent = load_->percent();
    load_text_ = percent ? tr(" · %1 % busy").arg(*percent) : QString();
    load_asked_.start();
  }
  return load_text_;
}

void StatusLine::show_speed(double tokens_per_second) {
  speed_->setVisible(tokens_per_second > 0);
  speed_->setText(tr("%1 tokens/s").arg(widgets::count_text(static_cast<std::int64_t>(tokens_per_second))));
}

}  // namespace app
