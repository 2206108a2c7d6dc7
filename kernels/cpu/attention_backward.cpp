// Causal attention inside documents, backward (Dao et al. 2022): the weights are recomputed from the saved logsumexp, a
// tile of queries and a chunk of keys at a time. One task is one key head of one document, so that every sum has one
// order.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/attention_parts.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/tile_product.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

// Multiples of kTileRows, so that a query's tile of keys ends with the query or after it.
constexpr std::int64_t kQueryTile = 8 * kTileRows;
constexpr std::int64_t kKeyChunk = 16 * kTileRows;

/// Rows of `d` floats that are read or summed by whole vectors: in place where d allows it, otherwise in padded
/// scratch.
struct PaddedRows {
  float* data;
  std::int64_t stride;
  [[nodiscard]] float* row(std::int64_t r) const { return data + r * stride; }
};

/// One thread's memory for the longest document.
struct BackwardScratch {
  float* keys_turned;    ///< [d, padded(T)]
  float* values_turned;  ///< [d, padded(T)]
  float* rows[6];        ///< [T, padded(d)] each: k, q, dy, dq, dk, dv
  float* weights;        ///< [kQueryTile, kKeyChunk]: scores, then softmax weights
  float* dscores;        ///< [kQueryTile, kKeyChunk]: gradients of the weights, then of the scores
  float* means;          ///< [padded(T)]: dy . y of each row, the mean of the weights' gradients

  static std::int64_t row_floats(std::int64_t longest, std::int64_t d) {
    return padded(d) == d ? 0 : longest * padded(d);
  }
  static std::int64_t floats(std::int64_t longest, std::int64_t d) {
    return (2 * d + 1) * padded(longest) + 6 * row_floats(longest, d) + 2 * kQueryTile * kKeyChunk;
  }
  BackwardScratch(float* data, std::int64_t longest, std::int64_t d)
      : keys_turned(data), values_turned(data + d * padded(longest)) {
    float* next = values_turned + d * padded(longest);
    for (float*& part : rows) {
      part = next;
      next += row_floats(longest, d);
    }
    weights = next;
    dscores = weights + kQueryTile * kKeyChunk;
    means = dscores + kQueryTile * kKeyChunk;
  }
};

/// Operands of one query head in one document.
struct HeadBackward {
  std::int64_t length;
  std::int64_t d;
  std::int64_t window;
  float scale;
  bool first_of_group;  ///< dk and dv hold nothing yet
  ConstView logsumexp;  ///< [T, 1]
  TileRight q, k, dy;   ///< [T, padded(d)]
  PaddedRows dq, dk, dv;
};

TileRight readable(ConstView x, float* scratch) {
  if (padded(x.cols) == x.cols) return {x.data, x.stride};
  pack_rows(x, scratch);
  return {scratch, padded(x.cols)};
}

PaddedRows writable(View x, float* scratch) {
  if (padded(x.cols) == x.cols) return {x.data, x.stride};
  return {scratch, padded(x.cols)};
}

void finish(View x, const PaddedRows& rows) {
  if (rows.data != x.data) unpack_rows(rows.data, x);
}

/// means[n] = dy[n] . y[n]
FULLBAND_CLONES void row_products(std::int64_t rows, std::int64_t d, const float* dy, std::int64_t dy_stride,
                                  const float* y, std::int64_t y_stride, float* means) {
  for (std::int64_t n = 0; n < rows; ++n, dy += dy_stride, y += y_stride) {
    means[n] = lane_dot(dy, y, d);
  }
}

/// Softmax weights and score gradients of one query for `count` keys; keys outside `seen` get zero in both.
FULLBAND_CLONES void score_gradients(Range seen, std::int64_t count, float scale, float logsumexp, float mean,
                                     float* weights, float* dscores) {
  mask_outside(seen.begin, seen.end, count, weights);
#pragma omp simd
  for (std::int64_t i = 0; i < count; ++i) {
    const float p = exp_float(weights[i] * scale - logsumexp);
    weights[i] = p;
    dscores[i] = p * (dscores[i] - mean) * scale;
  }
}

/// Fills the tile's rows [first, first + rows) against the chunk and adds their share of dq. `base` is the tile's first
/// row.
void query_rows(const HeadBackward& head, const BackwardScratch& scratch, Range chunk, std::int64_t base,
                std::int64_t first, std::int64_t rows) {
  float* weights = scratch.weights + (first - base) * kKeyChunk;
  float* dscores = scratch.dscores + (first - base) * kKeyChunk;
  const Range block{visible_keys(first, head.window).begin, first + rows};
  const std::int64_t begin = std::max(chunk.begin, block.begin / kLanes * kLanes);
  const std::int64_t end = std::min(chunk.end, block.end);
  // Keys that a window has left behind; keys after the queries are never read.
  const std::int64_t offset = std::min(begin, chunk.end) - chunk.begin;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::fill_n(weights + r * kKeyChunk, offset, 0.0F);
    std::fill_n(dscores + r * kKeyChunk, offset, 0.0F);
  }
  if (begin >= end) return;
  const std::int64_t count = padded(end - begin);
  const std::int64_t turned_stride = padded(head.length);
  tile_product({rows, count, head.d}, {head.q.data + first * head.q.stride, head.q.stride, 1},
               {scratch.keys_turned + begin, turned_stride}, false, weights + offset, kKeyChunk);
  tile_product({rows, count, head.d}, {head.dy.data + first * head.dy.stride, head.dy.stride, 1},
               {scratch.values_turned + begin, turned_stride}, false, dscores + offset, kKeyChunk);
  for (std::int64_t r = 0; r < rows; ++r) {
    const Range seen = visible_keys(first + r, head.window);
    const Range inside{std::clamp<std::int64_t>(seen.begin - begin, 0, end - begin),
                       std::clamp<std::int64_t>(seen.end - begin, 0, end - begin)};
    score_gradients(inside, count, head.scale, head.logsumexp.row(first + r)[0], scratch.means[first + r],
                    weights + r * kKeyChunk + offset, dscores + r * kKeyChunk + offset);
  }
  tile_product({rows, padded(head.d), end - begin}, {dscores + offset, kKeyChunk, 1},
               {head.k.data + begin * head.k.stride, head.k.stride}, begin > block.begin / kLanes * kLanes,
               head.dq.row(first), head.dq.stride);
}

