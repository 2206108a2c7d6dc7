#include "app/cli/measured_run.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>

#include "app/cli/checks.h"
#include "engine/error.h"
#include "engine/recipe.h"

namespace app::cli {

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  command.add_option("--run", options.run, "Run folder, or demo for the shipped model")
      ->check(not_empty())
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Seed of prompts and random numbers")
      ->check(seed_number())
      ->capture_default_str();
  command.add_option("--device", options.device, "auto, cpu or cuda:N")->capture_default_str();
  command.add_flag("--json", options.json, "Print one JSON object");
}

MeasuredRun open_run(const MeasureOptions& options, const Streams& streams) {
  std::vector<std::string> problems;
  LoadedRun run = load_run(options.run, problems);
  for (const std::string& problem : problems) streams.err << "fullband-cli: " << problem << "\n";
  auto model = with_device_of_option([&] { return engine::InferenceModel(run.checkpoint, options.device); });
  return {std::move(run), std::move(model)};
}

nlohmann::json measured_on(const MeasureOptions& options, const LoadedRun& run) {
  return {{"run", options.run}, {"step", step_of(run)}, {"seed", options.seed}};
}

std::string measured_on_text(const MeasureOptions& options, const LoadedRun& run) {
  return options.run + ", step " + std::to_string(step_of(run)) + ", seed " + std::to_string(options.seed);
}

QuestionSet find_questions(const LoadedRun& run, const std::string& task_or_file, std::uint64_t seed,
                           std::int64_t rows) {
  if (names_a_file(task_or_file)) return app::find_questions({}, task_or_file, seed, rows);
  const engine::Recipe recipe = engine::recipe_from_json(run.description.at("recipe"));
  return named_by_option("--task",
                         [&] { return app::find_questions(recipe.data, task_or_file, seed, rows, "--task"); });
}

std::unique_ptr<engine::data::BatchSource> validation_source(const LoadedRun& run) {
  const engine::Recipe recipe = engine::recipe_from_json(run.description.at("recipe"));
  return engine::data::make_batch_source(recipe.data, engine::data::tokenizer_from_json(run.checkpoint.tokenizer));
}

nlohmann::json finite_or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

nlohmann::json values_of(const std::vector<engine::Estimate>& estimates) {
  nlohmann::json values = nlohmann::json::array();
  for (const engine::Estimate& estimate : estimates) values.push_back(finite_or_null(estimate.value));
  return values;
}

nlohmann::json errors_of(const std::vector<engine::Estimate>& estimates) {
  nlohmann::json errors = nlohmann::json::array();
  for (const engine::Estimate& estimate : estimates) errors.push_back(finite_or_null(estimate.error));
  return errors;
}

nlohmann::json to_json(const engine::Estimate& estimate) {
  return {{"value", finite_or_null(estimate.value)},
          {"error", finite_or_null(estimate.error)},
          {"rows", estimate.rows},
          {"counts", estimate.counts}};
}

}  // namespace app::cli
