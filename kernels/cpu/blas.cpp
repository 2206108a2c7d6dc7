#include "kernels/cpu/blas.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <limits>

#include "kernels/error.h"

namespace kernels::cpu {
namespace {

blasint blas_size(std::int64_t value) {
  if (value > std::numeric_limits<blasint>::max())
    throw ShapeError("product: a dimension exceeds the BLAS's integers.");
  return static_cast<blasint>(value);
}

/// A matrix of at most one row may carry any stride; the BLAS wants at least the columns.
blasint leading(std::int64_t stride, std::int64_t cols) { return blas_size(std::max({stride, cols, std::int64_t{1}})); }

void gemm(CBLAS_TRANSPOSE a_op, CBLAS_TRANSPOSE b_op, std::int64_t inner, float alpha, ConstView a, ConstView b,
          float beta, View c) {
  if (c.rows == 0 || c.cols == 0) return;
  if (inner == 0) {
    for (std::int64_t r = 0; r < c.rows; ++r) {
      for (std::int64_t i = 0; i < c.cols; ++i) c.row(r)[i] = beta == 0.0F ? 0.0F : beta * c.row(r)[i];
    }
    return;
  }
  cblas_sgemm(CblasRowMajor, a_op, b_op, blas_size(c.rows), blas_size(c.cols), blas_size(inner), alpha, a.data,
              leading(a.stride, a.cols), b.data, leading(b.stride, b.cols), beta, c.data, leading(c.stride, c.cols));
}

}  // namespace

void prepare_blas() {
  if (openblas_get_parallel() != OPENBLAS_OPENMP) openblas_set_num_threads(1);
}

SingleThreadedBlas::SingleThreadedBlas() : saved_threads_(omp_get_max_threads()) { omp_set_num_threads(1); }
SingleThreadedBlas::~SingleThreadedBlas() { omp_set_num_threads(saved_threads_); }

void product_nt(float alpha, ConstView a, ConstView b, float beta, View c) {
  gemm(CblasNoTrans, CblasTrans, a.cols, alpha, a, b, beta, c);
}

void product_nn(float alpha, ConstView a, ConstView b, float beta, View c) {
  gemm(CblasNoTrans, CblasNoTrans, a.cols, alpha, a, b, beta, c);
}

void product_tn(float alpha, ConstView a, ConstView b, float beta, View c) {
  gemm(CblasTrans, CblasNoTrans, a.rows, alpha, a, b, beta, c);
}

}  // namespace kernels::cpu
