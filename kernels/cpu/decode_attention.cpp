// One query a row against a cache of keys and values: decoding.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

FULLBAND_CLONES float maximum(const float* x, std::int64_t n) {
  float result = x[0];
#pragma omp simd reduction(max : result)
  for (std::int64_t i = 0; i < n; ++i) result = std::max(result, x[i]);
  return result;
}

/// x = e^(x - shift); returns their sum.
FULLBAND_CLONES float exponentials(float shift, std::int64_t n, float* x) {
  float sum = 0.0F;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = 0; i < n; ++i) {
    x[i] = exp_float(x[i] - shift);
    sum += x[i];
  }
  return sum;
}

/// The visible end of a row's cache, with room for one score a key.
struct CacheSlice {
  ConstView keys;
  ConstView values;
  float* scores;
};

void attend(const float* q, const CacheSlice& slice, std::int64_t column, std::int64_t width, float* y) {
  const std::int64_t length = slice.keys.rows;
  const float scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (std::int64_t t = 0; t < length; ++t) slice.scores[t] = scale * dot(q, slice.keys.row(t) + column, width);
  const float sum = exponentials(maximum(slice.scores, length), length, slice.scores);
  std::fill_n(y, width, 0.0F);
  for (std::int64_t t = 0; t < length; ++t) add_scaled(slice.values.row(t) + column, slice.scores[t] / sum, width, y);
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
      const CacheSlice slice{k_cache.row_range(begin, seen), v_cache.row_range(begin, seen),
                             scores + index * padded(longest)};
      attend(q.row(r) + h * shape.head_dim, slice, h / group * shape.head_dim, shape.head_dim,
             y.row(r) + h * shape.head_dim);
    }
  });
}

}  // namespace kernels::cpu
