// What a whole warp does with one row, shared by several operations. All lanes call together and get the same result.
#pragma once

#include "kernels/cuda/reduce.cuh"

namespace kernels::cuda {

constexpr float kNormEpsilon = 1e-6F;

__device__ inline float sigmoid(float x) { return 1.0F / (1.0F + expf(-x)); }

__device__ inline void store(float* to, float value, bool accumulate) { *to = accumulate ? *to + value : value; }

/// 1 / sqrt(mean of squares + 1e-6), from the sum of squares
__device__ inline float inverse_rms_of(float squares, std::int64_t n) {
  return 1.0F / sqrtf(squares / static_cast<float>(n) + kNormEpsilon);
}

__device__ inline float inverse_rms(const float* x, std::int64_t n) {
  float squares = 0.0F;
  for (std::int64_t c = lane_index(); c < n; c += kWarp) squares += x[c] * x[c];
  return inverse_rms_of(warp_sum(squares), n);
}

/// y = x * r * gain (null: 1)
__device__ inline void apply_norm(const float* x, float r, const float* gain, std::int64_t n, float* y) {
  for (std::int64_t c = lane_index(); c < n; c += kWarp) y[c] = gain == nullptr ? x[c] * r : x[c] * r * gain[c];
}

/// The upstream gradient of a norm's input before the gain: dy * gain
__device__ inline float before_gain(const float* dy, const float* gain, std::int64_t c) {
  return gain == nullptr ? dy[c] : dy[c] * gain[c];
}

/// How much of x itself the norm's gradient takes away: r^3 / n * sum(dy * gain * x)
__device__ inline float along_norm(const float* dy, const float* x, const float* gain, float r, std::int64_t n) {
  float sum = 0.0F;
  for (std::int64_t c = lane_index(); c < n; c += kWarp) sum += before_gain(dy, gain, c) * x[c];
  return warp_sum(sum) * (r * r * r / static_cast<float>(n));
}

}  // namespace kernels::cuda
