// What the forward and the backward pass of attention share: documents, slices of one head, and packing.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/transpose.h"
#include "kernels/cpu/workspace.h"

namespace kernels::cpu {

/// Queries or keys whose products are computed together.
constexpr std::int64_t kTileRows = 8;

/// Rows of each document.
void find_documents(ConstIndexView positions, std::vector<Range>& documents);
std::int64_t longest_of(const std::vector<Range>& documents);

/// Keys that the row `row` of a document sees, counted from the document's start.
inline Range visible_keys(std::int64_t row, std::int64_t window) {
  return {window > 0 && row >= window ? row - window + 1 : 0, row + 1};
}

/// The columns of head `head` in the rows of a document.
inline ConstView head_slice(ConstView x, Range document, std::int64_t head, std::int64_t head_dim) {
  return x.row_range(document.begin, document.count()).column_range(head * head_dim, head_dim);
}
inline View head_slice(View x, Range document, std::int64_t head, std::int64_t head_dim) {
  return x.row_range(document.begin, document.count()).column_range(head * head_dim, head_dim);
}

/// to[cols, padded(rows)] = x^T, with zeros where there is no row.
inline void pack_transposed(ConstView x, float* to) { transpose(x, to, padded(x.rows)); }
/// to[rows, padded(cols)] = x, with zeros where there is no column.
void pack_rows(ConstView x, float* to);
void unpack_rows(const float* from, View x);
/// Every value of x is finite.
bool all_finite(ConstView x);

}  // namespace kernels::cpu
