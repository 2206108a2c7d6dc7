// Leaf loops over one row that several operations share. Sums run over fixed vector lanes, so a row gives the same bits
// wherever it lies.
#pragma once

#include <cmath>
#include <cstdint>

namespace kernels::cpu {

float dot(const float* a, const float* b, std::int64_t n);
float sum_of_squares(const float* x, std::int64_t n);
/// Lowest index of the largest value. NaN never wins; a row of NaN alone, or an empty one, gives 0.
std::int64_t lowest_argmax(const float* x, std::int64_t n);
/// y = alpha * x
void scale_into(const float* x, float alpha, std::int64_t n, float* y);
/// y += alpha * x
void add_scaled(const float* x, float alpha, std::int64_t n, float* y);
/// 1 / sqrt(mean + 1e-6) for a sum of n squares
[[gnu::always_inline]] inline float inverse_root(float squares, std::int64_t n) {
  return 1.0F / std::sqrt(squares / static_cast<float>(n) + 1e-6F);
}
/// 1 / sqrt(mean of squares + 1e-6)
float inverse_rms(const float* x, std::int64_t n);

/// Forward of a norm with an optional gain: y = x * r * gain
void apply_norm(const float* x, float r, const float* gain, std::int64_t n, float* y);
/// Backward of that norm: dx (=, +=) its gradient for dy, dgain (when not null) += dy * x * r. dx may be dy.
void apply_norm_gradient(const float* dy, const float* x, const float* gain, float r, std::int64_t n, bool accumulate,
                         float* dx, float* dgain);

/// to[i] (= or +=) the sum over parts of partials[part * padded(n) + i], in the order of the parts.
void reduce_parts(const float* partials, int parts, std::int64_t n, bool accumulate, float* to);

}  // namespace kernels::cpu
