// A number measured on rows, with what it was measured on: no figure goes without its uncertainty.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace engine {

struct Estimate {
  double value = 0;
  double error = 0;         ///< standard error over rows; NaN where one row alone cannot tell
  std::int64_t rows = 0;    ///< rows that took part
  std::int64_t counts = 0;  ///< numbers in the mean
};

/// The mean of many numbers that come in rows. Numbers of a row hang together, so rows are the units of the standard
/// error: sqrt(R/(R-1) sum_r (sum_r - mean count_r)^2) / sum_r count_r (the linearised ratio estimator).
class RowMean {
 public:
  void add_row(double sum, std::int64_t count) {
    if (count <= 0) return;
    const auto weight = static_cast<double>(count);
    rows_ += 1;
    counts_ += count;
    sum_ += sum;
    sum_sum_ += sum * sum;
    sum_count_ += sum * weight;
    count_count_ += weight * weight;
  }

  /// NaN when nothing was added.
  [[nodiscard]] Estimate estimate() const {
    if (rows_ == 0) return {std::nan(""), std::nan(""), 0, 0};
    const auto count = static_cast<double>(counts_);
    const auto rows = static_cast<double>(rows_);
    const double mean = sum_ / count;
    const double squares = std::max(0.0, sum_sum_ - 2 * mean * sum_count_ + mean * mean * count_count_);
    return {mean, rows_ > 1 ? std::sqrt(squares * rows / (rows - 1)) / count : std::nan(""), rows_, counts_};
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t counts_ = 0;
  double sum_ = 0;
  double sum_sum_ = 0;
  double sum_count_ = 0;
  double count_count_ = 0;
};

}  // namespace engine
