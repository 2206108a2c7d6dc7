#include "engine/answer_statistics.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace engine {

double pass_at_k(std::int64_t samples, std::int64_t right, std::int64_t k) {
  if (k < 1 || k > samples) throw ConfigError("k", "must lie between 1 and the number of samples");
  // C(n-c, k) / C(n, k) is the product of (n-c-i) / (n-i): no factorial is ever large.
  double all_wrong = 1;
  for (std::int64_t i = 0; i < k; ++i) {
    const auto wrong_left = static_cast<double>(std::max<std::int64_t>(0, samples - right - i));
    all_wrong *= wrong_left / static_cast<double>(samples - i);
  }
  return 1 - all_wrong;
}

std::vector<PassAtK> pass_at_each_k(const std::vector<Answer>& answers, std::int64_t samples) {
  const std::size_t questions = answers.size() / static_cast<std::size_t>(samples);
  std::vector<std::int64_t> right(questions, 0);
  for (std::size_t i = 0; i < answers.size(); ++i) right[i % questions] += answers[i].correct ? 1 : 0;
  std::vector<PassAtK> result;
  for (const std::int64_t k : matched_caps(samples)) {
    RowMean mean;
    for (const std::int64_t count : right) mean.add_row(pass_at_k(samples, count, k), 1);
    result.push_back({k, mean.estimate()});
  }
  return result;
}

std::vector<LengthBin> length_histogram(const std::vector<Answer>& answers, std::int64_t cap, std::int64_t bins) {
  const std::int64_t width = (cap + bins - 1) / bins;
  std::vector<LengthBin> histogram;
  for (std::int64_t first = 1; first <= cap; first += width) {
    histogram.push_back({first, std::min(cap, first + width - 1), 0, 0});
  }
  for (const Answer& answer : answers) {
    LengthBin& bin = histogram[static_cast<std::size_t>((std::clamp<std::int64_t>(answer.tokens, 1, cap) - 1) / width)];
    (answer.stop == StopReason::length_cap ? bin.capped : bin.finished) += 1;
  }
  return histogram;
}

std::vector<AccuracyAtCap> accuracy_at_caps(const std::vector<Answer>& answers, const std::vector<Question>& questions,
                                            const data::Tokenizer& tokenizer, const std::vector<std::int64_t>& caps) {
  std::vector<AccuracyAtCap> result;
  for (const std::int64_t cap : caps) {
    AccuracyAtCap at_cap{cap, {}, 0};
    std::vector<double> right(questions.size(), 0.0);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      const Answer& answer = answers[i];
      const bool cut = answer.tokens > cap;
      const auto kept = answer.ids.begin() + static_cast<std::ptrdiff_t>(std::min(cap, answer.tokens));
      const std::size_t question = i % questions.size();
      const bool correct =
          cut ? questions[question].correct(answer_text(tokenizer, {answer.ids.begin(), kept})) : answer.correct;
      right[question] += correct ? 1 : 0;
      at_cap.capped += cut || answer.stop == StopReason::length_cap ? 1 : 0;
    }
    RowMean mean;
    const auto samples = static_cast<std::int64_t>(answers.size() / std::max<std::size_t>(1, questions.size()));
    for (const double count : right) mean.add_row(count, samples);
    at_cap.accuracy = mean.estimate();
    result.push_back(at_cap);
  }
  return result;
}

std::vector<std::int64_t> matched_caps(std::int64_t cap) {
  std::vector<std::int64_t> caps;
  for (std::int64_t value = 1; value < cap; value *= 2) caps.push_back(value);
  caps.push_back(cap);
  return caps;
}

double exact_mcnemar(std::int64_t a, std::int64_t b) {
  const std::int64_t n = a + b;
  if (n == 0) return 1;
  double tail = 0;
  for (std::int64_t i = 0; i <= std::min(a, b); ++i) {
    const auto x = static_cast<double>(i);
    const auto all = static_cast<double>(n);
    tail += std::exp(std::lgamma(all + 1) - std::lgamma(x + 1) - std::lgamma(all - x + 1) - all * std::log(2.0));
  }
  return std::min(1.0, 2 * tail);
}

PairedCounts paired_counts(const std::vector<Answer>& first, const std::vector<Answer>& second,
                           std::int64_t questions) {
  PairedCounts counts;
  RowMean difference;
  for (std::size_t q = 0; q < static_cast<std::size_t>(questions); ++q) {
    const bool a = first[q].correct;
    const bool b = second[q].correct;
    (a ? (b ? counts.both : counts.only_first) : (b ? counts.only_second : counts.neither)) += 1;
    difference.add_row((b ? 1.0 : 0.0) - (a ? 1.0 : 0.0), 1);
  }
  counts.p_value = exact_mcnemar(counts.only_first, counts.only_second);
  counts.difference = difference.estimate();
  return counts;
}

}  // namespace engine
