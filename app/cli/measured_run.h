// What the measuring verbs share: a run with its model, held-out prompts and rows of it, and what a figure was measured
// on.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/cli.h"
#include "app/cli/run_source.h"
#include "app/question_set.h"
#include "engine/data/batch_source.h"
#include "engine/estimate.h"
#include "engine/evaluation.h"
#include "engine/inference.h"

namespace app::cli {

/// Arguments of every measuring verb.
struct MeasureOptions {
  std::string run = "demo";
  std::string device = "auto";
  std::uint64_t seed = 1;
  bool json = false;
};
void add_measure_options(CLI::App& command, MeasureOptions& options);

struct MeasuredRun {
  LoadedRun loaded;
  engine::InferenceModel model;
};
/// Loads a run; skipped checkpoints are said on `err`.
MeasuredRun open_run(const MeasureOptions& options, const Streams& streams);

/// run, step and seed: the beginning of every result.
nlohmann::json measured_on(const MeasureOptions& options, const LoadedRun& run);
/// The same as a sentence's beginning, "demo, step 2000, seed 1".
std::string measured_on_text(const MeasureOptions& options, const LoadedRun& run);

/// Held-out questions of a task (empty: the run's first) as the run was trained on it where it was, otherwise with the
/// task's own defaults; or the first `rows` of a JSON Lines file.
QuestionSet find_questions(const LoadedRun& run, const std::string& task_or_file, std::uint64_t seed,
                           std::int64_t rows);
/// The rows that the run is validated on.
std::unique_ptr<engine::data::BatchSource> validation_source(const LoadedRun& run);

/// A number that JSON can hold: null where it is not finite.
nlohmann::json finite_or_null(double value);
/// One member of many estimates.
nlohmann::json values_of(const std::vector<engine::Estimate>& estimates);
nlohmann::json errors_of(const std::vector<engine::Estimate>& estimates);
/// {"value", "error", "rows"}
nlohmann::json to_json(const engine::Estimate& estimate);

}  // namespace app::cli
