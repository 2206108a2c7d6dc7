// fullband-cli evaluate: accuracy and token counts of a run's modes on a task, or on JSON Lines with prompts and
// answers; the modes share prompts and random numbers, so that they can be compared answer by answer.
#include <CLI/CLI.hpp>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/checks.h"
#include "app/cli/cli.h"
#include "app/cli/decode_modes.h"
#include "app/cli/json_line.h"
#include "app/cli/measured_run.h"
#include "app/cli/progress_line.h"
#include "engine/answer_statistics.h"
#include "engine/atomic_file.h"
#include "engine/error.h"

namespace app::cli {
namespace {

struct EvaluateOptions {
  MeasureOptions measure;
  std::string task;
  std::string jsonl;
  std::string out;
  std::string mode = "all";
  std::int64_t rows = 256;
  engine::EvaluationSettings settings;
};

/// One mode's answers.
struct ModeAnswers {
  engine::DecodeMode mode = engine::DecodeMode::standard;
  std::vector<engine::Answer> answers;
};

nlohmann::json to_json(const std::vector<engine::PassAtK>& shares) {
  nlohmann::json rows = nlohmann::json::array();
  for (const engine::PassAtK& pass : shares) {
    rows.push_back({{"k", pass.k}, {"value", pass.share.value}, {"error", finite_or_null(pass.share.error)}});
  }
  return rows;
}

nlohmann::json to_json(const std::vector<engine::LengthBin>& histogram) {
  nlohmann::json rows = nlohmann::json::array();
  for (const engine::LengthBin& bin : histogram) {
    rows.push_back({{"first", bin.first}, {"last", bin.last}, {"finished", bin.finished}, {"capped", bin.capped}});
  }
  return rows;
}

nlohmann::json to_json(const std::vector<engine::AccuracyAtCap>& caps) {
  nlohmann::json rows = nlohmann::json::array();
  for (const engine::AccuracyAtCap& at : caps) {
    rows.push_back({{"cap", at.cap},
                    {"accuracy", at.accuracy.value},
                    {"accuracy_error", finite_or_null(at.accuracy.error)},
                    {"capped", at.capped}});
  }
  return rows;
}

nlohmann::json mode_json(const EvaluateOptions& options, const QuestionSet& set, const MeasuredRun& run,
                         const std::vector<engine::Answer>& answers) {
  const std::int64_t samples = options.settings.samples;
  const std::int64_t cap = options.settings.max_tokens;
  const engine::EvaluationSummary summary = engine::summarize(answers, samples);
  const auto finished = static_cast<std::int64_t>(answers.size()) - summary.capped;
  return {{"rows", summary.rows},
          {"samples", samples},
          {"accuracy", summary.accuracy},
          {"accuracy_error", summary.accuracy_error},
          {"accuracy_low", summary.accuracy_low},
          {"accuracy_high", summary.accuracy_high},
          {"tokens_median", summary.tokens_median},
          {"tokens_lower_quartile", summary.tokens_lower_quartile},
          {"tokens_upper_quartile", summary.tokens_upper_quartile},
          {"capped", summary.capped},
          {"stop", {{"end_of_text", finished}, {"length_cap", summary.capped}}},
          {"pass_at_k", to_json(engine::pass_at_each_k(answers, samples))},
          {"lengths", to_json(engine::length_histogram(answers, cap))},
          {"at_caps", to_json(engine::accuracy_at_caps(answers, set.questions, run.model.tokenizer(),
                                                       engine::matched_caps(cap)))}};
}

nlohmann::json paired_json(const std::vector<ModeAnswers>& modes, std::size_t questions) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t a = 0; a < modes.size(); ++a) {
    for (std::size_t b = a + 1; b < modes.size(); ++b) {
      const engine::PairedCounts counts =
          engine::paired_counts(modes[a].answers, modes[b].answers, static_cast<std::int64_t>(questions));
      rows.push_back({{"first", engine::to_string(modes[a].mode)},
                      {"second", engine::to_string(modes[b].mode)},
                      {"both", counts.both},
                      {"only_first", counts.only_first},
                      {"only_second", counts.only_second},
                      {"neither", counts.neither},
                      {"p_value", counts.p_value},
                      {"difference", counts.difference.value},
                      {"difference_error", finite_or_null(counts.difference.error)}});
    }
  }
  return rows;
}

/// One line an answer, for other programs.
void write_records(const std::string& file, const QuestionSet& set, const std::vector<ModeAnswers>& modes) {
  std::string lines;
  const std::size_t questions = set.questions.size();
  for (const ModeAnswers& mode : modes) {
    for (std::size_t i = 0; i < mode.answers.size(); ++i) {
      const engine::Answer& answer = mode.answers[i];
      const engine::data::Example& example = set.questions[i % questions].example;
      lines += json_line({{"row", i % questions},
                          {"sample", i / questions},
                          {"mode", engine::to_string(mode.mode)},
                          {"prompt", example.prompt},
                          {"answer", example.answer},
                          {"text", answer.text},
                          {"correct", answer.correct},
                          {"tokens", answer.tokens},
                          {"ids", answer.ids},
                          {"stop", engine::to_string(answer.stop)}});
    }
  }
  engine::write_file_atomically(file, lines);
}

void print(engine::DecodeMode mode, const engine::EvaluationSummary& s, std::ostream& out) {
  out << std::left << std::setw(9) << engine::to_string(mode) << std::right << std::fixed << std::setprecision(1)
      << std::setw(6) << 100 * s.accuracy << " % right (standard error " << 100 * s.accuracy_error << ", 95 % interval "
      << 100 * s.accuracy_low << " to " << 100 * s.accuracy_high << ", " << s.rows << " rows"
      << (s.samples > 1 ? ", " + std::to_string(s.samples) + " samples each" : "") << ")  tokens: median "
      << s.tokens_median << ", quartiles " << s.tokens_lower_quartile << " to " << s.tokens_upper_quartile << ", "
      << s.capped << " capped\n";
}

