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

/// One score a key: scale * q . k. Four keys at a time give each the bits that it has alone.
FULLBAND_CLONES void key_scores(const float* q, ConstView keys, float scale, float* scores) {
  const std::int64_t whole = keys.cols / kLanes * kLanes;
  std::int64_t t = 0;
  for (; t + 4 <= keys.rows; t += 4) {
    Lanes sums[4] = {};
    for (std::int64_t i = 0; i < whole; i += kLanes) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) sums[k] += lanes_at(q + i) * lanes_at(keys.row(t + k) + i);
    }
    Four four = sums_of_four(sums[0], sums[1], sums[2], sums[3]);
    for (int k = 0; k < 4; ++k) {
      for (std::int64_t i = whole; i < keys.cols; ++i) four[k] += q[i] * keys.row(t + k)[i];
      scores[t + k] = scale * four[k];
    }
  }
  for (; t < keys.rows; ++t) {
    const float* k = keys.row(t);
    Lanes sums{};
    for (std::int64_t i = 0; i < whole; i += kLanes) sums += lanes_at(q + i) * lanes_at(k + i);
    float sum = sum_of_lanes(sums);
    for (std::int64_t i = whole; i < keys.cols; ++i) sum += q[i] * k[i];
    scores[t] = scale * sum;
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

/// y = sum over keys of weights[t] * factor * values[t]. Four sums, so that none waits for the one before it.
FULLBAND_CLONES void weighted_sum(const float* weights, float factor, ConstView values, float* y) {
  const std::int64_t fours = values.rows / 4 * 4;
  std::int64_t c = 0;
  for (; c + kLanes <= values.cols; c += kLanes) {
    Lanes sums[4] = {};
    for (std::int64_t t = 0; t < fours; t += 4) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) sums[k] += weights[t + k] * lanes_at(values.row(t + k) + c);
    }
    for (std::int64_t t = fours; t < values.rows; ++t) sums[0] += weights[t] * lanes_at(values.row(t) + c);
    lanes_at(y + c) = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * factor;
  }
  for (; c < values.cols; ++c) {
    float sum = 0.0F;
    for (std::int64_t t = 0; t < values.rows; ++t) sum += weights[t] * values.row(t)[c];
    y[c] = sum * factor;
  }
}

/// One head of one row against the keys that it sees; `scores` has room for one a key rounded up to whole vectors.
void attend(const float* q, ConstView keys, ConstView values, float* scores, float* y) {
  key_scores(q, keys, 1.0F / std::sqrt(static_cast<float>(keys.cols)), scores);
  weighted_sum(scores, 1.0F / exponentials(keys.rows, scores), values, y);
}

}  // namespace

void CpuBackend::decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first,
                                  ConstIndexView length, const AttentionShape& shape, View y) {
  shapes::decode_attention(q, k_cache, v_cache, first, length, shape, y);
  shapes::check_cache_ranges("decode_attention", first, length, k_cache.rows);
  if (q.rows == 0) return;
  const std::int64_t longest = *std::max_element(length.data, length.data + length.count);
  const std::int64_t group = shape.heads / shape.kv_heads;
  const std::int64_t tasks = q.rows * shape.heads;
  const int team = team_size(threads_, tasks * longest * shape.head_dim / 2);
  float* scores = workspace_.floats(team * padded(longest));
  run_team(team, [&](int index) {
    const Range part = part_of(tasks, index, team);
    for (std::int64_t task = part.begin; task < part.end; ++task) {
      const std::int64_t r = task / shape.heads;
      const std::int64_t h = task % shape.heads;
      const std::int64_t seen =
          shape.window > 0 ? std::min<std::int64_t>(length.data[r], shape.window) : length.data[r];
      const std::int64_t begin = first.data[r] + length.data[r] - seen;
      const std::int64_t column = h / group * shape.head_dim;
      attend(q.row(r) + h * shape.head_dim, k_cache.row_range(begin, seen).column_range(column, shape.head_dim),
             v_cache.row_range(begin, seen).column_range(column, shape.head_dim), scores + index * padded(longest),
             y.row(r) + h * shape.head_dim);
    }
  });
}

}  // namespace kernels::cpu
