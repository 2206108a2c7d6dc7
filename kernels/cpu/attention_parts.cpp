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
