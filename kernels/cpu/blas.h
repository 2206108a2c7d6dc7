// Single-threaded matrix products on row-major operands, to be called from the parts of an operation.
#pragma once

#include <cstdint>

#include "kernels/tensor.h"

namespace kernels::cpu {

/// Keeps the BLAS from starting threads of its own where its build ignores OpenMP. Called once a backend.
void prepare_blas();

/// While it lives, products of this thread run on this thread alone; the previous setting comes back afterwards.
class SingleThreadedBlas {
 public:
  SingleThreadedBlas();
  SingleThreadedBlas(const SingleThreadedBlas&) = delete;
  SingleThreadedBlas& operator=(const SingleThreadedBlas&) = delete;
  ~SingleThreadedBlas();

 private:
  int saved_threads_;
};

/// c[M,N] = beta * c + alpha * a[M,K] b[N,K]^T; beta 0 overwrites c whatever it held.
void product_nt(float alpha, ConstView a, ConstView b, float beta, View c);
/// c[M,N] = beta * c + alpha * a[M,K] b[K,N]
void product_nn(float alpha, ConstView a, ConstView b, float beta, View c);
/// c[M,N] = beta * c + alpha * a[K,M]^T b[K,N]
void product_tn(float alpha, ConstView a, ConstView b, float beta, View c);

}  // namespace kernels::cpu
