// Debiased exponential smoothing of a noisy curve.
#pragma once

#include <algorithm>
#include <vector>

namespace widgets {

/// Mean of the values so far, the weight of a value falling by `factor` (0..0.999) a point; divided by the sum of the
/// weights, so that the start is not pulled to zero and constants stay constant. Non-finite values come back as they
/// are and do not enter the mean.
class Smoother {
 public:
  explicit Smoother(double factor = 0) : keep_(std::clamp(factor, 0.0, 0.999)) {}
  /// The mean with `value` in it.
  double next(double value);

 private:
  double keep_;
  double mean_ = 0;
  double weight_ = 0;
};

/// A smoother's answers to all values, in their order.
std::vector<double> smooth(const std::vector<double>& values, double factor);

}  // namespace widgets
