#include "app/cli/progress_line.h"

#include <algorithm>
#include <cmath>

namespace app::cli {

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

ProgressLine::ProgressLine(const Streams& streams, std::string title, std::int64_t total)
    : streams_(streams), title_(std::move(title)), total_(total) {}

ProgressLine::~ProgressLine() {
  if (width_ > 0) streams_.err << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

void ProgressLine::update(std::int64_t done, const std::string& detail) {
  if (!streams_.progress) return;
  const Clock::time_point now = Clock::now();
  if (first_ < 0) first_ = done;
  if (done < total_ && now - drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  std::string line = title_ + "  " + std::to_string(done) + " / " + std::to_string(total_);
  if (!detail.empty()) line += "  " + detail;
  if (done > first_ && done < total_) {
    const double elapsed = std::chrono::duration<double>(now - start_).count();
    line += "  " + duration_text(elapsed * static_cast<double>(total_ - done) / static_cast<double>(done - first_)) +
            " left";
  }
  const std::size_t length = line.size();
  if (length < width_) line += std::string(width_ - length, ' ');
  width_ = std::max(width_, length);
  streams_.err << "\r" << line << std::flush;
}

}  // namespace app::cli
