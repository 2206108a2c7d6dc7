// Products with a weight: parts of the rows, each a single-threaded product.
#include "kernels/cpu/backend.h"
#include "kernels/cpu/blas.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t kFewRows = 16;

float beta_of(Write write) { return write == Write::assign ? 0.0F : 1.0F; }

/// y = beta * y + x w^T; a general product would copy the weight to read it once or twice.
void few_rows(ConstView x, ConstView w, float beta, View y) {
  if (x.rows > 2) {
    product_nt(1.0F, x, w, beta, y);
    return;
  }
  for (std::int64_t r = 0; r < x.rows; ++r) product_vector(w, x.row(r), beta, y.row(r));
}

}  // namespace

void CpuBackend::linear(ConstView x, ConstView w, View y, Write write) {
  shapes::linear(x, w, y);
  const SingleThreadedBlas guard;
  if (x.rows <= kFewRows) {
    // Decoding reads each weight for few rows: what can be shared out is the weight.
    for_rows(threads_, w.rows, w.cols / 4, [&](Range part) {
      few_rows(x, w.row_range(part.begin, part.count()), beta_of(write), y.column_range(part.begin, part.count()));
    });
    return;
  }
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
