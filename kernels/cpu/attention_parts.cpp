#include "kernels/cpu/attention_parts.h"

#include <algorithm>

#include "kernels/cpu/simd.h"
#include "kernels/cpu/workspace.h"

namespace kernels::cpu {
namespace {

/// A finite value times zero is zero, any other is NaN, and NaN stays in the sum.
FULLBAND_CLONES float sum_of_zeros(const float* x, std::int64_t n) {
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sums += lanes_at(x + i) * 0.0F;
  float sum = sum_of_lanes(sums);
  for (; i < n; ++i) sum += x[i] * 0.0F;
  return sum;
}

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

void find_documents(ConstIndexView positions, std::vector<Range>& documents) {
  documents.clear();
  for (std::int64_t n = 0; n < positions.count; ++n) {
    if (positions.data[n] == 0) documents.push_back({n, n});
    documents.back().end = n + 1;
  }
}

std::int64_t longest_of(const std::vector<Range>& documents) {
  std::int64_t longest = 0;
  for (const Range& document : documents) longest = std::max(longest, document.count());
  return longest;
}

void pack_transposed(ConstView x, float* to) {
  const std::int64_t stride = padded(x.rows);
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

void pack_rows(ConstView x, float* to) {
  const std::int64_t stride = padded(x.cols);
  for (std::int64_t r = 0; r < x.rows; ++r) {
    std::copy_n(x.row(r), x.cols, to + r * stride);
    std::fill(to + r * stride + x.cols, to + (r + 1) * stride, 0.0F);
  }
}

void unpack_rows(const float* from, View x) {
  for (std::int64_t r = 0; r < x.rows; ++r) std::copy_n(from + r * padded(x.cols), x.cols, x.row(r));
}

bool all_finite(ConstView x) {
  for (std::int64_t r = 0; r < x.rows; ++r) {
    if (sum_of_zeros(x.row(r), x.cols) != 0.0F) return false;
  }
  return true;
}

}  // namespace kernels::cpu
