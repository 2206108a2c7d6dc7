// One query a row against a cache of keys and values: decoding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/lane_sums.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

/// The heads of one row that read the key heads [first, first + count), against the keys that the row sees. Key heads
/// lie side by side in a row of the cache, so all of them are read together.
struct RowHeads {
  const float* q;         ///< of the first head
  ConstView keys;         ///< [T, count * d]
  ConstView values;       ///< [T, count * d]
  std::int64_t head_dim;  ///< d
  std::int64_t count;     ///< key heads
  std::int64_t group;     ///< heads that share a key head
  float* y;               ///< of the first head
};

/// Dot products of q with four keys, each with the bits that it has alone.
[[gnu::always_inline]] inline Four four_scores(const float* q, const float* keys, std::int64_t stride, std::int64_t d) {
  const std::int64_t whole = d / kLanes * kLanes;
  Lanes sums[4] = {};
  for (std::int64_t i = 0; i < whole; i += kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) sums[k] += lanes_at(q + i) * lanes_at(keys + k * stride + i);
  }
  Four four = sums_of_four(sums[0], sums[1], sums[2], sums[3]);
  for (std::int64_t i = whole; i < d; ++i) {
    for (int k = 0; k < 4; ++k) four[k] += q[i] * keys[k * stride + i];
  }
  return four;
}

[[gnu::always_inline]] inline float one_score(const float* q, const float* key, std::int64_t d) {
  Lanes sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= d; i += kLanes) sums += lanes_at(q + i) * lanes_at(key + i);
  float sum = sum_of_lanes(sums);
  for (; i < d; ++i) sum += q[i] * key[i];
  return sum;
}

/// scores[h * stride + t] = scale * q[h] . k[t]
FULLBAND_CLONES void key_scores(const RowHeads& row, float scale, std::int64_t stride, float* scores) {
  const std::int64_t heads = row.count * row.group, d = row.head_dim;
  std::int64_t t = 0;
  for (; t + 4 <= row.keys.rows; t += 4) {
    for (std::int64_t h = 0; h < heads; ++h) {
      const float* keys = row.keys.row(t) + h / row.group * d;
      *reinterpret_cast<Four*>(scores + h * stride + t) = scale * four_scores(row.q + h * d, keys, row.keys.stride, d);
    }
  }
  for (; t < row.keys.rows; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      scores[h * stride + t] = scale * one_score(row.q + h * d, row.keys.row(t) + h / row.group * d, d);
    }
  }
}

/// scores = e^(scores - their maximum), with zeros up to a whole vector; returns their sum.
FULLBAND_CLONES float exponentials(std::int64_t n, float* scores) {
  const std::int64_t count = padded(n);
  for (std::int64_t i = n; i < count; ++i) scores[i] = -std::numeric_limits<float>::infinity();
  const float top = largest_of(scores, count);
  Lanes sums{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    for (std::int64_t lane = i; lane < i + kLanes; ++lane) scores[lane] = exp_float(scores[lane] - top);
    sums += lanes_at(scores + i);
  }
  return sum_of_lanes(sums);
}

/// The weights of one head, less a factor, and where they lie.
struct Weights {
  const float* data;
  std::int64_t stride;  ///< to the next head that reads the next key head
  const float* factors;
  std::int64_t factor_stride;
};

/// Columns [c, c + Vectors * kLanes) of y = sum over keys of factor * weight * value, in the order of the keys. A
/// vector of columns belongs to one head.
template <int Vectors>
[[gnu::always_inline]] inline void weighted_columns(const Weights& weights, ConstView values, std::int64_t head_dim,
                                                    std::int64_t c, float* y, std::int64_t y_stride) {
  Lanes sums[Vectors] = {};
  const float* weight[Vectors];
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) weight[v] = weights.data + (c + v * kLanes) / head_dim * weights.stride;
  for (std::int64_t t = 0; t < values.rows; ++t) {
    const float* value = values.row(t) + c;
#pragma GCC unroll 8
    for (int v = 0; v < Vectors; ++v) sums[v] += weight[v][t] * lanes_at(value + v * kLanes);
  }
