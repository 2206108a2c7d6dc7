// One run as the charts need it: settings and all measured values. Read from a run folder, from the shipped demo, or
// grown live from the training session.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/metrics.h"
#include "engine/recipe.h"
#include "engine/training_session.h"

namespace app {

/// Key of the checkpoint that ships with the program; every other key is the path of a run folder in UTF-8.
inline constexpr const char* kDemoKey = "demo";

struct RunData {
  std::string key;
  std::string name;
  std::string id;
  std::string config_hash;
  std::string version;
  std::uint64_t seed = 0;
  std::optional<engine::Recipe> recipe;  ///< absent when run.json could not be understood
  std::int64_t total_steps = 0;
  std::vector<engine::StepMetrics> steps;              ///< ascending
  std::vector<engine::ValidationMetrics> validations;  ///< ascending
  std::string problem;                                 ///< one sentence: what could not be read
  int rewrites = 0;  ///< how often steps or validations were replaced; otherwise they have only grown

  [[nodiscard]] std::int64_t step() const { return steps.empty() ? 0 : steps.back().step; }
  /// Index of the first step with a value that is not finite, or -1.
  [[nodiscard]] std::int64_t first_non_finite() const;
};

/// Adds a line of metrics.jsonl; lines that are neither a step nor a validation are passed over.
void add_metrics_line(RunData& run, const nlohmann::json& line);
/// Takes settings and identity from run.json, leniently: what is missing stays empty.
void take_run_json(RunData& run, const nlohmann::json& object);
/// Adds what a poll brought.
void add_snapshot(RunData& run, const engine::TrainingSnapshot& snapshot);

/// Never throws: what cannot be read is said in `problem`.
RunData load_run_folder(const std::filesystem::path& folder);
/// The same from text already in memory (the shipped demo).
RunData load_run_text(const std::string& key, const std::string& run_json, const std::string& metrics_jsonl);

}  // namespace app
