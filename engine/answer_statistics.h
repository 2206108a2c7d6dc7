// What many answers say together: pass@k, how long they are and where they were cut, and two modes on the same
// questions.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/estimate.h"
#include "engine/evaluation.h"

namespace engine {

/// Chance that at least one of k answers is right, from n answers of which c are: 1 - C(n-c, k) / C(n, k), without bias
/// for k <= n (Chen et al. 2021, arXiv 2107.03374).
double pass_at_k(std::int64_t samples, std::int64_t right, std::int64_t k);

struct PassAtK {
  std::int64_t k = 1;
  Estimate share;  ///< mean over questions
};
/// For k = 1, 2, 4 ... and `samples`.
std::vector<PassAtK> pass_at_each_k(const std::vector<Answer>& answers, std::int64_t samples);

/// Answers of first..last tokens. Those at the cap were cut: their length says nothing about the model.
struct LengthBin {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t finished = 0;
  std::int64_t capped = 0;
};
/// At most `bins` equal bins over 1..cap, the empty ones included.
std::vector<LengthBin> length_histogram(const std::vector<Answer>& answers, std::int64_t cap, std::int64_t bins = 32);

/// What an evaluation with max_tokens = cap would have said. Modes of different length are compared at the same cap.
struct AccuracyAtCap {
  std::int64_t cap = 0;
  Estimate accuracy;
  std::int64_t capped = 0;
};
/// Scores the first `cap` tokens of each answer anew. No cap may lie above the one that the answers had.
std::vector<AccuracyAtCap> accuracy_at_caps(const std::vector<Answer>& answers, const std::vector<Question>& questions,
                                            const data::Tokenizer& tokenizer, const std::vector<std::int64_t>& caps);
/// 1, 2, 4 ... below `cap`, and `cap` itself.
std::vector<std::int64_t> matched_caps(std::int64_t cap);

/// Two modes on the same questions with the same random numbers, first sample of each question.
struct PairedCounts {
  std::int64_t both = 0;
  std::int64_t only_first = 0;
  std::int64_t only_second = 0;
  std::int64_t neither = 0;
  double p_value = 1;   ///< exact McNemar, two-sided: were the modes equal, disagreements would fall either way evenly
  Estimate difference;  ///< accuracy of the second less that of the first
};
PairedCounts paired_counts(const std::vector<Answer>& first, const std::vector<Answer>& second, std::int64_t questions);

/// Two-sided binomial test of `a` against `b` at one half: min(1, 2 P(X <= min(a,b))), X ~ Binomial(a+b, 1/2).
double exact_mcnemar(std::int64_t a, std::int64_t b);

}  // namespace engine