void print_pairs(const nlohmann::json& pairs, std::ostream& out) {
  for (const nlohmann::json& pair : pairs) {
    out << pair["first"].get<std::string>() << " against " << pair["second"].get<std::string>() << ": only the first "
        << pair["only_first"] << ", only the second " << pair["only_second"] << ", both " << pair["both"]
        << ", neither " << pair["neither"] << "; exact McNemar p = " << std::defaultfloat << std::setprecision(3)
        << pair["p_value"].get<double>() << "\n";
  }
}

std::vector<ModeAnswers> answer_in_each_mode(const EvaluateOptions& options, const QuestionSet& set, MeasuredRun& run,
                                             const Streams& streams) {
  std::vector<ModeAnswers> modes;
  const auto total = static_cast<std::int64_t>(set.questions.size()) * options.settings.samples;
  for (const engine::DecodeMode mode : decode_modes(options.mode)) {
    engine::EvaluationSettings settings = options.settings;
    settings.mode = mode;
    settings.sampler.seed = options.measure.seed;
    ProgressLine progress(streams, engine::to_string(mode), total);
    modes.push_back({mode, engine::answer_questions(run.model, set.questions, settings,
                                                    [&](std::int64_t done) { progress.update(done); })});
  }
  return modes;
}

nlohmann::json result_json(const EvaluateOptions& options, const QuestionSet& set, const MeasuredRun& run,
                           const std::vector<ModeAnswers>& modes) {
  nlohmann::json result = measured_on(options.measure, run.loaded);
  result["task"] = set.name;
  result["rows"] = set.questions.size();
  result["samples"] = options.settings.samples;
  result["max_tokens"] = options.settings.max_tokens;
  result["temperature"] = options.settings.sampler.temperature;
  result["fused_passes"] = options.settings.fused_prefill_passes;
  for (const ModeAnswers& mode : modes)
    result["modes"][engine::to_string(mode.mode)] = mode_json(options, set, run, mode.answers);
  result["paired"] = paired_json(modes, set.questions.size());
  return result;
}

void print_all(const EvaluateOptions& options, const QuestionSet& set, const MeasuredRun& run,
               const std::vector<ModeAnswers>& modes, std::ostream& out) {
  out << set.name << ", " << measured_on_text(options.measure, run.loaded) << ", at most "
      << options.settings.max_tokens << " tokens\n";
  for (const ModeAnswers& mode : modes)
    print(mode.mode, engine::summarize(mode.answers, options.settings.samples), out);
  print_pairs(paired_json(modes, set.questions.size()), out);
}

int evaluate(const EvaluateOptions& options, const Streams& streams) {
  if (!options.out.empty()) engine::require_writable(options.out);
  MeasuredRun run = open_run(options.measure, streams);
  const std::string& source = options.jsonl.empty() ? options.task : options.jsonl;
  const QuestionSet set = find_questions(run.loaded, source, options.measure.seed, options.rows);
  const std::vector<ModeAnswers> modes = answer_in_each_mode(options, set, run, streams);
  if (options.measure.json) {
    streams.out << json_line(result_json(options, set, run, modes));
  } else {
    print_all(options, set, run, modes, streams.out);
  }
  // Last, so that a disk that filled up in the meantime costs the records alone.
  if (!options.out.empty()) write_records(options.out, set, modes);
  return 0;
}

void add_sampler_options(CLI::App& command, engine::EvaluationSettings& settings) {
  command.add_option("--samples", settings.samples, "Answers to each prompt (pass@k)")
      ->check(whole_number(1, 100000))
      ->capture_default_str();
  command.add_option("--max-tokens", settings.max_tokens, "Most tokens to generate")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
  command.add_option("--temperature", settings.sampler.temperature, "0 = greedy")
      ->check(number_not_negative())
      ->capture_default_str();
  command.add_option("--top-k", settings.sampler.top_k, "0 = off")
      ->check(whole_number(0, kMostCount))
      ->capture_default_str();
  command.add_option("--top-p", settings.sampler.top_p, "1 = off")->check(share_above_zero())->capture_default_str();
  command.add_option("--fused-passes", settings.fused_prefill_passes, "Fused: feedback passes over the prompt")
      ->check(whole_number(1, kMostFusedPasses))
      ->capture_default_str();
  command.add_option("--batch", settings.rows_at_once, "Rows decoded at once; changes no result")
      ->check(whole_number(1, kMostCount))
      ->capture_default_str();
}

}  // namespace

void add_evaluate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = app.add_subcommand("evaluate", "Score answers to held-out prompts");
  add_measure_options(*command, options->measure);
  CLI::Option* task = command->add_option(
      "--task", options->task, "Task name, or JSON Lines with prompt and answer (default: the run's first task)");
  command->add_option("--jsonl", options->jsonl, "JSON Lines file with prompt and answer a line, instead of a task")
      ->check(existing_file())
      ->excludes(task);
  command->add_option("--rows", options->rows, "Prompts")->check(whole_number(1, kMostCount))->capture_default_str();
  command->add_option("--mode", options->mode, "standard, soft, fused or all")
      ->check(known_mode())
      ->capture_default_str();
  add_sampler_options(*command, options->settings);
  command->add_option("--out", options->out, "Write every answer as a line of JSON to this file")->check(not_empty());
  command->callback([options, &action] { action = [options](const Streams& s) { return evaluate(*options, s); }; });
}

}  // namespace app::cli
