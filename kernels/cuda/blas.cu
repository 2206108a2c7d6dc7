#include "kernels/cuda/blas.h"

#include <cuda_bf16.h>

namespace kernels::cuda {
namespace {

cublasOperation_t operation(const Side& side) { return side.transposed ? CUBLAS_OP_T : CUBLAS_OP_N; }

constexpr int kAmpere = 8;
constexpr int kHopper = 9;

/// Fewer rows than this (decoding) are done while a weight is read once; rounding it would take longer than the
/// product.
constexpr std::int64_t kFewRows = 32;

/// The GPU's generation, as the first number of its compute capability.
int generation() {
  int device = 0;
  int major = 0;
  check(cudaGetDevice(&device), "ask for the GPU");
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "ask for the GPU's generation");
  return major;
}

/// What cuBLAS's manual advises.
std::int64_t scratch_bytes() { return std::int64_t{generation() >= kHopper ? 32 : 4} << 20; }

/// Rows of bf16 start at 16 bytes, as tensor cores like it.
std::int64_t bf16_stride(std::int64_t cols) { return (cols + 7) / 8 * 8; }
std::int64_t bf16_floats(const ConstView& matrix) { return padded(matrix.rows * bf16_stride(matrix.cols) / 2); }

__global__ void round_kernel(ConstView x, std::int64_t stride, __nv_bfloat16* to) {
  for_elements(x.rows, x.cols,
               [&](std::int64_t r, std::int64_t c) { to[r * stride + c] = __float2bfloat16_rn(x.row(r)[c]); });
}

/// What a product over nothing leaves.
__global__ void scale_kernel(View c, float beta) {
  for_elements(c.rows, c.cols,
               [&](std::int64_t r, std::int64_t col) { c.row(r)[col] = beta == 0.0F ? 0.0F : beta * c.row(r)[col]; });
}

cublasComputeType_t compute_type(Products products) {
  switch (products) {
    case Products::float32:
      return CUBLAS_COMPUTE_32F_PEDANTIC;
    case Products::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case Products::bf16:
      return CUBLAS_COMPUTE_32F;
  }
  return CUBLAS_COMPUTE_32F_PEDANTIC;
}

}  // namespace

Blas::Blas(const Queue& queue, Products products)
    : queue_(queue), scratch_(scratch_bytes()), handle_(queue.stream), products_(products) {
  if (products != Products::float32 && generation() < kAmpere) {
    throw DeviceError(
        "This GPU is older than Ampere and has products in float32 alone; leave ',tf32' or ',bf16' away.");
  }
  check(cublas().set_workspace(handle_.get(), scratch_.data(), static_cast<std::size_t>(scratch_bytes())),
        "give cuBLAS its scratch memory");
}

Blas::Operand Blas::as_it_is(const ConstView& matrix) const {
  // The stride of a single row may be anything.
  return {matrix.data, std::max({matrix.stride, matrix.cols, std::int64_t{1}})};
}

Blas::Operand Blas::rounded(const ConstView& matrix, float* room) {
  auto* to = reinterpret_cast<__nv_bfloat16*>(room);
  const std::int64_t stride = bf16_stride(matrix.cols);
  launch(queue_, "round to bf16", round_kernel, elements_of(matrix.rows, matrix.cols), matrix, stride, to);
  return {to, stride};
}

void Blas::multiply(float alpha, const Side& a, const Side& b, float beta, View c) {
  if (c.size() == 0) return;
  if (a.cols() == 0) {
    launch(queue_, "matrix product", scale_kernel, elements_of(c.rows, c.cols), c, beta);
    return;
  }
  Operand left = as_it_is(a.matrix);
  Operand right = as_it_is(b.matrix);
  const Products products = products_ == Products::bf16 && c.rows < kFewRows ? Products::tf32 : products_;
  const bool is_bf16 = products == Products::bf16;
  if (is_bf16) {
    float* room = rounded_.floats(bf16_floats(a.matrix) + bf16_floats(b.matrix));
    left = rounded(a.matrix, room);
    right = rounded(b.matrix, room + bf16_floats(a.matrix));
  }
  const cudaDataType type = is_bf16 ? CUDA_R_16BF : CUDA_R_32F;
  // cuBLAS is column-major, where a row-major matrix reads as its transpose: c^T = b^T a^T.
  check(cublas().gemm(handle_.get(), operation(b), operation(a), c.cols, c.rows, a.cols(), &alpha, right.data, type,
                      right.stride, left.data, type, left.stride, &beta, c.data, CUDA_R_32F, std::max(c.stride, c.cols),
                      compute_type(products), CUBLAS_GEMM_DEFAULT),
        "matrix product");
}

}  // namespace kernels::cuda
