// AdamW, NorMuon and the clipping of the global norm, in place.
#include <algorithm>
#include <cmath>

#include "kernels/adam_factors.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES void adamw_row(const AdamFactors& f, const float* gradient, std::int64_t n, float* parameter,
                               float* first_moment, float* second_moment) {
  const AdamFactors c = f;
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float m = c.beta1 * first_moment[i] + (1.0F - c.beta1) * gradient[i];
    const float v = c.beta2 * second_moment[i] + (1.0F - c.beta2) * gradient[i] * gradient[i];
    first_moment[i] = m;
    second_moment[i] = v;
    parameter[i] = c.keep * parameter[i] - c.step_size * m / (std::sqrt(v * c.moment_scale) + c.epsilon);
  }
}

FULLBAND_CLONES double sum_of_squares_double(const float* x, std::int64_t n) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return sum;
}

}  // namespace

void CpuBackend::adamw(View parameter, ConstView gradient, View first_moment, View second_moment,
                       const AdamStep& step) {
  shapes::adamw(parameter, gradient, first_moment, second_moment, step);
  const AdamFactors factors = factors_of(step);
  for_pieces(threads_, parameter, 4, [&](std::int64_t r, Range cols) {
    adamw_row(factors, gradient.row(r) + cols.begin, cols.count(), parameter.row(r) + cols.begin,
              first_moment.row(r) + cols.begin, second_moment.row(r) + cols.begin);
  });
}

double CpuBackend::squared_norm(ConstView x) {
  // The pieces number as in for_pieces; each leaves its sum in a place of its own.
  const std::int64_t pieces_per_row = (x.cols + kPiece - 1) / kPiece;
  auto* sums = reinterpret_cast<double*>(workspace_.floats(2 * x.rows * pieces_per_row));
  for_pieces(threads_, x, 2, [&](std::int64_t r, Range cols) {
    sums[r * pieces_per_row + cols.begin / kPiece] = sum_of_squares_double(x.row(r) + cols.begin, cols.count());
  });
  double sum = 0.0;
  for (std::int64_t i = 0; i < x.rows * pieces_per_row; ++i) sum += sums[i];
  return sum;
}

void CpuBackend::clip_by_norm(View gradients, float max_norm, View norm) {
  shapes::clip_by_norm(gradients, norm);
  const double total = std::sqrt(squared_norm(gradients));
  norm.data[0] = static_cast<float>(total);
  if (!std::isfinite(total) || !(max_norm > 0.0F) || total <= static_cast<double>(max_norm)) return;
  const auto factor = static_cast<float>(static_cast<double>(max_norm) / total);
  scaled(gradients, factor, gradients, Write::assign);
}

}  // namespace kernels::cpu
