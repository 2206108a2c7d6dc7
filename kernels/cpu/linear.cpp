// Products with a weight: parts of the rows, each a single-threaded product.
#include "kernels/cpu/backend.h"
#include "kernels/cpu/blas.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

float beta_of(Write write) { return write == Write::assign ? 0.0F : 1.0F; }

}  // namespace

void CpuBackend::linear(ConstView x, ConstView w, View y, Write write) {
  shapes::linear(x, w, y);
  const SingleThreadedBlas guard;
  for_rows(threads_, y.rows, w.rows * w.cols / 16, [&](Range part) {
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
