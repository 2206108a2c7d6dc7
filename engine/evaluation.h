// Answers of many rollouts scored at once: accuracy, tokens and stop reasons of one mode on prompts with known answers.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/data/task.h"
#include "engine/inference.h"
#include "engine/rollout_types.h"

namespace engine {

/// One prompt with its answer; `correct` decides from the generated text.
struct Question {
  data::Example example;
  std::function<bool(const std::string& generated)> correct;
};

struct Answer {
  std::string text;
  bool correct = false;
  std::int64_t tokens = 0;  ///< generated, end of text included
  StopReason stop = StopReason::length_cap;
};

struct EvaluationSettings {
  DecodeMode mode = DecodeMode::standard;
  SamplerSettings sampler;
  std::int64_t max_tokens = 64;
  int fused_prefill_passes = 1;
  std::int64_t rows_at_once = 64;
};

/// Held-out questions of a task: a pure function of task and seed.
std::vector<Question> task_questions(const data::Task& task, std::uint64_t seed, std::int64_t count);
/// Questions from JSON Lines with members "prompt" and "answer"; an answer is right when the generated text ends in it.
std::vector<Question> jsonl_questions(const std::string& file);

/// Answers in the order of the questions. `on_progress` gets the questions done so far. Cancelled when a stop is
/// requested.
std::vector<Answer> answer_questions(InferenceModel& model, const std::vector<Question>& questions,
                                     const EvaluationSettings& settings,
                                     const std::function<void(std::int64_t)>& on_progress = {},
                                     const std::stop_token& stop = {});

struct EvaluationSummary {
  std::int64_t rows = 0;
  double accuracy = 0;
  double accuracy_error = 0;  ///< binomial standard error
  double tokens_median = 0;
  double tokens_lower_quartile = 0;
  double tokens_upper_quartile = 0;
  std::int64_t capped = 0;  ///< rollouts that ended at max_tokens
};
EvaluationSummary summarize(const std::vector<Answer>& answers);

}  // namespace engine
