#include "widgets/smoothing.h"

#include <algorithm>
#include <cmath>

namespace widgets {

// The mean moves by a share of the difference, which is exactly zero for constants.
std::vector<double> smooth(const std::vector<double>& values, double factor) {
  const double keep = std::clamp(factor, 0.0, 0.999);
  if (keep == 0.0) return values;
  std::vector<double> result = values;
  double mean = 0;
  double weight = 0;
  for (double& value : result) {
    if (!std::isfinite(value)) continue;
    weight = keep * weight + 1.0;
    mean += (value - mean) / weight;
    value = mean;
  }
  return result;
}

}  // namespace widgets
