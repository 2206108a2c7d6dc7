// Sums over the rows of a matrix that need not exist: every term is computed where it is added. The rows are cut into
// parts by their number alone, so that the order of the sum does not depend on the GPU.
#pragma once

#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_math.cuh"
#include "kernels/cuda/workspace.h"
#include "kernels/tensor.h"

namespace kernels::cuda {

constexpr int kMostParts = 128;

/// partials[part, c] = the sum of term(n, c) over the part's rows, in their order. A block is 256 columns of a part.
template <typename Term>
__global__ void column_parts_kernel(std::int64_t rows, std::int64_t cols, std::int64_t parts, Term term,
                                    float* partials) {
  const std::int64_t column_blocks = (cols + blockDim.x - 1) / blockDim.x;
  for (std::int64_t block = blockIdx.x; block < parts * column_blocks; block += gridDim.x) {
    const std::int64_t part = block / column_blocks;
    const std::int64_t c = (block - part * column_blocks) * blockDim.x + threadIdx.x;
    if (c >= cols) continue;
    float sum = 0.0F;
    for (std::int64_t n = rows * part / parts; n < rows * (part + 1) / parts; ++n) sum += term(n, c);
    partials[part * cols + c] = sum;
  }
}

/// to[c] (=, +=) the sum of the parts. Eight warps share the parts of 32 columns.
static __global__ void column_total_kernel(const float* partials, std::int64_t parts, std::int64_t cols,
                                           bool accumulate, float* to) {
  float* room = shared_memory<float>();
  for (std::int64_t first = std::int64_t{blockIdx.x} * kWarp; first < cols; first += std::int64_t{gridDim.x} * kWarp) {
    const std::int64_t c = first + lane_index();
    float sum = 0.0F;
    for (std::int64_t part = warp_index(); c < cols && part < parts; part += 8) sum += partials[part * cols + c];
    room[threadIdx.x] = sum;
    __syncthreads();
    if (warp_index() == 0 && c < cols) {
      for (int w = 1; w < 8; ++w) sum += room[w * kWarp + lane_index()];
      store(to + c, sum, accumulate);
    }
    __syncthreads();
  }
}

/// to[1, cols] (=, +=) the sums of term(n, c) over `rows` rows. Uses the workspace.
template <typename Term>
void column_sums(const Queue& queue, Workspace& workspace, std::int64_t rows, Term term, Write write, View to) {
  const std::int64_t parts = std::clamp<std::int64_t>((rows + kWarp - 1) / kWarp, 1, kMostParts);
  float* partials = workspace.floats(parts * to.cols);
  const Grid parts_grid{parts * ((to.cols + 255) / 256), 256, 0};
  launch(queue, "column sums", column_parts_kernel<Term>, parts_grid, rows, to.cols, parts, term, partials);
  const Grid total_grid{(to.cols + kWarp - 1) / kWarp, 256, 256 * sizeof(float)};
  launch(queue, "column sums", column_total_kernel, total_grid, partials, parts, to.cols, write == Write::accumulate,
         to.data);
}

}  // namespace kernels::cuda
