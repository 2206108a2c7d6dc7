// Sampling one token a row: softmax statistics, top-k and top-p, inversion of a uniform number.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/backend.h"
#include "kernels/shapes.h"

namespace kernels::cpu {
namespace {

/// Logarithm of the sum of exponentials and entropy of the unfiltered distribution.
struct RowStatistics {
  std::int64_t best = 0;  ///< lowest id of the largest logit
  double logsumexp = 0.0;
  double entropy = 0.0;
};

RowStatistics statistics_of(const float* logits, std::int64_t n) {
  RowStatistics result;
  for (std::int64_t i = 1; i < n; ++i) {
    if (logits[i] > logits[result.best]) result.best = i;
  }
  const double top = logits[result.best];
  double sum = 0.0;
  double weighted = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double shifted = static_cast<double>(logits[i]) - top;
    const double e = std::exp(shifted);
    sum += e;
    if (e > 0.0) weighted += e * shifted;
  }
  result.logsumexp = top + std::log(sum);
  result.entropy = std::log(sum) - weighted / sum;
  return result;
}

bool has_nan(const float* logits, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (std::isnan(logits[i])) return true;
  }
  return false;
}

/// The filtered distribution of one row: `order` holds ids from likely to unlikely, `weights` their unnormalised
/// weights.
class FilteredRow {
 public:
  FilteredRow(const float* logits, std::int64_t n, const SamplerShape& shape, float top, std::int32_t* order,
              float* weights)
      : n_(n), kept_(n), order_(order), weights_(weights) {
    for (std::int64_t i = 0; i < n; ++i) {
      order[i] = static_cast<std::int32_t>(i);
      weights[i] = std::exp((logits[i] - top) / shape.temperature);
    }
    if (shape.top_k > 0 || shape.top_p < 1.0F) keep_likely(shape);
  }

  /// The first kept id whose cumulative probability, in id order, exceeds `uniform`.
  [[nodiscard]] std::int64_t invert(float uniform) const {
    const double limit = static_cast<double>(uniform) * total();
    double sum = 0.0;
    std::int64_t last = 0;  // the most likely id weighs 1, so one is always found
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

  void keep_likely(const SamplerShape& shape) {
    std::sort(order_, order_ + n_, [&](std::int32_t a, std::int32_t b) {
      return weights_[a] > weights_[b] || (weights_[a] == weights_[b] && a < b);
    });
    if (shape.top_k > 0) kept_ = std::min(n_, shape.top_k);
    if (shape.top_p < 1.0F) kept_ = nucleus(shape.top_p);
    for (std::int64_t i = kept_; i < n_; ++i) weights_[order_[i]] = 0.0F;
  }

  /// The fewest likely ids that hold `top_p` of what top-k left.
  [[nodiscard]] std::int64_t nucleus(float top_p) const {
    double whole = 0.0;
    for (std::int64_t i = 0; i < kept_; ++i) whole += static_cast<double>(weights_[order_[i]]);
    double sum = 0.0;
    for (std::int64_t i = 0; i < kept_; ++i) {
      sum += static_cast<double>(weights_[order_[i]]);
      if (sum >= static_cast<double>(top_p) * whole) return i + 1;
    }
    return kept_;
  }

  std::int64_t n_;
  std::int64_t kept_;
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
