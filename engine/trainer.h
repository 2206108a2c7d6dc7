// Trains a recipe in a run folder: batches, K passes, gradients, clipping, optimiser, logging, checkpoints, exact
// resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "engine/process_group.h"
#include "engine/recipe.h"
#include "engine/training_job.h"

namespace engine {

struct TrainerOptions {
  std::filesystem::path folder;  ///< the run; created, or with `resume` continued from its newest complete checkpoint
  std::uint64_t seed = 1;
  std::string device = "auto";  ///< auto | cpu | cuda:N
  int threads = 0;              ///< 0 = all cores
  bool resume = false;
  /// The processes that share each batch's rows; null when this one trains alone. Only process 0 touches the folder.
  std::shared_ptr<ProcessGroup> group;
};

/// ConfigError, FileError, DeviceError, OutOfMemory before the first step when the recipe cannot be trained here.
std::unique_ptr<TrainingJob> make_trainer(const Recipe& recipe, const TrainerOptions& options);
/// Goes on with a run from its own run.json.
std::unique_ptr<TrainingJob> resume_trainer(const TrainerOptions& options);

/// Bytes that a step needs on the automatic device, counted from the configuration, said before anything is allocated.
std::int64_t estimate_memory(const Recipe& recipe);

}  // namespace engine
