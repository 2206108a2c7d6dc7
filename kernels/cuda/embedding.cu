// Rows of a table by token, and the gradient of the table without atomics: the rows are put in the order of their
// tokens, and one warp adds up 32 columns of all rows of a token, in the order of the rows.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/row_math.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

constexpr int kTile = 256;

/// A token outside the table gives a row of NaN.
__global__ void embed_kernel(ConstView table, ConstIndexView tokens, View y) {
  for_elements(y.rows, y.cols, [&](std::int64_t n, std::int64_t c) {
    const std::int64_t token = tokens.data[n];
    y.row(n)[c] = token >= 0 && token < table.rows ? table.row(token)[c] : nanf("");
  });
}

/// order[place of n] = n, sorted by token, then by n. The place is counted: as many comparisons as pairs of rows, which
/// for the rows of a batch costs less than the passes of a radix sort.
__global__ void order_by_token_kernel(ConstIndexView tokens, std::int32_t* order) {
  auto* tile = shared_memory<std::int32_t>();
  const std::int64_t count = tokens.count;
  for (std::int64_t first = std::int64_t{blockIdx.x} * kTile; first < count; first += std::int64_t{gridDim.x} * kTile) {
    const std::int64_t n = first + threadIdx.x;
    const std::int32_t mine = n < count ? tokens.data[n] : 0;
    std::int64_t place = 0;
    for (std::int64_t begin = 0; begin < count; begin += kTile) {
      const std::int64_t m = begin + threadIdx.x;
      tile[threadIdx.x] = m < count ? tokens.data[m] : 0;
      __syncthreads();
      const std::int64_t size = count - begin < kTile ? count - begin : kTile;
      for (std::int64_t i = 0; i < size; ++i) place += tile[i] < mine || (tile[i] == mine && begin + i < n) ? 1 : 0;
      __syncthreads();
    }
    if (n < count) order[place] = static_cast<std::int32_t>(n);
  }
}

/// Columns [first, first + 32) of the token whose rows begin at `place` of the order.
__device__ void add_rows_of_token(ConstView dy, ConstIndexView tokens, const std::int32_t* order, std::int64_t place,
                                  std::int64_t first, View dtable) {
  const std::int32_t token = tokens.data[order[place]];
  const bool starts = place == 0 || tokens.data[order[place - 1]] != token;
  const std::int64_t c = first + lane_index();
  if (!starts || token < 0 || token >= dtable.rows || c >= dy.cols) return;
  float sum = dtable.row(token)[c];
  for (std::int64_t p = place; p < dy.rows && tokens.data[order[p]] == token; ++p) sum += dy.row(order[p])[c];
  dtable.row(token)[c] = sum;
}

__global__ void embed_backward_kernel(ConstView dy, ConstIndexView tokens, const std::int32_t* order, View dtable) {
  const std::int64_t strips = (dy.cols + kWarp - 1) / kWarp;
  for (std::int64_t item = first_warp(); item < dy.rows * strips; item += all_warps()) {
    const std::int64_t place = item / strips;
    add_rows_of_token(dy, tokens, order, place, (item - place * strips) * kWarp, dtable);
  }
}

}  // namespace

void CudaBackend::embed(ConstView table, ConstIndexView tokens, View y) {
  shapes::embed(table, tokens, y);
  launch(queue_, "embed", embed_kernel, elements_of(y.rows, y.cols), table, tokens, y);
}

void CudaBackend::embed_backward(ConstView dy, ConstIndexView tokens, View dtable, Write write) {
  shapes::embed_backward(dy, tokens, dtable);
  if (write == Write::assign) fill(dtable, 0.0F);
  auto* order = reinterpret_cast<std::int32_t*>(workspace_.floats(dy.rows));
  const Grid tiles{(dy.rows + kTile - 1) / kTile, kTile, kTile * sizeof(std::int32_t)};
  launch(queue_, "embed_backward", order_by_token_kernel, tiles, tokens, order);
  const std::int64_t strips = (dy.cols + kWarp - 1) / kWarp;
  launch(queue_, "embed_backward", embed_backward_kernel, warps_over(dy.rows * strips), dy, tokens, order, dtable);
}

}  // namespace kernels::cuda
