#include "kernels/cpu/row_math.h"

#include <cmath>
#include <limits>

#include "kernels/cpu/simd.h"
#include "kernels/cpu/workspace.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES float dot_with_gain(const float* dy, const float* x, const float* gain, std::int64_t n) {
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sums += lanes_at(dy + i) * lanes_at(gain + i) * lanes_at(x + i);
  float sum = sum_of_lanes(sums);
  for (; i < n; ++i) sum += dy[i] * gain[i] * x[i];
  return sum;
}

FULLBAND_CLONES void norm_gradient(const float* dy, const float* x, float r, float along, std::int64_t n,
                                   bool accumulate, float* dx) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += r * dy[i] - along * x[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) dx[i] = r * dy[i] - along * x[i];
  }
}

FULLBAND_CLONES void norm_gradient_with_gain(const float* dy, const float* x, const float* gain, float r, float along,
                                             std::int64_t n, bool accumulate, float* dx) {
  if (accumulate) {
    for (std::int64_t i = 0; i < n; ++i) dx[i] += r * dy[i] * gain[i] - along * x[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) dx[i] = r * dy[i] * gain[i] - along * x[i];
  }
}

FULLBAND_CLONES void add_gain_gradient(const float* dy, const float* x, float r, std::int64_t n, float* dgain) {
  for (std::int64_t i = 0; i < n; ++i) dgain[i] += dy[i] * x[i] * r;
}

}  // namespace

FULLBAND_CLONES float dot(const float* a, const float* b, std::int64_t n) { return lane_dot(a, b, n); }

float sum_of_squares(const float* x, std::int64_t n) { return dot(x, x, n); }

FULLBAND_CLONES std::int64_t lowest_argmax(const float* x, std::int64_t n) {
  const std::int64_t whole = n / kLanes * kLanes;
  float top = -std::numeric_limits<float>::infinity();
  if (whole > 0) top = largest_of(x, whole);
  for (std::int64_t i = whole; i < n; ++i) top = x[i] > top ? x[i] : top;
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i] == top) return i;
  }
  return 0;
}

FULLBAND_CLONES void scale_into(const float* x, float alpha, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = alpha * x[i];
}

FULLBAND_CLONES void add_scaled(const float* x, float alpha, std::int64_t n, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += alpha * x[i];
}

float inverse_rms(const float* x, std::int64_t n) { return inverse_root(sum_of_squares(x, n), n); }

FULLBAND_CLONES void apply_norm(const float* x, float r, const float* gain, std::int64_t n, float* y) {
  if (gain == nullptr) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * r;
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * r * gain[i];
  }
}

void apply_norm_gradient(const float* dy, const float* x, const float* gain, float r, std::int64_t n, bool accumulate,
                         float* dx, float* dgain) {
  if (dgain != nullptr) add_gain_gradient(dy, x, r, n, dgain);
  const float cubed_mean = r * r * r / static_cast<float>(n);
  if (gain == nullptr) {
    norm_gradient(dy, x, r, dot(dy, x, n) * cubed_mean, n, accumulate, dx);
  } else {
    norm_gradient_with_gain(dy, x, gain, r, dot_with_gain(dy, x, gain, n) * cubed_mean, n, accumulate, dx);
  }
}

FULLBAND_CLONES void reduce_parts(const float* partials, int parts, std::int64_t n, bool accumulate, float* to) {
  const std::int64_t stride = padded(n);
  for (std::int64_t i = 0; i < n; ++i) {
    float sum = accumulate ? to[i] : 0.0F;
    for (int part = 0; part < parts; ++part) sum += partials[part * stride + i];
    to[i] = sum;
  }
}

}  // namespace kernels::cpu
