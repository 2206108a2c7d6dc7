// Causal attention inside documents (method page, "The stack"), forward: eight queries at a time against chunks of
// keys, with the running maximum and sum of the online softmax (Milakov and Gimelshein 2018), so that no T x T matrix
// exists.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/attention_parts.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/cpu/tile_product.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t kKeyChunk = 256;
constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Operands of one head in one document.
struct HeadForward {
  ConstView q, k, v;
  View y;
  float* logsumexp;  ///< of the first row; the next is `logsumexp_stride` further
  std::int64_t logsumexp_stride;
  std::int64_t window;
  float scale;
};

/// One thread's memory for the longest document.
struct ForwardScratch {
  float* keys;    ///< [d, padded(T)], transposed
  float* values;  ///< [T, padded(d)], used when d is not a whole number of vectors
  float* scores;  ///< [kTileRows, kKeyChunk]
  float* out;     ///< [kTileRows, padded(d)]

  static std::int64_t floats(std::int64_t longest, std::int64_t d) {
    return d * padded(longest) + longest * padded(d) + kTileRows * (kKeyChunk + padded(d));
  }
  ForwardScratch(float* data, std::int64_t longest, std::int64_t d)
      : keys(data),
        values(keys + d * padded(longest)),
        scores(values + longest * padded(d)),
        out(scores + kTileRows * kKeyChunk) {}
};

/// Maximum and sum of exponentials of one query so far.
struct RunningSoftmax {
  float top = kMinusInfinity;
  float sum = 0.0F;
};

/// Turns the raw scores of one query and one chunk into weights relative to the new maximum; returns the factor by
/// which what was summed before must shrink. Scores outside `seen` (within the chunk) become weights of zero.
FULLBAND_CLONES float weigh_chunk(Range seen, std::int64_t count, float scale, float* scores, RunningSoftmax& running) {
  mask_outside(seen.begin, seen.end, count, scores);
  const float top = std::max(running.top, largest_of(scores, count) * scale);
  Lanes sums{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    for (std::int64_t lane = i; lane < i + kLanes; ++lane) scores[lane] = exp_float(scores[lane] * scale - top);
    sums += lanes_at(scores + i);
  }
  const float shrink = running.sum == 0.0F ? 0.0F : exp_float(running.top - top);
  running.sum = running.sum * shrink + sum_of_lanes(sums);
  running.top = top;
  return shrink;
}

/// Rows [first, first + rows) of one head.
void attend_rows(const HeadForward& head, const ForwardScratch& scratch, TileRight values, std::int64_t first,
                 std::int64_t rows) {
  const std::int64_t d = head.q.cols;
  const bool direct = padded(d) == d;
  float* out = direct ? head.y.row(first) : scratch.out;
  const std::int64_t out_stride = direct ? head.y.stride : padded(d);
  const std::int64_t end = first + rows;
  const std::int64_t begin = visible_keys(first, head.window).begin / kLanes * kLanes;
  RunningSoftmax running[kTileRows];
  for (std::int64_t key = begin; key < end; key += kKeyChunk) {
    const std::int64_t keys = std::min(kKeyChunk, end - key);
    tile_product({rows, padded(keys), d}, {head.q.row(first), head.q.stride, 1},
                 {scratch.keys + key, padded(head.k.rows)}, false, scratch.scores, kKeyChunk);
    for (std::int64_t r = 0; r < rows; ++r) {
      const Range seen = visible_keys(first + r, head.window);
      const Range inside{std::clamp<std::int64_t>(seen.begin - key, 0, keys),
                         std::clamp<std::int64_t>(seen.end - key, 0, keys)};
      const float shrink = weigh_chunk(inside, padded(keys), head.scale, scratch.scores + r * kKeyChunk, running[r]);
      if (key > begin) scale_into(out + r * out_stride, shrink, padded(d), out + r * out_stride);
    }
    tile_product({rows, padded(d), keys}, {scratch.scores, kKeyChunk, 1},
                 {values.data + key * values.stride, values.stride}, key > begin, out, out_stride);
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    scale_into(out + r * out_stride, 1.0F / running[r].sum, d, head.y.row(first + r));
    head.logsumexp[(first + r) * head.logsumexp_stride] = running[r].top + std::log(running[r].sum);
  }
}

/// The definition, row by row: for heads whose values are not finite, since a weight of zero times NaN would spoil rows
/// that do not see them.
void attend_plainly(const HeadForward& head, float* scores) {
  const std::int64_t d = head.q.cols;
  for (std::int64_t n = 0; n < head.q.rows; ++n) {
    const Range keys = visible_keys(n, head.window);
    float top = kMinusInfinity;
    for (std::int64_t m = keys.begin; m < keys.end; ++m) {
      scores[m] = head.scale * dot(head.q.row(n), head.k.row(m), d);
      top = std::max(top, scores[m]);
    }
    float sum = 0.0F;
    for (std::int64_t m = keys.begin; m < keys.end; ++m) sum += scores[m] = exp_float(scores[m] - top);
    std::fill_n(head.y.row(n), d, 0.0F);
    for (std::int64_t m = keys.begin; m < keys.end; ++m) {
      add_scaled(head.v.row(m), scores[m] / sum, d, head.y.row(n));
    }
    head.logsumexp[n * head.logsumexp_stride] = top + std::log(sum);
  }
}

void attend_head(const HeadForward& head, const ForwardScratch& scratch) {
  if (!all_finite(head.v)) {
    attend_plainly(head, scratch.keys);
    return;
  }
  pack_transposed(head.k, scratch.keys);
  const bool direct = padded(head.v.cols) == head.v.cols;
  if (!direct) pack_rows(head.v, scratch.values);
  const TileRight values =
      direct ? TileRight{head.v.data, head.v.stride} : TileRight{scratch.values, padded(head.v.cols)};
  for (std::int64_t first = 0; first < head.q.rows; first += kTileRows) {
    attend_rows(head, scratch, values, first, std::min(kTileRows, head.q.rows - first));
  }
}

}  // namespace

void CpuBackend::attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape,
                           View y, View logsumexp) {
  shapes::attention(q, k, v, positions, shape, y, logsumexp);
  shapes::check_documents("attention", positions);
  find_documents(positions, documents_);
  const std::int64_t d = shape.head_dim;
  const std::int64_t longest = longest_of(documents_);
  const std::int64_t tasks = static_cast<std::int64_t>(documents_.size()) * shape.heads;
  const int team = team_size(threads_, q.rows * shape.heads * d * longest / 16);
  const std::int64_t scratch_floats = padded(ForwardScratch::floats(longest, d));
  float* scratch = workspace_.floats(team * scratch_floats);
  for_parts(team, tasks, 1, [&](int thread, Range part) {
    const ForwardScratch own(scratch + thread * scratch_floats, longest, d);
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      const Range document = documents_[static_cast<std::size_t>(task / shape.heads)];
      const std::int64_t h = task % shape.heads;
      const std::int64_t g = h / (shape.heads / shape.kv_heads);
      attend_head({head_slice(q, document, h, d), head_slice(k, document, g, d), head_slice(v, document, g, d),
                   head_slice(y, document, h, d), logsumexp.row(document.begin) + h, logsumexp.stride, shape.window,
                   1.0F / std::sqrt(static_cast<float>(d))},
                  own);
    }
  });
}

}  // namespace kernels::cpu
