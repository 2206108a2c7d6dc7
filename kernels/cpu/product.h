// Products of whole matrices on the calling thread, to be called from the parts of an operation. Made of tiles whose
// left operand is read where it lies; the right one is read in panels of kPanel columns.
#pragma once

#include <cstdint>

#include "kernels/cpu/tile_product.h"
#include "kernels/cpu/workspace.h"
#include "kernels/tensor.h"

namespace kernels::cpu {

constexpr std::int64_t kPanel = 2 * kLanes;

/// A right operand [depth, cols]: element (k, n) is data[n / kPanel * panel_stride + k * row_stride + n % kPanel].
/// Columns up to the next multiple of kLanes can be read.
struct Panels {
  const float* data;
  std::int64_t panel_stride;
  std::int64_t row_stride;
};

constexpr std::int64_t panel_count(std::int64_t cols) { return (cols + kPanel - 1) / kPanel; }
/// Floats that packed panels take.
constexpr std::int64_t panel_floats(std::int64_t depth, std::int64_t cols) {
  return panel_count(cols) * kPanel * depth;
}
/// Packs the panels [first, first + count) of b[depth, cols], where `to` is the place of panel 0.
void pack_panels(ConstView b, std::int64_t first, std::int64_t count, float* to);
/// The same of the transpose of b[cols, depth].
void pack_panels_transposed(ConstView b, std::int64_t first, std::int64_t count, float* to);
inline Panels packed_panels(const float* data, std::int64_t depth) { return {data, depth * kPanel, kPanel}; }

/// Floats that in_place_or_packed() writes for b: none where b can be read as it lies.
constexpr std::int64_t in_place_floats(ConstView b) { return b.cols % kLanes == 0 ? 0 : panel_floats(b.rows, b.cols); }
/// The operand b[depth, cols] where it lies, or packed into `scratch` when its rows end inside a vector.
Panels in_place_or_packed(ConstView b, float* scratch);

/// The operand a[M,K] as it is, or the transpose of a[K,M].
inline TileLeft plain_left(ConstView a) { return {a.data, a.stride, 1}; }
inline TileLeft transposed_left(ConstView a) { return {a.data, 1, a.stride}; }

/// c[M,N] (=, or += when `accumulate`) left[M,depth] right[depth,N]. Each element is summed in the order of the depth:
/// its bits depend on its own row and column alone.
void product(const TileLeft& left, Panels right, std::int64_t depth, bool accumulate, View c);

}  // namespace kernels::cpu
