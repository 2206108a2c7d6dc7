// The one way to start a kernel, and how threads find their share of the work.
//
// Kernels use one-dimensional blocks and grids and walk over their work with a stride of the grid, because a grid may
// be smaller than the work. A block's threads are whole warps. Every thread of a block reaches every __syncthreads,
// every lane of a warp every shuffle: threads without work go along.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/raii.h"

namespace kernels::cuda {

/// The stream that kernels go to, and the most blocks that are worth starting.
struct Queue {
  cudaStream_t stream = nullptr;
  std::int64_t max_blocks = 1;
};

struct Grid {
  std::int64_t blocks = 0;  ///< blocks that the work fills; fewer may be started
  int threads = 256;        ///< a block's threads, a multiple of 32
  std::int64_t shared_bytes = 0;
};

constexpr int kWarp = 32;
constexpr unsigned kWholeWarp = 0xffffffffU;
constexpr std::int64_t kSharedWithoutAsking = 48 * 1024;

/// Puts kernel(arguments...) into the queue. No blocks, no launch.
template <typename... Parameters, typename... Arguments>
void launch(const Queue& queue, const char* name, void (*kernel)(Parameters...), const Grid& grid,
            Arguments... arguments) {
  if (grid.blocks <= 0) return;
  const std::int64_t blocks = std::min(grid.blocks, queue.max_blocks);
#if defined(FULLBAND_CUDA_HOST)
  cuda_host::submit(queue.stream, name, [=] {
    const cuda_host::GridShape shape{blocks, grid.threads, grid.shared_bytes};
    return cuda_host::run_grid(shape, [=] { kernel(static_cast<Parameters>(arguments)...); });
  });
#else
  if (grid.shared_bytes > kSharedWithoutAsking) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(grid.shared_bytes)),
          name);
  }
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(grid.threads),
           static_cast<std::size_t>(grid.shared_bytes), queue.stream>>>(static_cast<Parameters>(arguments)...);
#endif
  check(cudaGetLastError(), name);
}

/// The block's dynamic shared memory, 16-byte aligned, uninitialised.
template <typename T>
__device__ T* shared_memory() {
#if defined(FULLBAND_CUDA_HOST)
  return static_cast<T*>(cuda_host::shared_memory());
#else
  extern __shared__ __align__(16) unsigned char fullband_shared_memory[];
  return reinterpret_cast<T*>(fullband_shared_memory);
#endif
}

// ---- threads over the elements of a vector: for (i = first_thread(); i < n; i += all_threads())
// ----------------------
__device__ inline std::int64_t first_thread() { return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ inline std::int64_t all_threads() { return std::int64_t{gridDim.x} * blockDim.x; }

inline Grid threads_over(std::int64_t n) { return {(n + 255) / 256, 256, 0}; }

// ---- warps over rows: for (r = first_warp(); r < rows; r += all_warps())
// ---------------------------------------------
__device__ inline int lane_index() { return static_cast<int>(threadIdx.x % kWarp); }
__device__ inline int warp_index() { return static_cast<int>(threadIdx.x / kWarp); }
__device__ inline std::int64_t first_warp() { return first_thread() / kWarp; }
__device__ inline std::int64_t all_warps() { return all_threads() / kWarp; }

inline Grid warps_over(std::int64_t rows) { return {(rows + 7) / 8, 256, 0}; }

// ---- warps over pieces of the rows of a matrix, because parameters and gradients often are one long row
// --------------
constexpr std::int64_t kPiece = 512;

/// Calls body(row, column) once for every element, consecutive columns on consecutive lanes.
template <typename Body>
__device__ void for_elements(std::int64_t rows, std::int64_t cols, const Body& body) {
  const std::int64_t per_row = (cols + kPiece - 1) / kPiece;
  for (std::int64_t piece = first_warp(); piece < rows * per_row; piece += all_warps()) {
    const std::int64_t row = piece / per_row;
    const std::int64_t begin = (piece - row * per_row) * kPiece;
    const std::int64_t end = begin + kPiece < cols ? begin + kPiece : cols;
    for (std::int64_t c = begin + lane_index(); c < end; c += kWarp) body(row, c);
  }
}

inline Grid elements_of(std::int64_t rows, std::int64_t cols) {
  return warps_over(rows * ((cols + kPiece - 1) / kPiece));
}

}  // namespace kernels::cuda
