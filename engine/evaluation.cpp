#include "engine/evaluation.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/batch_decoder.h"
#include "engine/error.h"
#include "engine/json_io.h"

namespace engine {
namespace {

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \n\t\r");
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(" \n\t\r") - first + 1));
}

/// The rows of one batch while they are decoded.
class AnswerBatch {
 public:
  AnswerBatch(const data::Tokenizer& tokenizer, const EvaluationSettings& settings, std::size_t rows)
      : tokenizer_(tokenizer), settings_(settings), bytes_(rows), answers_(rows), finished_(rows, false) {}

  /// Takes one sampled token a row; returns whether any row goes on.
  bool take(const std::vector<SampledToken>& sampled) {
    next_.clear();
    bool any = false;
    for (std::size_t r = 0; r < sampled.size(); ++r) {
      // A finished row is fed end of text until the others are done; its numbers are not read again.
      next_.push_back(finished_[r] ? tokenizer_.end_of_text() : sampled[r].id);
      if (finished_[r]) continue;
      answers_[r].tokens += 1;
      if (sampled[r].id == tokenizer_.end_of_text()) {
        answers_[r].stop = StopReason::end_of_text;
        finished_[r] = true;
        continue;
      }
      bytes_[r] += tokenizer_.bytes(sampled[r].id);
      any = any || answers_[r].tokens < settings_.max_tokens;
    }
    return any;
  }
  [[nodiscard]] const std::vector<std::int32_t>& next() const { return next_; }

  std::vector<Answer> finish(const Question* questions) {
    for (std::size_t r = 0; r < answers_.size(); ++r) {
      data::Utf8Stream stream;
      answers_[r].text = stream.push(bytes_[r]);
      answers_[r].text += stream.finish();
      answers_[r].correct = questions[r].correct(answers_[r].text);
    }
    return std::move(answers_);
  }

 private:
  const data::Tokenizer& tokenizer_;
  const EvaluationSettings& settings_;
  std::vector<std::string> bytes_;
  std::vector<Answer> answers_;
  std::vector<bool> finished_;
  std::vector<std::int32_t> next_;
};

/// Linear interpolation between the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<Question> task_questions(const data::Task& task, std::uint64_t seed, std::int64_t count) {
  std::vector<Question> questions;
  for (std::int64_t i = 0; i < count; ++i) {
    const data::Example example = task.example(seed, data::Split::validation, static_cast<std::uint64_t>(i));
    questions.push_back({example, [&task, example](const std::string& text) { return task.correct(example, text); }});
  }
  return questions;
}

std::vector<Question> jsonl_questions(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw FileError(file, "cannot be opened");
  std::vector<Question> questions;
  std::string line;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (trimmed(line).empty()) continue;
    const std::string place = file + ", line " + std::to_string(number);
    const nlohmann::json object = parse_json(line, place);
    data::Example example;
    for (const auto& [member, text] : {std::pair{"prompt", &example.prompt}, std::pair{"answer", &example.answer}}) {
      if (!object.is_object() || !object.contains(member) || !object[member].is_string()) {
        throw FormatError(place, std::string("needs the text member \"") + member + "\"");
      }
      *text = object[member].get<std::string>();
    }
    const std::string answer = trimmed(example.answer);
    questions.push_back({example, [answer](const std::string& text) { return trimmed(text).ends_with(answer); }});
  }
  if (questions.empty()) throw FormatError(file, "holds no prompt");
  return questions;
}

std::vector<Answer> answer_questions(InferenceModel& model, const std::vector<Question>& questions,
                                     const EvaluationSettings& settings,
                                     const std::function<void(std::int64_t)>& on_progress,
                                     const std::stop_token& stop) {
  BatchDecoder decoder(model.backend(), model.parameters());
  std::vector<Answer> answers;
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, settings.rows_at_once));
  for (std::size_t first = 0; first < questions.size(); first += at_once) {
    const std::size_t rows = std::min(at_once, questions.size() - first);
    std::vector<std::vector<std::int32_t>> prompts;
    for (std::size_t r = 0; r < rows; ++r)
      prompts.push_back(model.tokenizer().encode(questions[first + r].example.prompt));
    decoder.prefill(prompts, settings.mode, settings.max_tokens, settings.fused_prefill_passes);
    AnswerBatch batch(model.tokenizer(), settings, rows);
    for (std::int64_t index = 0; index < settings.max_tokens; ++index) {
      if (stop.stop_requested()) throw Cancelled();
      if (!batch.take(decoder.sample(settings.sampler, index))) break;
      decoder.step(batch.next());
    }
    for (Answer& answer : batch.finish(&questions[first])) answers.push_back(std::move(answer));
    if (on_progress) on_progress(static_cast<std::int64_t>(answers.size()));
  }
  return answers;
}

EvaluationSummary summarize(const std::vector<Answer>& answers) {
  EvaluationSummary summary;
  summary.rows = static_cast<std::int64_t>(answers.size());
  if (answers.empty()) return summary;
  std::vector<double> tokens;
  double right = 0;
  for (const Answer& answer : answers) {
    tokens.push_back(static_cast<double>(answer.tokens));
    right += answer.correct ? 1 : 0;
    summary.capped += answer.stop == StopReason::length_cap ? 1 : 0;
  }
  std::sort(tokens.begin(), tokens.end());
  const auto count = static_cast<double>(answers.size());
  summary.accuracy = right / count;
  summary.accuracy_error = std::sqrt(summary.accuracy * (1 - summary.accuracy) / count);
  summary.tokens_median = quantile(tokens, 0.5);
  summary.tokens_lower_quartile = quantile(tokens, 0.25);
  summary.tokens_upper_quartile = quantile(tokens, 0.75);
  return summary;
}

}  // namespace engine
