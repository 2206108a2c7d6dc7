// What attention's forward and backward share: products of tiles of 64 rows by 64 rows through shared memory. A block
// is 256 threads in 16 rows of 16; thread (y, x) owns rows 4y .. 4y+3 and columns x, x+16, x+32, x+48 of a tile.
#pragma once

#include "kernels/backend.h"
#include "kernels/cuda/reduce.cuh"

// Loops over what lies in registers are unrolled: an index that is not a constant sends the whole array to memory.
#if defined(__CUDACC__)
#define FULLBAND_UNROLL _Pragma("unroll")
#else
#define FULLBAND_UNROLL
#endif

namespace kernels::cuda {

constexpr int kTile = 64;
constexpr int kTileThreads = 256;
constexpr int kEdge = 16;          ///< threads along one edge of a tile
constexpr int kSlice = 32;         ///< columns of both operands that lie in shared memory at a time
constexpr int kSliceStride = 36;   ///< rows start at 16 bytes, and neighbouring rows in different banks
constexpr int kWeightStride = 68;  ///< likewise
constexpr int kOperandFloats = 2 * kTile * kSliceStride;
constexpr int kWeightFloats = kTile * kWeightStride;

/// A thread's share of a tile.
struct Share {
  float at[4][4];
};

__device__ inline int tile_y() { return static_cast<int>(threadIdx.x) / kEdge; }
__device__ inline int tile_x() { return static_cast<int>(threadIdx.x) % kEdge; }

/// Rows of one head; those from `count` on are zero.
struct HeadRows {
  const float* data;
  std::int64_t stride;
  int count;
};

/// Rows [first, first + 64) of a head, as far as they exist before `end`.
__device__ inline HeadRows head_rows(const ConstView& x, std::int64_t first, std::int64_t end, std::int64_t head,
                                     std::int64_t head_dim) {
  const std::int64_t count = end - first < kTile ? end - first : kTile;
  return {x.row(first) + head * head_dim, x.stride, static_cast<int>(count)};
}

/// The first row that `row` sees: of its document (window 0), or of the window.
__device__ inline std::int64_t first_seen(const std::int32_t* positions, std::int64_t row, std::int64_t window) {
  const std::int64_t place = positions[row] <= row ? positions[row] : row;
  return window > 0 && place >= window ? row - window + 1 : row - place;
}

/// The largest value of 16 neighbouring lanes, given to each of them.
__device__ inline float edge_max(float value) {
  for (int lanes = kEdge / 2; lanes > 0; lanes /= 2) value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, lanes));
  return value;
}

__device__ inline void load_slice(const HeadRows& rows, std::int64_t first, std::int64_t head_dim, float* to) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kSlice; i += kTileThreads) {
    const int r = i / kSlice;
    const int c = i % kSlice;
    to[r * kSliceStride + c] = r < rows.count && first + c < head_dim ? rows.data[r * rows.stride + first + c] : 0.0F;
  }
}

__device__ inline void add_slice_product(const float* a, const float* b, Share& sum) {
  for (int k = 0; k < kSlice; k += 4) {
    float4 right[4];
    FULLBAND_UNROLL
    for (int j = 0; j < 4; ++j) {
      right[j] = *reinterpret_cast<const float4*>(b + (tile_x() + kEdge * j) * kSliceStride + k);
    }
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float4 left = *reinterpret_cast<const float4*>(a + (4 * tile_y() + i) * kSliceStride + k);
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        sum.at[i][j] = __fmaf_rn(left.x, right[j].x, sum.at[i][j]);
        sum.at[i][j] = __fmaf_rn(left.y, right[j].y, sum.at[i][j]);
        sum.at[i][j] = __fmaf_rn(left.z, right[j].z, sum.at[i][j]);
        sum.at[i][j] = __fmaf_rn(left.w, right[j].w, sum.at[i][j]);
      }
    }
  }
}

/// Every row of a times every row of b. `operands` is shared memory for kOperandFloats, free again on return.
__device__ inline Share tile_product(const HeadRows& a, const HeadRows& b, std::int64_t head_dim, float* operands) {
  Share sum{};
  for (std::int64_t first = 0; first < head_dim; first += kSlice) {
    load_slice(a, first, head_dim, operands);
    load_slice(b, first, head_dim, operands + kTile * kSliceStride);
    __syncthreads();
    add_slice_product(operands, operands + kTile * kSliceStride, sum);
    __syncthreads();
  }
  return sum;
}

