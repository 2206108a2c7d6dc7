#include "kernels/cuda/blas.h"

namespace kernels::cuda {
namespace {

cublasOperation_t operation(const Side& side) { return side.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

}  // namespace

void Blas::multiply(float alpha, const Side& a, const Side& b, float beta, View c) {
  if (c.size() == 0) return;
  const cublasComputeType_t compute =
      products_ == Products::float32 ? CUBLAS_COMPUTE_32F_PEDANTIC : CUBLAS_COMPUTE_32F_FAST_TF32;
  // cuBLAS is column-major, where a row-major matrix reads as its transpose: c^T = b^T a^T.
  check(cublasGemmEx_64(handle_.get(), operation(b), operation(a), c.cols, c.rows, a.cols(), &alpha, b.matrix.data,
                        CUDA_R_32F, b.matrix.stride, a.matrix.data, CUDA_R_32F, a.matrix.stride, &beta, c.data,
                        CUDA_R_32F, c.stride, compute, CUBLAS_GEMM_DEFAULT),
        "matrix product");
}

}  // namespace kernels::cuda
