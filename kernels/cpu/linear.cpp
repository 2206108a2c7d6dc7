// Products with a weight: parts of the rows, each a single-threaded product.
#include <algorithm>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/blas.h"
#include "kernels/cpu/small_product.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

// Below one million multiply-adds OpenBLAS takes another kernel, with another order of summation. Nothing that small is
// given to it, so that a row's bits do not depend on its batch or on the threads.
constexpr std::int64_t kFewRows = 64;
constexpr std::int64_t kSmallProduct = 4 * 1000 * 1000;
constexpr std::int64_t kSmallestPart = 1100 * 1000;

float beta_of(Write write) { return write == Write::assign ? 0.0F : 1.0F; }

}  // namespace

void CpuBackend::linear(ConstView x, ConstView w, View y, Write write) {
  shapes::linear(x, w, y);
  const std::int64_t steps = y.size() * w.cols;
  if (x.rows <= kFewRows || steps <= kSmallProduct) {
    // Decoding reads each weight for few rows: what is shared out is the weight. Waking a thread costs more than a
    // product of a few microseconds.
    for_rows(threads_, w.rows, x.rows * w.cols / 16, [&](Range part) {
      small_product(x, w.row_range(part.begin, part.count()), write == Write::accumulate,
                    y.column_range(part.begin, part.count()));
    });
    return;
  }
  const SingleThreadedBlas guard;
  const int most = static_cast<int>(std::min<std::int64_t>(threads_, steps / kSmallestPart));
  for_rows(most, y.rows, w.rows * w.cols / 16, [&](Range part) {
    product_nt(1.0F, x.row_range(part.begin, part.count()), w, beta_of(write), y.row_range(part.begin, part.count()));
  });
}

void CpuBackend::linear_backward_input(ConstView dy, ConstView w, View dx, Write write) {
  shapes::linear_backward_input(dy, w, dx);
  const SingleThreadedBlas guard;
  for_rows(threads_, dx.rows, w.rows * w.cols / 16, [&](Range part) {
    product_nn(1.0F, dy.row_range(part.begin, part.count()), w, beta_of(write), dx.row_range(part.begin, part.count()));
  });
}

void CpuBackend::linear_backward_weight(ConstView dy, ConstView x, View dw, Write write) {
  shapes::linear_backward_weight(dy, x, dw);
  const SingleThreadedBlas guard;
  for_rows(threads_, dw.rows, dy.rows * dw.cols / 16, [&](Range part) {
    product_tn(1.0F, dy.column_range(part.begin, part.count()), x, beta_of(write),
               dw.row_range(part.begin, part.count()));
  });
}

}  // namespace kernels::cpu
