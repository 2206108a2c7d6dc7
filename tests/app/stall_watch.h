// Watches the thread that it is made on: how much processor time its event loop spends between two ticks of a fast
// timer. Processor time, because the wall's clock would count what other programs take; waiting for a lock is not seen.
#pragma once

#include <QObject>
#include <QTimer>
#include <algorithm>
#include <cstdint>
#include <ctime>

namespace app_tests {

class StallWatch : public QObject {
 public:
  StallWatch() {
    ticks_.setTimerType(Qt::PreciseTimer);
    connect(&ticks_, &QTimer::timeout, this, [this] { tick(); });
    ticks_.start(kTick);
  }

  /// The most work between two ticks so far, in milliseconds.
  [[nodiscard]] double longest() const { return longest_; }
  [[nodiscard]] std::int64_t ticks() const { return count_; }

 private:
  static constexpr int kTick = 5;  // milliseconds

  static double processor_milliseconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
  }
  void tick() {
    const double now = processor_milliseconds();
    longest_ = std::max(longest_, now - last_);
    last_ = now;
    ++count_;
  }

  QTimer ticks_;
  double last_ = processor_milliseconds();
  double longest_ = 0;
  std::int64_t count_ = 0;
};

}  // namespace app_tests
