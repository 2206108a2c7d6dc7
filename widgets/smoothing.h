// Debiased exponential smoothing of a noisy curve.
#pragma once

#include <vector>

namespace widgets {

/// Mean of the values so far, the weight of a value falling by `factor` (0..0.999) a point; divided by the sum of the
/// weights, so that the start is not pulled to zero and constants stay constant. Non-finite values stay as they are at
/// their place and do not enter the mean.
std::vector<double> smooth(const std::vector<double>& values, double factor);

}  // namespace widgets
