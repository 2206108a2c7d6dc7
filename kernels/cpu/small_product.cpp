#include "kernels/cpu/small_product.h"

#include "kernels/cpu/simd.h"

namespace kernels::cpu {
namespace {

/// Rows x Outs dot products at once, so that each loaded vector serves several; each has its own order of summation.
template <int Rows, int Outs>
[[gnu::always_inline]] inline void dots(const ConstView& x, const ConstView& w, std::int64_t row, std::int64_t out,
                                        bool accumulate, const View& y) {
  Lanes sums[Rows][Outs] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= x.cols; i += kLanes) {
#pragma GCC unroll 4
    for (int o = 0; o < Outs; ++o) {
      const Lanes weight = lanes_at(w.row(out + o) + i);
#pragma GCC unroll 2
      for (int r = 0; r < Rows; ++r) sums[r][o] += weight * lanes_at(x.row(row + r) + i);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int o = 0; o < Outs; ++o) {
      float sum = sum_of_lanes(sums[r][o]);
      for (std::int64_t k = i; k < x.cols; ++k) sum += w.row(out + o)[k] * x.row(row + r)[k];
      float& to = y.row(row + r)[out + o];
      to = accumulate ? to + sum : sum;
    }
  }
}

/// All rows for Outs weight rows, which stay in the nearest cache meanwhile.
template <int Outs>
[[gnu::always_inline]] inline void all_rows(const ConstView& x, const ConstView& w, std::int64_t out, bool accumulate,
                                            const View& y) {
  std::int64_t row = 0;
  for (; row + 2 <= x.rows; row += 2) dots<2, Outs>(x, w, row, out, accumulate, y);
  for (; row < x.rows; ++row) dots<1, Outs>(x, w, row, out, accumulate, y);
}

}  // namespace

FULLBAND_CLONES void small_product(ConstView x, ConstView w, bool accumulate, View y) {
  std::int64_t out = 0;
  for (; out + 4 <= w.rows; out += 4) all_rows<4>(x, w, out, accumulate, y);
  for (; out < w.rows; ++out) all_rows<1>(x, w, out, accumulate, y);
}

}  // namespace kernels::cpu
