#include "engine/prefill_scaling.h"

#include <algorithm>
#include <cmath>

#include "engine/batch_decoder.h"
#include "engine/device_copy.h"
#include "engine/error.h"

namespace engine {
namespace {

using TokenRows = std::vector<std::vector<std::int32_t>>;

double token_nll(const float* logits, std::int64_t vocab, std::int32_t token) {
  const double most = *std::max_element(logits, logits + vocab);
  double sum = 0;
  for (std::int64_t v = 0; v < vocab; ++v) sum += std::exp(double{logits[v]} - most);
  return most + std::log(sum) - double{logits[token]};
}

/// Prompts and right completions as tokens.
struct ScoredText {
  TokenRows prompts, completions;

  ScoredText(const data::Tokenizer& tokenizer, const std::vector<Question>& questions) {
    for (const Question& question : questions) {
      const std::string& whole = question.example.completion;
      prompts.push_back(tokenizer.encode(question.example.prompt));
      completions.push_back(tokenizer.encode(whole.empty() ? question.example.answer : whole));
      completions.back().push_back(tokenizer.end_of_text());
    }
  }
};

TokenRows part(const TokenRows& rows, std::size_t first, std::size_t count) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::vector<double> all_nll(InferenceModel& model, const ScoredText& text, const PrefillSettings& settings, int passes,
                            const std::stop_token& stop) {
  BatchDecoder decoder(model.backend(), model.parameters());
  std::vector<double> nll;
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, settings.rows_at_once));
  for (std::size_t first = 0; first < text.prompts.size(); first += at_once) {
    if (stop.stop_requested()) throw Cancelled();
    const std::size_t count = std::min(at_once, text.prompts.size() - first);
    const std::vector<double> some = completion_nll(decoder, model.backend(), part(text.prompts, first, count),
                                                    part(text.completions, first, count), passes);
    nll.insert(nll.end(), some.begin(), some.end());
  }
  return nll;
}

EvaluationSettings answer_settings(const PrefillSettings& settings, int passes) {
  EvaluationSettings answers;
  answers.mode = passes == 0 ? DecodeMode::soft : DecodeMode::fused;
  answers.fused_prefill_passes = std::max(1, passes);
  answers.max_tokens = settings.max_tokens;
  answers.rows_at_once = settings.rows_at_once;
  answers.sampler = settings.sampler;
  return answers;
}

}  // namespace

std::vector<double> completion_nll(BatchDecoder& decoder, kernels::Backend& backend, const TokenRows& prompts,
                                   const TokenRows& completions, int fused_passes) {
  std::size_t longest = 0;
  for (const auto& completion : completions) longest = std::max(longest, completion.size());
  decoder.prefill(prompts, fused_passes == 0 ? DecodeMode::soft : DecodeMode::fused, static_cast<std::int64_t>(longest),
                  std::max(1, fused_passes));
  std::vector<double> nll(prompts.size(), 0.0);
  std::vector<std::int32_t> next(prompts.size(), 0);
  for (std::size_t i = 0; i < longest; ++i) {
    const std::int64_t vocab = decoder.logits().cols;
    const std::vector<float> logits = download_matrix(backend, decoder.logits());
    for (std::size_t r = 0; r < prompts.size(); ++r) {
      if (i >= completions[r].size()) continue;  // a finished row is fed its last token until the others are done
      next[r] = completions[r][i];
      nll[r] += token_nll(&logits[r * static_cast<std::size_t>(vocab)], vocab, next[r]);
    }
    if (i + 1 < longest) decoder.step(next);
  }
  return nll;
}

std::vector<PrefillPoint> measure_prefill_scaling(InferenceModel& model, const std::vector<Question>& questions,
                                                  const PrefillSettings& settings,
                                                  const std::function<void(std::int64_t)>& on_progress,
                                                  const std::stop_token& stop) {
  const ScoredText text(model.tokenizer(), questions);
  std::vector<PrefillPoint> points;
  std::vector<double> before;
  for (int passes = 0; passes <= settings.most_passes; ++passes) {
    const std::vector<double> nll = all_nll(model, text, settings, passes, stop);
    const std::vector<Answer> answers = answer_questions(model, questions, answer_settings(settings, passes), {}, stop);
    RowMean loss, change, accuracy;
    PrefillPoint point;
    point.fused_passes = passes;
    for (std::size_t r = 0; r < nll.size(); ++r) {
      const auto tokens = static_cast<std::int64_t>(text.completions[r].size());
      loss.add_row(nll[r], tokens);
      if (!before.empty()) change.add_row(nll[r] - before[r], tokens);
      accuracy.add_row(answers[r].correct ? 1 : 0, 1);
      point.capped += answers[r].stop == StopReason::length_cap ? 1 : 0;
    }
    point.loss = loss.estimate();
    point.loss_change = change.estimate();
    point.accuracy = accuracy.estimate();
    points.push_back(point);
    before = nll;
    if (on_progress) on_progress(passes + 1);
  }
  return points;
}

}  // namespace engine