#pragma GCC unroll 8
  for (int v = 0; v < Vectors; ++v) {
    const std::int64_t column = c + v * kLanes, head = column / head_dim;
    lanes_at(y + head * y_stride + column % head_dim) = sums[v] * weights.factors[head * weights.factor_stride];
  }
}

/// Heads of any width: whole vectors of each, then its last columns one by one.
[[gnu::always_inline]] inline void weighted_ragged_heads(const Weights& weights, ConstView values,
                                                         std::int64_t head_dim, float* y, std::int64_t y_stride) {
  for (std::int64_t head = 0; head * head_dim < values.cols; ++head) {
    const float* weight = weights.data + head * weights.stride;
    const float factor = weights.factors[head * weights.factor_stride];
    for (std::int64_t c = 0; c < head_dim; ++c) {
      float sum = 0.0F;
      for (std::int64_t t = 0; t < values.rows; ++t) sum += weight[t] * values.row(t)[head * head_dim + c];
      y[head * y_stride + c] = sum * factor;
    }
  }
}

/// One head of each group: y = sum over keys of factor * weight * value.
FULLBAND_CLONES void weighted_sums(const Weights& weights, ConstView values, std::int64_t head_dim, float* y,
                                   std::int64_t y_stride) {
  if (head_dim % kLanes != 0) return weighted_ragged_heads(weights, values, head_dim, y, y_stride);
  std::int64_t c = 0;
  for (; c + 8 * kLanes <= values.cols; c += 8 * kLanes) {
    weighted_columns<8>(weights, values, head_dim, c, y, y_stride);
  }
  for (; c + 2 * kLanes <= values.cols; c += 2 * kLanes) {
    weighted_columns<2>(weights, values, head_dim, c, y, y_stride);
  }
  for (; c < values.cols; c += kLanes) weighted_columns<1>(weights, values, head_dim, c, y, y_stride);
}

/// `scratch` has room for a score a key, rounded up to `stride`, and a factor, for each head.
void attend(const RowHeads& row, std::int64_t stride, float* scratch) {
  const std::int64_t heads = row.count * row.group;
  float* factors = scratch + heads * stride;
  key_scores(row, 1.0F / std::sqrt(static_cast<float>(row.head_dim)), stride, scratch);
  for (std::int64_t h = 0; h < heads; ++h) factors[h] = 1.0F / exponentials(row.keys.rows, scratch + h * stride);
  for (std::int64_t member = 0; member < row.group; ++member) {
    weighted_sums({scratch + member * stride, row.group * stride, factors + member, row.group}, row.values,
                  row.head_dim, row.y + member * row.head_dim, row.group * row.head_dim);
  }
}

}  // namespace

void CpuBackend::decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first,
                                  ConstIndexView length, const AttentionShape& shape, View y) {
  shapes::decode_attention(q, k_cache, v_cache, first, length, shape, y);
  shapes::check_cache_ranges("decode_attention", first, length, k_cache.rows);
  if (q.rows == 0) return;
  const std::int64_t longest = *std::max_element(length.data, length.data + length.count);
  // One task is a row, or one of its key heads where there are fewer rows than threads.
  const std::int64_t count = q.rows < threads_ ? 1 : shape.kv_heads;
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t tasks_of_row = shape.kv_heads / count;
  const std::int64_t stride = padded(longest);
  const std::int64_t scratch_floats = padded(count * group * (stride + 1));
  const int team = team_size(threads_, q.rows * shape.heads * longest * shape.head_dim / 2);
  float* scratch = workspace_.floats(team * scratch_floats);
  for_parts(team, q.rows * tasks_of_row, 1, [&](int thread, Range part) {
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      const std::int64_t r = task / tasks_of_row;
      const std::int64_t column = task % tasks_of_row * shape.head_dim;
      const std::int64_t seen =
          shape.window > 0 ? std::min<std::int64_t>(length.data[r], shape.window) : length.data[r];
      const std::int64_t begin = first.data[r] + length.data[r] - seen;
      const std::int64_t width = count * shape.head_dim;
      attend({q.row(r) + column * group, k_cache.row_range(begin, seen).column_range(column, width),
              v_cache.row_range(begin, seen).column_range(column, width), shape.head_dim, count, group,
              y.row(r) + column * group},
             stride, scratch + thread * scratch_floats);
    }
  });
}

}  // namespace kernels::cpu
