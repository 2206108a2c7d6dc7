#include "app/batch_measure.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/analysis_model.h"
#include "app/question_set.h"

namespace app {

namespace {

using engine::Answer;

constexpr std::int64_t kMostBins = 64;  // a bin a length where the cap allows it

/// One mode's answers while others are still to come.
struct ModeAnswers {
  engine::DecodeMode mode = engine::DecodeMode::standard;
  std::vector<Answer> answers;
};

QuestionSet questions_of(const AnalysisModel& model, const BatchRequest& request) {
  const std::uint64_t seed = request.settings.sampler.seed;
  // A file needs nothing of the run's settings, which may not be known.
  if (std::filesystem::is_regular_file(request.source)) return find_questions({}, request.source, seed, request.rows);
  return find_questions(recipe_of(model).data, request.source, seed, request.rows);
}

ModeResult summary_of(const ModeAnswers& mode, const QuestionSet& set, const AnalysisModel& model,
                      const engine::EvaluationSettings& settings) {
  ModeResult result;
  result.mode = mode.mode;
  result.summary = engine::summarize(mode.answers, settings.samples);
  result.pass_at_k = engine::pass_at_each_k(mode.answers, settings.samples);
  result.lengths = engine::length_histogram(mode.answers, settings.max_tokens, kMostBins);
  result.at_caps = engine::accuracy_at_caps(mode.answers, set.questions, model.model.tokenizer(),
                                            engine::matched_caps(settings.max_tokens));
  return result;
}

std::vector<PairResult> pairs_of(const std::vector<ModeAnswers>& modes, std::int64_t questions) {
  std::vector<PairResult> pairs;
  for (std::size_t a = 0; a < modes.size(); ++a) {
    for (std::size_t b = a + 1; b < modes.size(); ++b) {
      pairs.push_back(
          {modes[a].mode, modes[b].mode, engine::paired_counts(modes[a].answers, modes[b].answers, questions)});
    }
  }
  return pairs;
}

std::string json_lines(const std::vector<ModeAnswers>& modes, const QuestionSet& set) {
  std::string lines;
  const std::size_t questions = set.questions.size();
  for (const ModeAnswers& mode : modes) {
    for (std::size_t i = 0; i < mode.answers.size(); ++i) {
      const Answer& answer = mode.answers[i];
      const engine::data::Example& example = set.questions[i % questions].example;
      const nlohmann::json line = {
          {"row", i % questions},          {"sample", i / questions},  {"mode", to_string(mode.mode)},
          {"prompt", example.prompt},      {"answer", example.answer}, {"text", answer.text},
          {"correct", answer.correct},     {"tokens", answer.tokens},  {"ids", answer.ids},
          {"stop", to_string(answer.stop)}};
      lines += line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
  }
  return lines;
}

}  // namespace

BatchResult measure_batch(AnalysisModel& model, const BatchRequest& request, const AnalysisControl& control) {
  const QuestionSet set = questions_of(model, request);
  const auto questions = static_cast<std::int64_t>(set.questions.size());
  const std::int64_t each = questions * request.settings.samples;
  std::vector<ModeAnswers> modes;
  for (const engine::DecodeMode mode : request.modes) {
    engine::EvaluationSettings settings = request.settings;
    settings.mode = mode;
    const auto before = static_cast<std::int64_t>(modes.size()) * each;
    const auto progress = [&](std::int64_t done) {
      if (control.progress) control.progress(before + done, static_cast<std::int64_t>(request.modes.size()) * each);
    };
    modes.push_back({mode, engine::answer_questions(model.model, set.questions, settings, progress, control.stop)});
  }
  BatchResult result;
  result.request = request;
  result.source = std::filesystem::path(set.name).filename().string();
  result.run = measured_on(model);
  result.step = model.step;
  for (const ModeAnswers& mode : modes) result.modes.push_back(summary_of(mode, set, model, request.settings));
  result.pairs = pairs_of(modes, questions);
  result.answers = json_lines(modes, set);
  return result;
}

}  // namespace app
