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
  std::int64_t tokens = 0;        ///< generated, end of text included
  std::vector<std::int32_t> ids;  ///< the generated tokens
  StopReason stop = StopReason::length_cap;
};

struct EvaluationSettings {
  DecodeMode mode = DecodeMode::standard;
  SamplerSettings sampler;
  std::int64_t max_tokens = 64;
  int fused_prefill_passes = 1;
  std::int64_t rows_at_once = 64;  ///< changes no result
  std::int64_t samples = 1;        ///< answers to each question, with random numbers of their own
};

/// Held-out questions of a task: a pure function of task and seed.
std::vector<Question> task_questions(const data::Task& task, std::uint64_t seed, std::int64_t count);
/// Questions from JSON Lines with members "prompt" and "answer"; an answer is right when the generated text ends in it
/// as a whole word or number.
std::vector<Question> jsonl_questions(const std::string& file);

/// Answers to all questions, then their second samples, and so on: sample s of question q is answer s * questions + q,
/// so that the first samples do not depend on how many are drawn. An answer's number names its random numbers, which
/// the modes therefore share. `on_progress` gets the answers done so far. Cancelled when a stop is requested.
std::vector<Answer> answer_questions(InferenceModel& model, const std::vector<Question>& questions,
                                     const EvaluationSettings& settings,
                                     const std::function<void(std::int64_t)>& on_progress = {},
                                     const std::stop_token& stop = {});

/// Text of generated ids up to end of text, as answers are scored on.
std::string answer_text(const data::Tokenizer& tokenizer, const std::vector<std::int32_t>& ids);

struct EvaluationSummary {
  std::int64_t rows = 0;     ///< questions
  std::int64_t samples = 1;  ///< answers to each
  double accuracy = 0;
  double accuracy_error = 0;  ///< standard error over questions; for one sample the binomial one
  double accuracy_low = 0;    ///< 95 % interval of Wilson (1927), which does not shrink to a point where all is right
  double accuracy_high = 1;
  double tokens_median = 0;
  double tokens_lower_quartile = 0;
  double tokens_upper_quartile = 0;
  std::int64_t capped = 0;  ///< answers that ended at max_tokens
};
/// `answers` as answer_questions gives them, `samples` to a question. Tokens are counted over all answers.
EvaluationSummary summarize(const std::vector<Answer>& answers, std::int64_t samples = 1);

}  // namespace engine
