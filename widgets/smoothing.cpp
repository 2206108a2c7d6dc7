#include "widgets/smoothing.h"

#include <cmath>

namespace widgets {

// The mean moves by a share of the difference, which is exactly zero for constants.
double Smoother::next(double value) {
  if (keep_ == 0.0 || !std::isfinite(value)) return value;
  weight_ = keep_ * weight_ + 1.0;
  mean_ += (value - mean_) / weight_;
  return mean_;
}

std::vector<double> smooth(const std::vector<double>& values, double factor) {
  Smoother smoother(factor);
  std::vector<double> result;
  result.reserve(values.size());
  for (const double value : values) result.push_back(smoother.next(value));
  return result;
}

}  // namespace widgets
