// Sampling one token a row: softmax statistics, top-k and top-p, inversion of a uniform number.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/fast_math.h"
#include "kernels/cpu/row_math.h"
#include "kernels/cpu/simd.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

/// Logarithm of the sum of exponentials and entropy of the unfiltered distribution.
struct RowStatistics {
  std::int64_t best = 0;  ///< lowest id of the largest logit
  double logsumexp = 0.0;
  double entropy = 0.0;
};

/// Sums over one row of e^(x - top) and of e^(x - top) * (x - top).
struct ExponentialSums {
  double plain = 0.0;
  double weighted = 0.0;
};

FULLBAND_CLONES ExponentialSums exponential_sums(const float* x, float top, std::int64_t n) {
  double plain = 0.0;
  double weighted = 0.0;
#pragma omp simd reduction(+ : plain, weighted)
  for (std::int64_t i = 0; i < n; ++i) {
    const float shifted = x[i] - top;
    const float e = exp_float(shifted);
    plain += static_cast<double>(e);
    // An impossible id has shifted = -inf, whose product with zero would be NaN.
    weighted += static_cast<double>(e * std::max(shifted, -1e30F));
  }
  return {plain, weighted};
}

RowStatistics statistics_of(const float* logits, std::int64_t n) {
  RowStatistics result;
  result.best = lowest_argmax(logits, n);
  const float top = logits[result.best];
  const ExponentialSums sums = exponential_sums(logits, top, n);
  result.logsumexp = static_cast<double>(top) + std::log(sums.plain);
  result.entropy = std::log(sums.plain) - sums.weighted / sums.plain;
  return result;
}

FULLBAND_CLONES void tempered_weights(const float* x, float top, float temperature, std::int64_t n, float* weights) {
  for (std::int64_t i = 0; i < n; ++i) weights[i] = exp_float((x[i] - top) / temperature);
}

bool has_nan(const float* logits, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(logits[i])) return true;
  }
  return false;
}

/// The filtered distribution of one row as unnormalised weights; ids that a filter drops weigh nothing.
class FilteredRow {
 public:
  /// `order` and `weights` have room for n entries.
  FilteredRow(const float* logits, std::int64_t n, const SamplerShape& shape, float top, std::int32_t* order,
              float* weights)
      : n_(n), order_(order), weights_(weights) {
    tempered_weights(logits, top, shape.temperature, n, weights);
    if (shape.top_k > 0 || shape.top_p < 1.0F) keep_likely(shape);
  }

  /// The first kept id whose cumulative probability, in id order, exceeds `uniform`.
  [[nodiscard]] std::int64_t invert(float uniform) const {
    const double limit = static_cast<double>(uniform) * total();
    double sum = 0.0;
    std::int64_t last = 0;  // the likeliest id weighs 1, so one is always found
    for (std::int64_t i = 0; i < n_; ++i) {
      if (!(weights_[i] > 0.0F)) continue;
      sum += static_cast<double>(weights_[i]);
      last = i;
      if (sum > limit) break;
    }
    return last;
  }

 private:
  [[nodiscard]] double total() const {
    double sum = 0.0;
    for (std::int64_t i = 0; i < n_; ++i) sum += static_cast<double>(weights_[i]);
    return sum;
  }

  /// Takes ids off a heap, the likeliest first and the lowest on ties: cheaper than a sort, since few are kept.
  void keep_likely(const SamplerShape& shape) {
    for (std::int64_t i = 0; i < n_; ++i) order_[i] = static_cast<std::int32_t>(i);
    const auto less_likely = [&](std::int32_t a, std::int32_t b) {
      return weights_[a] < weights_[b] || (weights_[a] == weights_[b] && a > b);
    };
    std::make_heap(order_, order_ + n_, less_likely);
    // After `taken` ids left it, the heap is order[0, n - taken) and they follow in reverse.
    std::int64_t taken = 0;
    const auto take = [&] {
      std::pop_heap(order_, order_ + n_ - taken, less_likely);
      ++taken;
      return static_cast<double>(weights_[order_[n_ - taken]]);
    };
    if (shape.top_k > 0) {
      while (taken < std::min(n_, shape.top_k)) take();
      drop_first(n_ - taken);
    }
    if (shape.top_p < 1.0F) keep_nucleus(static_cast<double>(shape.top_p) * total(), taken, take);
  }

  /// The fewest likely ids that hold `enough`; `taken` of them are in order already.
  template <typename Take>
  void keep_nucleus(double enough, std::int64_t taken, const Take& take) {
    double sum = 0.0;
    std::int64_t kept = 0;
    while (kept < n_ && sum < enough) {
      sum += kept < taken ? static_cast<double>(weights_[order_[n_ - 1 - kept]]) : take();
      ++kept;
    }
    drop_first(n_ - kept);
  }

  void drop_first(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) weights_[order_[i]] = 0.0F;
  }

  std::int64_t n_;
  std::int32_t* order_;
  float* weights_;
};

/// The id of one row. Without a distribution to draw from it is still a valid one: 0 for NaN, the lowest infinite one.
std::int64_t choose(const float* row, std::int64_t vocab, const RowStatistics& statistics, const SamplerShape& shape,
                    float uniform, std::int32_t* order, float* weights) {
  if (has_nan(row, vocab)) return 0;
  const float top = row[statistics.best];
  if (shape.temperature == 0.0F || std::isinf(top)) return statistics.best;
  return FilteredRow(row, vocab, shape, top, order, weights).invert(uniform);
}

}  // namespace

void CpuBackend::sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, IndexView tokens, View logprob,
                        View entropy) {
  shapes::sample(logits, shape, uniforms, tokens, logprob, entropy);
  const std::int64_t vocab = logits.cols;
  const int team = team_size(threads_, logits.size() * 8);
  const std::int64_t row_floats = padded(vocab);
  float* scratch = workspace_.floats(2 * team * row_floats);
  run_team(team, [&](int index) {
    float* weights = scratch + 2 * index * row_floats;
    auto* order = reinterpret_cast<std::int32_t*>(weights + row_floats);
    const Range part = part_of(logits.rows, index, team);
    for (std::int64_t r = part.begin; r < part.end; ++r) {
      const float* row = logits.row(r);
      const RowStatistics statistics = statistics_of(row, vocab);
      const std::int64_t token = choose(row, vocab, statistics, shape, uniforms.row(r)[0], order, weights);
      tokens.data[r] = static_cast<std::int32_t>(token);
      logprob.row(r)[0] = static_cast<float>(static_cast<double>(row[token]) - statistics.logsumexp);
      entropy.row(r)[0] = static_cast<float>(statistics.entropy);
    }
  });
}

}  // namespace kernels::cpu
