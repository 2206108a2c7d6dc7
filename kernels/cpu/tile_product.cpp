#include "kernels/cpu/tile_product.h"

#include "kernels/cpu/simd.h"

namespace kernels::cpu {
namespace {

/// All columns of a block of exactly Rows rows. Six accumulators of sixteen lanes hide the latency of the multiply-adds
/// on every processor and still fit the sixteen registers of AVX2.
template <int Rows>
[[gnu::always_inline]] inline void block(const TileSize& size, TileLeft left, TileRight right, bool accumulate,
                                         float* c, std::int64_t c_stride) {
  for (std::int64_t col = 0; col < size.cols; col += kLanes) {
    Lanes sums[Rows];
    for (int r = 0; r < Rows; ++r) {
      sums[r] = accumulate ? lanes_at(c + r * c_stride + col) : Lanes{};
    }
    const float* from = right.data + col;
    const float* factor = left.data;
    for (std::int64_t k = 0; k < size.depth; ++k) {
      const Lanes lanes = lanes_at(from);
#pragma GCC unroll 6
      for (int r = 0; r < Rows; ++r) sums[r] += factor[r * left.row_stride] * lanes;
      from += right.stride;
      factor += left.depth_stride;
    }
    for (int r = 0; r < Rows; ++r) lanes_at(c + r * c_stride + col) = sums[r];
  }
}

}  // namespace

FULLBAND_CLONES void tile_product(const TileSize& size, TileLeft left, TileRight right, bool accumulate, float* c,
                                  std::int64_t c_stride) {
  switch (size.rows) {
    case 1:
      return block<1>(size, left, right, accumulate, c, c_stride);
    case 2:
      return block<2>(size, left, right, accumulate, c, c_stride);
    case 3:
      return block<3>(size, left, right, accumulate, c, c_stride);
    case 4:
      return block<4>(size, left, right, accumulate, c, c_stride);
    case 5:
      return block<5>(size, left, right, accumulate, c, c_stride);
    default:
      return block<6>(size, left, right, accumulate, c, c_stride);
  }
}

}  // namespace kernels::cpu
