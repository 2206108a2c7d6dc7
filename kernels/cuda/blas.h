// Matrix products of row-major views by cuBLAS.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/raii.h"
#include "kernels/cuda/workspace.h"
#include "kernels/tensor.h"

namespace kernels::cuda {

/// What products compute with; sums are float32 always, and so is everything outside products. With bf16, products of
/// few rows use tf32, whose operands are more exact and are not copied.
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
  Blas(const Queue& queue, Products products);

  /// c = alpha a b + beta c. Nothing in c is read when beta is 0. An inner size of 0 is a product of zeros.
  void multiply(float alpha, const Side& a, const Side& b, float beta, View c);
  [[nodiscard]] Products products() const { return products_; }
  /// Times the memory for rounded operands grew.
  [[nodiscard]] std::int64_t growth_count() const { return rounded_.growth_count(); }

 private:
  /// An operand as cuBLAS reads it.
  struct Operand {
    const void* data;
    std::int64_t stride;
  };

  [[nodiscard]] Operand as_it_is(const ConstView& matrix) const;
  /// Rounds the matrix to bf16 into `room`, which has bf16_floats() for it.
  Operand rounded(const ConstView& matrix, float* room);

  Queue queue_;
  DeviceBytes scratch_;  ///< cuBLAS's own, so that it allocates nothing while work is recorded
  BlasHandle handle_;
  Products products_;
  Workspace rounded_;
};

}  // namespace kernels::cuda
