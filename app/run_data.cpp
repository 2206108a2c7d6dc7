#include "app/run_data.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/run_store.h"

namespace app {

namespace {

using nlohmann::json;

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool finite(const engine::StepMetrics& metrics) {
  return std::isfinite(metrics.objective) && std::all_of(metrics.pass_loss.begin(), metrics.pass_loss.end(),
                                                         [](double value) { return std::isfinite(value); });
}

void note(RunData& run, const std::string& problem) {
  if (run.problem.empty()) run.problem = problem;
}

}  // namespace

std::int64_t RunData::first_non_finite() const {
  const auto found = std::find_if_not(steps.begin(), steps.end(), finite);
  return found == steps.end() ? -1 : found - steps.begin();
}

void add_metrics_line(RunData& run, const json& line) {
  if (auto metrics = engine::step_metrics_from_json(line)) run.steps.push_back(std::move(*metrics));
  if (auto metrics = engine::validation_metrics_from_json(line)) run.validations.push_back(std::move(*metrics));
}

void take_run_json(RunData& run, const json& object) {
  run.id = text(object, "id");
  run.config_hash = text(object, "config_hash");
  run.version = text(object, "version");
  if (const auto seed = object.find("seed"); seed != object.end() && seed->is_number_unsigned()) run.seed = *seed;
  for (const char* name : {"recipe", "config"}) {
    if (run.recipe || !object.contains(name)) continue;
    run.recipe = engine::recipe_from_json(object.at(name));
  }
  if (!run.recipe) return;
  run.name = run.recipe->name;
  run.total_steps = run.recipe->train.steps;
  if (run.config_hash.empty()) run.config_hash = engine::config_hash(*run.recipe);
}

void add_snapshot(RunData& run, const engine::TrainingSnapshot& snapshot) {
  run.total_steps = std::max(run.total_steps, snapshot.total_steps);
  run.steps.insert(run.steps.end(), snapshot.steps.begin(), snapshot.steps.end());
  run.validations.insert(run.validations.end(), snapshot.validations.begin(), snapshot.validations.end());
}

RunData load_run_folder(const std::filesystem::path& folder) {
  RunData run;
  run.key = folder.string();
  run.name = folder.filename().string();
  try {
    take_run_json(run, engine::read_run(folder));
  } catch (const std::exception& error) {
    note(run, error.what());
  }
  try {
    std::uint64_t offset = 0;
    for (const json& line : engine::read_metrics(folder, offset)) add_metrics_line(run, line);
  } catch (const std::exception& error) {
    note(run, error.what());
  }
  return run;
}

RunData load_run_text(const std::string& key, const std::string& run_json, const std::string& metrics_jsonl) {
  RunData run;
  run.key = key;
  run.name = key;
  try {
    take_run_json(run, engine::parse_json(run_json, "run.json"));
    std::istringstream lines(metrics_jsonl);
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty()) add_metrics_line(run, engine::parse_metrics_line(line, "metrics.jsonl"));
    }
  } catch (const std::exception& error) {
    note(run, error.what());
  }
  return run;
}

}  // namespace app
