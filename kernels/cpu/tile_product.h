// The small matrix product inside attention: a few rows at a time, operands in cache, results in registers.
#pragma once

#include <cstdint>

#include "kernels/cpu/simd.h"

namespace kernels::cpu {

constexpr std::int64_t kTileRows = 6;  ///< rows that one tile product computes at most

/// Left operand: element (i, k) is data[i * row_stride + k * depth_stride], so that a transpose costs nothing.
struct TileLeft {
  const float* data;
  std::int64_t row_stride;
  std::int64_t depth_stride;
};

/// Row-major memory with `stride` floats between rows.
struct TileRight {
  const float* data;
  std::int64_t stride;
};

/// Rows 1..kTileRows, columns a multiple of kLanes, any depth.
struct TileSize {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t depth;
};

/// c[rows, cols] (=, or += when `accumulate`) left[rows, depth] right[depth, cols]
void tile_product(const TileSize& size, TileLeft left, TileRight right, bool accumulate, float* c,
                  std::int64_t c_stride);

}  // namespace kernels::cpu
