// The innermost matrix product of the CPU: sums of a tile stay in registers over the whole depth. Attention calls it on
// operands in cache, and whole products are made of it (product.h).
#pragma once

#include <cstdint>

#include "kernels/cpu/simd.h"

namespace kernels::cpu {

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

/// Any rows, columns a multiple of kLanes, any depth.
struct TileSize {
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t depth;
};

/// c[rows, cols] (=, or += when `accumulate`) left[rows, depth] right[depth, cols]. Each element is summed in the order
/// of the depth, beginning with what it held, whatever the processor and the other elements are.
void tile_product(const TileSize& size, const TileLeft& left, TileRight right, bool accumulate, float* c,
                  std::int64_t c_stride);
/// What tile_product() does on processors without AVX-512: the same bits where both fuse their multiply-adds.
void narrow_tile_product(const TileSize& size, const TileLeft& left, TileRight right, bool accumulate, float* c,
                         std::int64_t c_stride);

}  // namespace kernels::cpu
