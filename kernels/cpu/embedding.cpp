#include <algorithm>

#include "kernels/cpu/backend.h"
#include "kernels/shapes.h"

namespace kernels::cpu {

void CpuBackend::embed(ConstView table, ConstIndexView tokens, View y) {
  shapes::embed(table, tokens, y);
  shapes::check_range("embed", "tokens", tokens, 0, table.rows);
  for_rows(threads_, y.rows, y.cols / 4, [&](Range part) {
    for (std::int64_t n = part.begin; n < part.end; ++n) std::copy_n(table.row(tokens.data[n]), y.cols, y.row(n));
  });
}

void CpuBackend::embed_backward(ConstView dy, ConstIndexView tokens, View dtable, Write write) {
  shapes::embed_backward(dy, tokens, dtable);
  shapes::check_range("embed_backward", "tokens", tokens, 0, dtable.rows);
  if (write == Write::assign) fill(dtable, 0.0F);
  // Parts of the columns, so that every entry sums its rows in order whatever the thread count.
  const int team = team_size(threads_, dy.size() / 4);
  run_team(team, [&](int index) {
    const Range cols = part_of(dy.cols, index, team, 16);
    for (std::int64_t n = 0; n < dy.rows; ++n) {
      const float* from = dy.row(n);
      float* to = dtable.row(tokens.data[n]);
      for (std::int64_t c = cols.begin; c < cols.end; ++c) to[c] += from[c];
    }
  });
}

}  // namespace kernels::cpu
