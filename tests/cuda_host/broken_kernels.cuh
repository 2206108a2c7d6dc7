// Kernels with one planted mistake each, beside their right versions.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace broken {

enum class Mistake { none, missing_barrier, barrier_for_some, lane_left_out, out_of_bounds, past_shared_memory };

/// out[block] = the sum of the block's 64 inputs by a tree in shared memory.
inline __global__ void tree_sum_kernel(const float* in, Mistake mistake, float* out) {
  float* room = kernels::cuda::shared_memory<float>();
  const unsigned t = threadIdx.x;
  if (mistake == Mistake::past_shared_memory) room[t + 1] = 0.0F;
  room[t] = in[kernels::cuda::first_thread()];
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (t < half) room[t] += room[t + half];
    if (mistake != Mistake::missing_barrier) __syncthreads();
  }
  if (mistake == Mistake::barrier_for_some && t > 0) return;
  if (mistake == Mistake::barrier_for_some) __syncthreads();
  if (mistake == Mistake::lane_left_out && t > 0) __syncwarp();
  if (t == 0) out[blockIdx.x + (mistake == Mistake::out_of_bounds ? gridDim.x : 0)] = room[0];
}

}  // namespace broken
