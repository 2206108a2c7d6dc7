// Matrix products of row-major views by cuBLAS.
#pragma once

#include "kernels/cuda/raii.h"
#include "kernels/tensor.h"

namespace kernels::cuda {

/// What products compute with; sums are float32 always, and so is everything outside products.
enum class Products { float32, tf32, bf16 };

/// An operand as it stands or transposed.
struct Side {
  ConstView matrix;
  bool transposed = false;
  [[nodiscard]] std::int64_t rows() const { return transposed ? matrix.cols : matrix.rows; }
  [[nodiscard]] std::int64_t cols() const { return transposed ? matrix.rows : matrix.cols; }
};

class Blas {
 public:
  Blas(cudaStream_t stream, Products products) : handle_(stream), products_(products) {}

  /// c = alpha a b + beta c. Nothing in c is read when beta is 0.
  void multiply(float alpha, const Side& a, const Side& b, float beta, View c);
  [[nodiscard]] Products products() const { return products_; }

 private:
  BlasHandle handle_;
  Products products_;
};

}  // namespace kernels::cuda
