#include "kernels/cpu/rope_table.h"

#include <algorithm>
#include <cmath>

namespace kernels::cpu {

void RopeTable::prepare(std::int64_t head_dim, float base, std::int64_t positions) {
  const bool same = head_dim == head_dim_ && base == base_;
  if (same && positions <= positions_) return;
  // Doubling keeps decoding, which asks for one position more each time, from rebuilding the table at every token.
  positions_ = std::max(positions, same ? 2 * positions_ : std::int64_t{64});
  head_dim_ = head_dim;
  base_ = base;
  values_.resize(static_cast<std::size_t>(positions_ * head_dim));
  const std::int64_t half = head_dim / 2;
  for (std::int64_t p = 0; p < positions_; ++p) {
    float* out = values_.data() + p * head_dim;
    for (std::int64_t i = 0; i < half; ++i) {
      const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
      const double angle = static_cast<double>(p) * std::pow(static_cast<double>(base), exponent);
      out[i] = static_cast<float>(std::cos(angle));
      out[half + i] = static_cast<float>(std::sin(angle));
    }
  }
}

}  // namespace kernels::cpu
