#include "kernels/cpu/small_product.h"

#include "kernels/cpu/lane_sums.h"

namespace kernels::cpu {
namespace {

/// Rows x 4 dot products at once, so that each loaded vector serves several; each has its own order of summation.
template <int Rows>
[[gnu::always_inline]] inline void dots(const ConstView& x, const ConstView& w, std::int64_t row, std::int64_t out,
                                        bool accumulate, const View& y) {
  Lanes sums[Rows][4] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= x.cols; i += kLanes) {
#pragma GCC unroll 4
    for (int o = 0; o < 4; ++o) {
      const Lanes weight = lanes_at(w.row(out + o) + i);
#pragma GCC unroll 4
      for (int r = 0; r < Rows; ++r) sums[r][o] += weight * lanes_at(x.row(row + r) + i);
    }
  }
#pragma GCC unroll 4
  for (int r = 0; r < Rows; ++r) {
    Four four = sums_of_four(sums[r][0], sums[r][1], sums[r][2], sums[r][3]);
    for (std::int64_t k = i; k < x.cols; ++k) {
      for (int o = 0; o < 4; ++o) four[o] += w.row(out + o)[k] * x.row(row + r)[k];
    }
    Four& to = *reinterpret_cast<Four*>(y.row(row + r) + out);
    to = accumulate ? to + four : four;
  }
}

/// One dot product, for the last outputs.
[[gnu::always_inline]] inline void single_dot(const float* x, const float* w, std::int64_t n, bool accumulate,
                                              float& y) {
  Lanes lanes{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) lanes += lanes_at(w + i) * lanes_at(x + i);
  float sum = sum_of_lanes(lanes);
  for (; i < n; ++i) sum += w[i] * x[i];
  y = accumulate ? y + sum : sum;
}

}  // namespace

FULLBAND_CLONES void small_product(ConstView x, ConstView w, bool accumulate, View y) {
  std::int64_t out = 0;
  // All rows for four weight rows, which stay in the nearest cache meanwhile.
  for (; out + 4 <= w.rows; out += 4) {
    std::int64_t row = 0;
    for (; row + 4 <= x.rows; row += 4) dots<4>(x, w, row, out, accumulate, y);
    for (; row < x.rows; ++row) dots<1>(x, w, row, out, accumulate, y);
  }
  for (; out < w.rows; ++out) {
    for (std::int64_t row = 0; row < x.rows; ++row) {
      single_dot(x.row(row), w.row(out), x.cols, accumulate, y.row(row)[out]);
    }
  }
}

}  // namespace kernels::cpu
