// Sums and maxima over lanes and threads, in an order that never changes.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace kernels::cuda {

/// The sum over groups of `width` neighbouring lanes (a power of two), given to each of them.
template <typename T>
__device__ T group_sum(T value, int width) {
  for (int lanes = width / 2; lanes > 0; lanes /= 2) value += __shfl_xor_sync(kWholeWarp, value, lanes);
  return value;
}

/// The sum over the warp, given to every lane.
template <typename T>
__device__ T warp_sum(T value) {
  return group_sum(value, kWarp);
}

/// The largest value of the warp, given to every lane. NaN loses against a number.
__device__ inline float warp_max(float value) {
  for (int lanes = kWarp / 2; lanes > 0; lanes /= 2) value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, lanes));
  return value;
}

/// The sum over the block, given to every thread. `room` is shared memory for one value a warp; free again on return.
template <typename T>
__device__ T block_sum(T value, T* room) {
  value = warp_sum(value);
  if (lane_index() == 0) room[warp_index()] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  T sum = 0;
  for (int w = 0; w < warps; ++w) sum += room[w];
  __syncthreads();
  return sum;
}

/// The largest value of the block, given to every thread; `room` as for block_sum.
__device__ inline float block_max(float value, float* room) {
  value = warp_max(value);
  if (lane_index() == 0) room[warp_index()] = value;
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / kWarp;
  float top = room[0];
  for (int w = 1; w < warps; ++w) top = fmaxf(top, room[w]);
  __syncthreads();
  return top;
}

}  // namespace kernels::cuda
