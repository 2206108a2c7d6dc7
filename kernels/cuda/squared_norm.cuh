// The sum of squares of a matrix in double precision, left on the device: pieces of a fixed size, then their sums in a
// fixed order.
#pragma once

#include "kernels/cuda/reduce.cuh"
#include "kernels/tensor.h"

namespace kernels::cuda {

/// Doubles of scratch that squared_norm needs: the result, then one a piece.
inline std::int64_t squared_norm_room(ConstView x) { return 1 + x.rows * ((x.cols + kPiece - 1) / kPiece); }

/// room[0] = ||x||_2 ^ 2
void squared_norm(const Queue& queue, ConstView x, double* room);

}  // namespace kernels::cuda
