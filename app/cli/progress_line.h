// One line on a terminal that is drawn over itself: what is being done, how far, and how long it will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "app/cli/cli.h"

namespace app::cli {

class ProgressLine {
 public:
  /// Quiet when standard error is no terminal.
  ProgressLine(const Streams& streams, std::string title, std::int64_t total);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// At most ten times a second; `detail` stands behind the count.
  void update(std::int64_t done, const std::string& detail = "");

 private:
  using Clock = std::chrono::steady_clock;

  const Streams& streams_;
  std::string title_;
  std::int64_t total_;
  std::int64_t first_ = -1;
  Clock::time_point start_ = Clock::now();
  Clock::time_point drawn_;
  std::size_t width_ = 0;
};

/// "1 min 12 s", "45 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace app::cli
