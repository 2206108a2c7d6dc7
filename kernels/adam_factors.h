// The constants of one AdamW step, the same on every device.
#pragma once

#include <cmath>

#include "kernels/backend.h"

namespace kernels {

/// With the bias corrections folded in.
struct AdamFactors {
  float beta1;
  float beta2;
  float keep;          ///< 1 - rate * decay
  float step_size;     ///< rate / (1 - beta1^step)
  float moment_scale;  ///< 1 / (1 - beta2^step)
  float epsilon;
};

inline AdamFactors factors_of(const AdamStep& step) {
  const double t = static_cast<double>(step.step);
  const double rate = step.rate;
  return {step.beta1,
          step.beta2,
          static_cast<float>(1.0 - rate * static_cast<double>(step.weight_decay)),
          static_cast<float>(rate / (1.0 - std::pow(static_cast<double>(step.beta1), t))),
          static_cast<float>(1.0 / (1.0 - std::pow(static_cast<double>(step.beta2), t))),
          step.epsilon};
}

}  // namespace kernels
