// Products with a weight, shared out by rows of the result.
#include <algorithm>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/product.h"
#include "kernels/cpu/small_product.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

// So few rows do not pay for packing the weight. Decoding's batches are this small, and each of their rows has the same
// bits as alone.
constexpr std::int64_t kFewRows = 64;

}  // namespace

void CpuBackend::linear(ConstView x, ConstView w, View y, Write write) {
  shapes::linear(x, w, y);
  const bool accumulate = write == Write::accumulate;
  if (x.rows <= kFewRows) {
    // Decoding reads each weight for few rows: what is shared out is the weight. Waking a thread costs more than a
    // product of a few microseconds, but reading a weight that is in no near cache takes longer than its product.
    const std::int64_t reading = w.cols / 8;
    for_rows(threads_, w.rows, x.rows * w.cols / 16 + reading, [&](Range part) {
      small_product(x, w.row_range(part.begin, part.count()), accumulate, y.column_range(part.begin, part.count()));
    });
    return;
  }
  const Panels weight = packed_transposed(w, workspace_.floats(panel_floats(w.cols, w.rows)));
  for_rows(threads_, y.rows, w.rows * w.cols / 16, [&](Range part) {
    product(plain_left(x.row_range(part.begin, part.count())), weight, w.cols, accumulate,
            y.row_range(part.begin, part.count()));
  });
}

void CpuBackend::linear_backward_input(ConstView dy, ConstView w, View dx, Write write) {
  shapes::linear_backward_input(dy, w, dx);
  const Panels weight = packed(w, workspace_.floats(panel_floats(w.rows, w.cols)));
  for_rows(threads_, dx.rows, w.rows * w.cols / 16, [&](Range part) {
    product(plain_left(dy.row_range(part.begin, part.count())), weight, w.rows, write == Write::accumulate,
            dx.row_range(part.begin, part.count()));
  });
}

void CpuBackend::linear_backward_weight(ConstView dy, ConstView x, View dw, Write write) {
  shapes::linear_backward_weight(dy, x, dw);
  const Panels inputs = in_place_or_packed(x, workspace_.floats(in_place_floats(x)));
  // Each part reads all inputs: few rows would not pay for it.
  constexpr std::int64_t kRowsOfPart = 32;
  const int team = team_size(threads_, dw.rows * dy.rows * dw.cols / 16);
  for_parts(team, dw.rows, kRowsOfPart, [&](int /*thread*/, Range part) {
    product(transposed_left(dy.column_range(part.begin, part.count())), inputs, dy.rows, write == Write::accumulate,
            dw.row_range(part.begin, part.count()));
  });
}

Panels CpuBackend::packed(ConstView b, float* to) const {
  for_rows(threads_, panel_count(b.cols), kPanel * b.rows / 8,
           [&](Range part) { pack_panels(b, part.begin, part.count(), to); });
  return packed_panels(to, b.rows);
}

Panels CpuBackend::packed_transposed(ConstView b, float* to) const {
  for_rows(threads_, panel_count(b.rows), kPanel * b.cols / 4,
           [&](Range part) { pack_panels_transposed(b, part.begin, part.count(), to); });
  return packed_panels(to, b.cols);
}

}  // namespace kernels::cpu
