// Cosines and sines of the rotary position embedding (RoPE, Su et al. 2021), computed in double precision once.
#pragma once

#include <cstdint>
#include <vector>

namespace kernels::cpu {

class RopeTable {
 public:
  /// Makes the table cover positions [0, positions) for this head width and base.
  void prepare(std::int64_t head_dim, float base, std::int64_t positions);
  /// head_dim floats: cosines of the head_dim / 2 angles, then their sines.
  [[nodiscard]] const float* row(std::int64_t position) const { return values_.data() + position * head_dim_; }

 private:
  std::int64_t head_dim_ = 0;
  float base_ = 0.0F;
  std::int64_t positions_ = 0;
  std::vector<float> values_;
};

}  // namespace kernels::cpu
