#include "kernels/cpu/transpose.h"

#include <algorithm>

namespace kernels::cpu {
namespace {

/// Transposes a square of four.
void turn_four(const float* from, std::int64_t from_stride, float* to, std::int64_t to_stride) {
  using Four [[gnu::vector_size(16), gnu::aligned(4), gnu::may_alias]] = float;
  const auto row = [&](std::int64_t r) { return *reinterpret_cast<const Four*>(from + r * from_stride); };
  const Four a = row(0), b = row(1), c = row(2), d = row(3);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const auto column = [&](std::int64_t i) -> Four& { return *reinterpret_cast<Four*>(to + i * to_stride); };
  column(0) = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  column(1) = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  column(2) = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  column(3) = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

}  // namespace

void transpose(ConstView x, float* to, std::int64_t stride) {
  const std::int64_t whole_rows = x.rows / 4 * 4;
  const std::int64_t whole_cols = x.cols / 4 * 4;
  // A whole line of the target (16 rows) before the next column.
  for (std::int64_t first = 0; first < x.rows; first += 16) {
    const std::int64_t last = std::min(x.rows, first + 16);
    for (std::int64_t c = 0; c < whole_cols; c += 4) {
      for (std::int64_t r = first; r + 4 <= last; r += 4)
        turn_four(x.row(r) + c, x.stride, to + c * stride + r, stride);
    }
  }
  for (std::int64_t c = 0; c < x.cols; ++c) {
    for (std::int64_t r = c < whole_cols ? whole_rows : 0; r < x.rows; ++r) to[c * stride + r] = x.row(r)[c];
    std::fill(to + c * stride + x.rows, to + (c + 1) * stride, 0.0F);
  }
}

}  // namespace kernels::cpu
