// The models that the pages measure: a run's newest checkpoint, or the one that ships with the program.
#pragma once

#include <memory>
#include <string>

#include "app/analysis_worker.h"
#include "app/run_data.h"
#include "engine/checkpoint.h"
#include "engine/data/batch_source.h"

namespace app {

/// `key` as in RunData; without the optimiser's state. Throws the engine's errors.
engine::Checkpoint read_checkpoint(const std::string& key);
/// Only the settings: the metrics are not read.
RunData read_settings(const std::string& key);
/// The step that a checkpoint was written at.
std::int64_t step_of(const engine::Checkpoint& checkpoint, const RunData& run);

/// Call it on the thread that will measure. Throws the engine's errors: no checkpoint yet, a broken one, no memory.
std::unique_ptr<AnalysisModel> open_analysis_model(const std::string& key);

/// The recipe that the model was trained by; ConfigError that says so when it is not known.
const engine::Recipe& recipe_of(const AnalysisModel& model);
/// The rows that the model's run is validated on.
std::unique_ptr<engine::data::BatchSource> validation_source(const AnalysisModel& model);
/// "demo, step 2,000": what a measurement was made on.
std::string measured_on(const AnalysisModel& model);

}  // namespace app