/// 64 columns of the rows into shared memory, 64 floats a row.
__device__ inline void load_columns(const HeadRows& rows, std::int64_t first, std::int64_t head_dim, float* to) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * kTile; i += kTileThreads) {
    const int r = i / kTile;
    const int c = i % kTile;
    to[i] = r < rows.count && first + c < head_dim ? rows.data[r * rows.stride + first + c] : 0.0F;
  }
}

/// sum += weights [64, 64] times `rows` rows of values. With `kSkipZeros` a weight of zero leaves out its value, which
/// may be NaN in a row that is not seen.
template <bool kSkipZeros>
__device__ void add_weighted_rows(const float* weights, const float* values, int rows, std::int64_t cols, Share& sum) {
  for (int first = 0; first < rows; first += 4) {
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const float4 four = *reinterpret_cast<const float4*>(weights + (4 * tile_y() + i) * kWeightStride + first);
      const float row_weights[4] = {four.x, four.y, four.z, four.w};
      FULLBAND_UNROLL
      for (int r = 0; r < 4; ++r) {
        if (kSkipZeros && row_weights[r] == 0.0F) continue;
        FULLBAND_UNROLL
        for (int j = 0; j < 4; ++j) {
          if (kEdge * j >= cols) break;
          const float value = values[(first + r) * kTile + tile_x() + kEdge * j];
          sum.at[i][j] = __fmaf_rn(row_weights[r], value, sum.at[i][j]);
        }
      }
    }
  }
}

/// A thread's share of up to `kParts` times 64 columns of a result.
template <int kParts>
struct Columns {
  Share part[kParts];
};

/// sum += weights times the columns from `first` on. All threads of the block see the weights on entry; they and
/// `operands` are free again on return.
template <int kParts>
__device__ void add_weighted(const float* weights, const HeadRows& values, std::int64_t first, std::int64_t head_dim,
                             bool skip_zeros, float* operands, Columns<kParts>& sum) {
  FULLBAND_UNROLL
  for (int p = 0; p < kParts; ++p) {
    const std::int64_t column = first + p * kTile;
    if (column >= head_dim) break;
    load_columns(values, column, head_dim, operands);
    __syncthreads();
    if (skip_zeros) {
      add_weighted_rows<true>(weights, operands, values.count, head_dim - column, sum.part[p]);
    } else {
      add_weighted_rows<false>(weights, operands, values.count, head_dim - column, sum.part[p]);
    }
    __syncthreads();
  }
}

__device__ inline void store_weights(const Share& share, float* weights) {
  FULLBAND_UNROLL
  for (int i = 0; i < 4; ++i) {
    FULLBAND_UNROLL
    for (int j = 0; j < 4; ++j) weights[(4 * tile_y() + i) * kWeightStride + tile_x() + kEdge * j] = share.at[i][j];
  }
}

/// Calls body(row of the tile, column of the head, value) for each of the thread's values that belong to the head.
template <int kParts, typename Body>
__device__ void for_columns(const Columns<kParts>& columns, std::int64_t first, std::int64_t head_dim, int rows,
                            const Body& body) {
  FULLBAND_UNROLL
  for (int p = 0; p < kParts; ++p) {
    FULLBAND_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int row = 4 * tile_y() + i;
      FULLBAND_UNROLL
      for (int j = 0; j < 4; ++j) {
        const std::int64_t column = first + p * kTile + tile_x() + kEdge * j;
        if (row < rows && column < head_dim) body(row, column, columns.part[p].at[i][j]);
      }
    }
  }
}

/// What a block does: a tile of rows, a head, and a part of the head's columns (more than one only in heads wider than
/// the registers hold, which then see their scores computed once a part).
struct TileItem {
  std::int64_t first;  ///< row
  std::int64_t head;
  std::int64_t column;  ///< of the head
};

struct TileItems {
  std::int64_t tiles, heads, parts, part_columns;

  TileItems(std::int64_t rows, std::int64_t head_count, std::int64_t head_dim, std::int64_t columns)
      : tiles((rows + kTile - 1) / kTile),
        heads(head_count),
        parts((head_dim + columns - 1) / columns),
        part_columns(columns) {}
  [[nodiscard]] constexpr std::int64_t count() const { return tiles * heads * parts; }
  [[nodiscard]] constexpr TileItem at(std::int64_t i) const {
    const std::int64_t tile = i / (heads * parts);
    const std::int64_t rest = i - tile * heads * parts;
    // The last tiles of a document have the most keys, so they start first.
    return {(tiles - 1 - tile) * kTile, rest / parts, rest % parts * part_columns};
  }
};

}  // namespace kernels::cuda
