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
constexpr int kEdge = 16;  ///< threads along one edge of a tile

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

/// Zero where the row or the column does not exist.
__device__ inline float head_value(const HeadRows& rows, int row, std::int64_t column, std::int64_t head_dim) {
  return row < rows.count && column < head_dim ? rows.data[row * rows.stride + column] : 0.0F;
}

/// A thread's share of up to `kParts` times 64 columns of a result.
template <int kParts>
struct Columns {
  Share part[kParts];
};

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