/// Adds the tile's share of dk and dv for the keys [first, first + rows) of the chunk.
void key_rows(const HeadBackward& head, const BackwardScratch& scratch, Range chunk, Range tile, std::int64_t first,
              std::int64_t rows) {
  // Queries before a key do not see it.
  const std::int64_t begin = std::max(tile.begin, first);
  if (begin >= tile.end) return;
  const std::int64_t at = (begin - tile.begin) * kKeyChunk + first - chunk.begin;
  const TileSize size{rows, padded(head.d), tile.end - begin};
  // The first tile that sees a key holds the key's own row.
  const bool add = !head.first_of_group || first < tile.begin;
  tile_product(size, {scratch.weights + at, 1, kKeyChunk}, {head.dy.data + begin * head.dy.stride, head.dy.stride}, add,
               head.dv.row(first), head.dv.stride);
  tile_product(size, {scratch.dscores + at, 1, kKeyChunk}, {head.q.data + begin * head.q.stride, head.q.stride}, add,
               head.dk.row(first), head.dk.stride);
}

void head_gradients(const HeadBackward& head, const BackwardScratch& scratch) {
  for (std::int64_t q = 0; q < head.length; q += kQueryTile) {
    const Range tile{q, std::min(head.length, q + kQueryTile)};
    const std::int64_t first_key = visible_keys(q, head.window).begin / kKeyChunk * kKeyChunk;
    for (std::int64_t k = first_key; k < tile.end; k += kKeyChunk) {
      const Range chunk{k, std::min(head.length, k + kKeyChunk)};
      for (std::int64_t r = tile.begin; r < tile.end; r += kTileRows) {
        query_rows(head, scratch, chunk, tile.begin, r, std::min(kTileRows, tile.end - r));
      }
      for (std::int64_t r = chunk.begin; r < chunk.end; r += kTileRows) {
        key_rows(head, scratch, chunk, tile, r, std::min(kTileRows, chunk.end - r));
      }
    }
  }
}

/// Operands of the whole operation.
struct BackwardOperands {
  ConstView dy, q, k, v, y, logsumexp;
  View dq, dk, dv;
  AttentionShape shape;
};

/// All query heads of one key head in one document.
void group_gradients(const BackwardOperands& o, Range document, std::int64_t g, const BackwardScratch& scratch) {
  const std::int64_t d = o.shape.head_dim;
  const std::int64_t group = o.shape.heads / o.shape.kv_heads;
  const ConstView k = head_slice(o.k, document, g, d);
  const View dk_out = head_slice(o.dk, document, g, d), dv_out = head_slice(o.dv, document, g, d);
  pack_transposed(k, scratch.keys_turned);
  pack_transposed(head_slice(o.v, document, g, d), scratch.values_turned);
  const TileRight k_rows = readable(k, scratch.rows[0]);
  const PaddedRows dk = writable(dk_out, scratch.rows[4]), dv = writable(dv_out, scratch.rows[5]);
  for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
    const ConstView dy = head_slice(o.dy, document, h, d);
    const View dq_out = head_slice(o.dq, document, h, d);
    const PaddedRows dq = writable(dq_out, scratch.rows[3]);
    const ConstView y = head_slice(o.y, document, h, d);
    row_products(document.count(), d, dy.data, dy.stride, y.data, y.stride, scratch.means);
    head_gradients({document.count(), d, o.shape.window, 1.0F / std::sqrt(static_cast<float>(d)), h == g * group,
                    head_slice(o.logsumexp, document, h, 1), readable(head_slice(o.q, document, h, d), scratch.rows[1]),
                    k_rows, readable(dy, scratch.rows[2]), dq, dk, dv},
                   scratch);
    finish(dq_out, dq);
  }
  finish(dk_out, dk);
  finish(dv_out, dv);
}

}  // namespace

void CpuBackend::attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y,
                                    ConstView logsumexp, ConstIndexView positions, const AttentionShape& shape, View dq,
                                    View dk, View dv) {
  shapes::attention_backward(dy, q, k, v, y, logsumexp, positions, shape, dq, dk, dv);
  shapes::check_documents("attention_backward", positions);
  find_documents(positions, documents_);
  const std::int64_t longest = longest_of(documents_);
  const std::int64_t tasks = static_cast<std::int64_t>(documents_.size()) * shape.kv_heads;
  const int team = team_size(threads_, q.rows * q.cols * longest / 8);
  const std::int64_t scratch_floats = padded(BackwardScratch::floats(longest, shape.head_dim));
  float* scratch = workspace_.floats(team * scratch_floats);
  const BackwardOperands operands{dy, q, k, v, y, logsumexp, dq, dk, dv, shape};
  for_parts(team, tasks, 1, [&](int thread, Range part) {
    const BackwardScratch own(scratch + thread * scratch_floats, longest, shape.head_dim);
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      group_gradients(operands, documents_[static_cast<std::size_t>(task / shape.kv_heads)], task % shape.kv_heads,
                      own);
    }
  });
}

}  // namespace kernels::cpu
