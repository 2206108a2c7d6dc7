#include "engine/evaluation.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

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
  AnswerBatch(const data::Tokenizer& tokenizer, std::int64_t max_tokens, std::size_t rows)
      : tokenizer_(tokenizer), max_tokens_(max_tokens), answers_(rows), finished_(rows, false) {}

  /// Takes one sampled token a row; returns whether any row goes on.
  bool take(const std::vector<SampledToken>& sampled) {
    next_.clear();
    bool any = false;
    for (std::size_t r = 0; r < sampled.size(); ++r) {
      // A finished row is fed end of text until the others are done; its numbers are not read again.
      next_.push_back(finished_[r] ? tokenizer_.end_of_text() : sampled[r].id);
      if (finished_[r]) continue;
      answers_[r].ids.push_back(sampled[r].id);
      answers_[r].tokens += 1;
      if (sampled[r].id == tokenizer_.end_of_text()) {
        answers_[r].stop = StopReason::end_of_text;
        finished_[r] = true;
        continue;
      }
      any = any || answers_[r].tokens < max_tokens_;
    }
    return any;
  }
  [[nodiscard]] const std::vector<std::int32_t>& next() const { return next_; }

  /// The answers, that of row r to questions[(first + r) % questions].
  std::vector<Answer> finish(const std::vector<Question>& questions, std::size_t first) {
    for (std::size_t r = 0; r < answers_.size(); ++r) {
      answers_[r].text = answer_text(tokenizer_, answers_[r].ids);
      answers_[r].correct = questions[(first + r) % questions.size()].correct(answers_[r].text);
    }
    return std::move(answers_);
  }

 private:
  const data::Tokenizer& tokenizer_;
  std::int64_t max_tokens_;
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

/// Wilson's interval around a share of `count` questions.
void set_interval(EvaluationSummary& summary, double count) {
  constexpr double kNormal = 1.959964;  // 97.5 % quantile
  const double spread = kNormal * kNormal / count;
  const double centre = summary.accuracy + spread / 2;
  const double half = kNormal * std::sqrt(summary.accuracy * (1 - summary.accuracy) / count + spread / (4 * count));
  summary.accuracy_low = std::max(0.0, (centre - half) / (1 + spread));
  summary.accuracy_high = std::min(1.0, (centre + half) / (1 + spread));
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
    const nlohmann::json object = parse_json(line, file, number);
    const std::string place = file + ": line " + std::to_string(number);
    data::Example example;
    for (const auto& [member, text] : {std::pair{"prompt", &example.prompt}, std::pair{"answer", &example.answer}}) {
      if (!object.is_object() || !object.contains(member) || !object[member].is_string()) {
        throw FormatError(place, std::string("needs the text member \"") + member + "\"");
      }
      *text = object[member].get<std::string>();
    }
    example.completion = example.answer;  // with its spaces, as the model would write it
    example.answer = trimmed(example.answer);
    if (example.answer.empty()) throw FormatError(place, "has an empty \"answer\"");
    questions.push_back(
        {example, [example](const std::string& text) { return data::ends_in_answer(text, example.answer); }});
  }
  if (questions.empty())
    throw FormatError(file, "holds no prompt; write a line of JSON with \"prompt\" and \"answer\" for each");
  return questions;
}

std::string answer_text(const data::Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  std::string bytes;
  for (const std::int32_t id : ids) bytes += tokenizer.bytes(id);
  data::Utf8Stream stream;
  std::string text = stream.push(bytes);
  return text + stream.finish();
}

std::vector<Answer> answer_questions(InferenceModel& model, const std::vector<Question>& questions,
                                     const EvaluationSettings& settings,
                                     const std::function<void(std::int64_t)>& on_progress,
                                     const std::stop_token& stop) {
  BatchDecoder decoder(model.backend(), model.parameters());
  std::vector<Answer> answers;
  const auto at_once = static_cast<std::size_t>(std::max<std::int64_t>(1, settings.rows_at_once));
  const std::size_t total = questions.size() * static_cast<std::size_t>(std::max<std::int64_t>(1, settings.samples));
  for (std::size_t first = 0; first < total; first += at_once) {
    const std::size_t rows = std::min(at_once, total - first);
    std::vector<std::vector<std::int32_t>> prompts;
    for (std::size_t r = 0; r < rows; ++r)
      prompts.push_back(model.tokenizer().encode(questions[(first + r) % questions.size()].example.prompt));
    decoder.prefill(prompts, settings.mode, settings.max_tokens, settings.fused_prefill_passes);
    AnswerBatch batch(model.tokenizer(), settings.max_tokens, rows);
    for (std::int64_t index = 0; index < settings.max_tokens; ++index) {
      if (stop.stop_requested()) throw Cancelled();
      if (!batch.take(decoder.sample(settings.sampler, index, static_cast<std::int64_t>(first)))) break;
      decoder.step(batch.next());
    }
    for (Answer& answer : batch.finish(questions, first)) answers.push_back(std::move(answer));
    if (on_progress) on_progress(static_cast<std::int64_t>(answers.size()));
  }
  return answers;
}

EvaluationSummary summarize(const std::vector<Answer>& answers, std::int64_t samples) {
  EvaluationSummary summary;
  summary.samples = samples;
  summary.rows = static_cast<std::int64_t>(answers.size()) / samples;
  if (summary.rows == 0) return summary;
  std::vector<double> tokens;
  std::vector<double> right(static_cast<std::size_t>(summary.rows), 0.0);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    tokens.push_back(static_cast<double>(answers[i].tokens));
    if (answers[i].correct) right[i % right.size()] += 1.0 / static_cast<double>(samples);
    summary.capped += answers[i].stop == StopReason::length_cap ? 1 : 0;
  }
  std::sort(tokens.begin(), tokens.end());
  const auto count = static_cast<double>(right.size());
  summary.accuracy = std::accumulate(right.begin(), right.end(), 0.0) / count;
  double squares = 0;
  for (const double share : right) squares += (share - summary.accuracy) * (share - summary.accuracy);
  summary.accuracy_error = std::sqrt(squares) / count;
  set_interval(summary, count);
  summary.tokens_median = quantile(tokens, 0.5);
  summary.tokens_lower_quartile = quantile(tokens, 0.25);
  summary.tokens_upper_quartile = quantile(tokens, 0.75);
  return summary;
}

}  // namespace engine
