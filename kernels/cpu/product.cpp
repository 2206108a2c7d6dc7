#include "kernels/cpu/product.h"

#include <algorithm>

#include "kernels/cpu/transpose.h"

namespace kernels::cpu {
namespace {

// A panel of this depth streams from the second cache, where the rows' part of the left operand stays, too. Down the
// columns of a transposed operand the nearest cache must hold both.
constexpr std::int64_t kDepth = 512;
constexpr std::int64_t kTransposedDepth = 256;
constexpr std::int64_t kRows = 128;

/// The last panel where it ends inside a vector: whole vectors beside c, then what belongs there.
void ragged_panel(const TileSize& size, const TileLeft& left, TileRight right, bool accumulate, View c) {
  float whole[kRows * kPanel];
  if (accumulate) {
    for (std::int64_t r = 0; r < size.rows; ++r) std::copy_n(c.row(r), c.cols, whole + r * kPanel);
  }
  tile_product(size, left, right, accumulate, whole, kPanel);
  for (std::int64_t r = 0; r < size.rows; ++r) std::copy_n(whole + r * kPanel, c.cols, c.row(r));
}

/// All panels for rows that stay in cache.
void row_block(const TileLeft& left, Panels right, std::int64_t depth, bool accumulate, View c) {
  for (std::int64_t col = 0; col < c.cols; col += kPanel) {
    const View part = c.column_range(col, std::min(kPanel, c.cols - col));
    const TileSize size{c.rows, padded(part.cols), depth};
    const TileRight panel{right.data + col / kPanel * right.panel_stride, right.row_stride};
    if (size.cols == part.cols) {
      tile_product(size, left, panel, accumulate, part.data, part.stride);
    } else {
      ragged_panel(size, left, panel, accumulate, part);
    }
  }
}

}  // namespace

void pack_panels(ConstView b, std::int64_t first, std::int64_t count, float* to) {
  for (std::int64_t panel = first; panel < first + count; ++panel) {
    const std::int64_t col = panel * kPanel;
    const std::int64_t cols = std::min(kPanel, b.cols - col);
    float* into = to + panel * b.rows * kPanel;
    for (std::int64_t k = 0; k < b.rows; ++k, into += kPanel) {
      std::copy_n(b.row(k) + col, cols, into);
      std::fill(into + cols, into + kPanel, 0.0F);
    }
  }
}

void pack_panels_transposed(ConstView b, std::int64_t first, std::int64_t count, float* to) {
  for (std::int64_t panel = first; panel < first + count; ++panel) {
    const std::int64_t row = panel * kPanel;
    transpose(b.row_range(row, std::min(kPanel, b.rows - row)), to + panel * b.cols * kPanel, kPanel);
  }
}

Panels in_place_or_packed(ConstView b, float* scratch) {
  if (b.cols % kLanes == 0) return {b.data, kPanel, b.stride};
  pack_panels(b, 0, panel_count(b.cols), scratch);
  return packed_panels(scratch, b.rows);
}

void product(const TileLeft& left, Panels right, std::int64_t depth, bool accumulate, View c) {
  if (depth == 0 && !accumulate) {
    for (std::int64_t r = 0; r < c.rows; ++r) std::fill_n(c.row(r), c.cols, 0.0F);
  }
  const std::int64_t block = left.depth_stride == 1 ? kDepth : kTransposedDepth;
  for (std::int64_t k = 0; k < depth; k += block) {
    for (std::int64_t row = 0; row < c.rows; row += kRows) {
      const TileLeft rows{left.data + row * left.row_stride + k * left.depth_stride, left.row_stride,
                          left.depth_stride};
      row_block(rows, {right.data + k * right.row_stride, right.panel_stride, right.row_stride},
                std::min(block, depth - k), accumulate || k > 0, c.row_range(row, std::min(kRows, c.rows - row)));
    }
  }
}

}  // namespace kernels::cpu
