#include "kernels/cpu/tile_product.h"

#include "kernels/cpu/simd.h"

namespace kernels::cpu {
namespace {

/// One tile of Rows rows and Vectors times kLanes columns, all of its sums in registers.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(std::int64_t depth, TileLeft left, TileRight right, bool accumulate, float* c,
                                        std::int64_t c_stride) {
  Lanes sums[Rows][Vectors];
  const float* rows[Rows];
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
    rows[r] = left.data + r * left.row_stride;
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) sums[r][v] = accumulate ? lanes_at(c + r * c_stride + v * kLanes) : Lanes{};
  }
  // Where the result is written for the first time, its memory is fetched during the sums instead of after them.
  if (!accumulate) {
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) __builtin_prefetch(c + r * c_stride + v * kLanes, 1);
    }
  }
  const float* from = right.data;
  for (std::int64_t k = 0; k < depth; ++k) {
    Lanes lanes[Vectors];
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) lanes[v] = lanes_at(from + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) sums[r][v] += rows[r][k * left.depth_stride] * lanes[v];
    }
    from += right.stride;
  }
#pragma GCC unroll 8
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < Vectors; ++v) lanes_at(c + r * c_stride + v * kLanes) = sums[r][v];
  }
}

/// All rows of a strip of columns: whole tiles of Rows rows, then the rest one by one size smaller.
template <int Rows, int Vectors>
[[gnu::always_inline]] inline void strip(std::int64_t rows, std::int64_t depth, TileLeft left, TileRight right,
                                         bool accumulate, float* c, std::int64_t c_stride) {
  for (; rows >= Rows; rows -= Rows) {
    tile<Rows, Vectors>(depth, left, right, accumulate, c, c_stride);
    left.data += Rows * left.row_stride;
    c += Rows * c_stride;
  }
  if constexpr (Rows > 1) {
    if (rows > 0) strip<Rows / 2, Vectors>(rows, depth, left, right, accumulate, c, c_stride);
  }
}

template <int Rows, int Vectors>
[[gnu::always_inline]] inline void strips(const TileSize& size, const TileLeft& left, TileRight right, bool accumulate,
                                          float* c, std::int64_t c_stride) {
  std::int64_t col = 0;
  for (; col + Vectors * kLanes <= size.cols; col += Vectors * kLanes) {
    strip<Rows, Vectors>(size.rows, size.depth, left, {right.data + col, right.stride}, accumulate, c + col, c_stride);
  }
  for (; col < size.cols; col += kLanes) {
    strip<Rows, 1>(size.rows, size.depth, left, {right.data + col, right.stride}, accumulate, c + col, c_stride);
  }
}

#if defined(FULLBAND_HAS_CLONES)
/// Sixteen accumulators for ten loads, of the thirty-two registers of AVX-512.
__attribute__((target("arch=x86-64-v4"))) void wide_product(const TileSize& size, const TileLeft& left, TileRight right,
                                                            bool accumulate, float* c, std::int64_t c_stride) {
  strips<8, 2>(size, left, right, accumulate, c, c_stride);
}

bool has_wide_registers() {
  static const bool has = __builtin_cpu_supports("x86-64-v4") != 0;
  return has;
}
#endif

}  // namespace

// Six accumulators of sixteen lanes hide the latency of the multiply-adds and fit the sixteen registers of AVX2.
FULLBAND_NARROW_CLONES void narrow_tile_product(const TileSize& size, const TileLeft& left, TileRight right,
                                                bool accumulate, float* c, std::int64_t c_stride) {
  strips<6, 1>(size, left, right, accumulate, c, c_stride);
}

void tile_product(const TileSize& size, const TileLeft& left, TileRight right, bool accumulate, float* c,
                  std::int64_t c_stride) {
#if defined(FULLBAND_HAS_CLONES)
  if (has_wide_registers()) return wide_product(size, left, right, accumulate, c, c_stride);
#endif
  narrow_tile_product(size, left, right, accumulate, c, c_stride);
}

}  // namespace kernels::cpu
