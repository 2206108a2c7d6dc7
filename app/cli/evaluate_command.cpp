// fullband-cli evaluate: accuracy and token counts of a run's modes on a task, or on JSON Lines with prompts and
// answers.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iomanip>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/cli/cli.h"
#include "app/cli/decode_modes.h"
#include "app/cli/progress_line.h"
#include "app/cli/run_source.h"
#include "engine/error.h"
#include "engine/evaluation.h"
#include "engine/recipe.h"

namespace app::cli {
namespace {

struct EvaluateOptions {
  std::string run = "demo";
  std::string task;
  std::string mode = "all";
  std::string device = "auto";
  std::int64_t rows = 256;
  std::uint64_t seed = 1;
  engine::EvaluationSettings settings;
  bool json = false;
};

/// The questions, and the task they come from, which must outlive them.
struct QuestionSet {
  std::unique_ptr<engine::data::Task> task;
  std::vector<engine::Question> questions;
};

/// A task as the run was trained on it where it was, otherwise with the task's own defaults.
QuestionSet find_questions(const EvaluateOptions& options, const LoadedRun& run) {
  QuestionSet set;
  if (std::filesystem::is_regular_file(options.task)) {
    set.questions = engine::jsonl_questions(options.task);
    if (static_cast<std::int64_t>(set.questions.size()) > options.rows)
      set.questions.resize(static_cast<std::size_t>(options.rows));
    return set;
  }
  const engine::Recipe recipe = engine::recipe_from_json(run.description.at("recipe"));
  nlohmann::json wanted = {{"name", options.task}};
  for (const nlohmann::json& task : recipe.data.tasks) {
    if (options.task.empty() || task.at("name") == options.task) {
      wanted = task;
      break;
    }
  }
  if (wanted.at("name") == "")
    throw engine::ConfigError("--task", "this run was not trained on a task; name one, or a JSON Lines file");
  wanted.erase("share");
  set.task = engine::data::make_task(wanted, recipe.data.validation_share);
  set.questions = engine::task_questions(*set.task, options.seed, options.rows);
  return set;
}

nlohmann::json to_json(const engine::EvaluationSummary& summary) {
  return {{"rows", summary.rows},
          {"accuracy", summary.accuracy},
          {"accuracy_error", summary.accuracy_error},
          {"tokens_median", summary.tokens_median},
          {"tokens_lower_quartile", summary.tokens_lower_quartile},
          {"tokens_upper_quartile", summary.tokens_upper_quartile},
          {"capped", summary.capped}};
}

void print(engine::DecodeMode mode, const engine::EvaluationSummary& s, std::ostream& out) {
  out << std::left << std::setw(9) << engine::to_string(mode) << std::right << std::fixed << std::setprecision(1)
      << std::setw(6) << 100 * s.accuracy << " % right (standard error " << 100 * s.accuracy_error << ", " << s.rows
      << " rows)  tokens: median " << s.tokens_median << ", quartiles " << s.tokens_lower_quartile << " to "
      << s.tokens_upper_quartile << ", " << s.capped << " capped\n";
}

int evaluate(const EvaluateOptions& options, const Streams& streams) {
  std::vector<std::string> problems;
  const LoadedRun run = load_run(options.run, problems);
  for (const std::string& problem : problems) streams.err << "fullband-cli: " << problem << "\n";
  const QuestionSet set = find_questions(options, run);
  engine::InferenceModel model(run.checkpoint, options.device);
  nlohmann::json modes = nlohmann::json::object();
  for (const engine::DecodeMode mode : decode_modes(options.mode)) {
    engine::EvaluationSettings settings = options.settings;
    settings.mode = mode;
    settings.sampler.seed = options.seed;
    ProgressLine progress(streams, engine::to_string(mode), static_cast<std::int64_t>(set.questions.size()));
    const auto answers =
        engine::answer_questions(model, set.questions, settings, [&](std::int64_t done) { progress.update(done); });
    const engine::EvaluationSummary summary = engine::summarize(answers);
    modes[engine::to_string(mode)] = to_json(summary);
    if (!options.json) print(mode, summary, streams.out);
  }
  if (options.json) {
    const std::string task = set.task ? set.task->name() : options.task;
    streams.out << nlohmann::json{{"run", options.run}, {"task", task}, {"seed", options.seed}, {"modes", modes}}.dump()
                << "\n";
  }
  return 0;
}

}  // namespace

void add_evaluate_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<EvaluateOptions>();
  engine::EvaluationSettings& settings = options->settings;
  CLI::App* command = app.add_subcommand("evaluate", "Score answers to held-out prompts");
  command->add_option("--run", options->run, "Run folder, or demo for the shipped model")->capture_default_str();
  command->add_option("--task", options->task,
                      "Task name, or JSON Lines with prompt and answer (default: the run's first task)");
  command->add_option("--rows", options->rows, "Prompts")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_option("--mode", options->mode, "standard, soft, fused or all")
      ->check(known_mode())
      ->capture_default_str();
  command->add_option("--max-tokens", settings.max_tokens, "Most tokens to generate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--temperature", settings.sampler.temperature, "0 = greedy")
      ->check(finite_not_negative())
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of prompts and sampler")->capture_default_str();
  command->add_option("--device", options->device, "auto, cpu or cuda:N")->capture_default_str();
  command->add_flag("--json", options->json, "Print one JSON object");
  command->callback([options, &action] { action = [options](const Streams& s) { return evaluate(*options, s); }; });
}

}  // namespace app::cli
