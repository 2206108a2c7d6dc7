// Tiny recipes and helpers to train them in temporary folders.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/recipe.h"
#include "engine/run_store.h"
#include "engine/trainer.h"
#include "tests/engine/support/test_model.h"

namespace support {

/// Ten steps of a running sum with K = 1, 2 and 3, warm-up, cool-down with z-loss, no validation.
inline engine::Recipe tiny_recipe(engine::OptimizerType optimizer = engine::OptimizerType::adamw) {
  engine::Recipe recipe;
  recipe.name = "tiny";
  recipe.model.dim = 16;
  recipe.model.layers = 2;
  recipe.model.heads = recipe.model.kv_heads = 2;
  recipe.model.ffn = 24;
  recipe.data.tasks = nlohmann::json::parse(R"([{"name": "running-sum", "modulo": 3, "max_length": 6}])");
  recipe.data.seq = 24;
  recipe.train.steps = 10;
  recipe.train.rows = 6;
  recipe.train.schedule = {{0.3, 1}, {0.4, 2}, {0.3, 3}};
  recipe.train.warmup_steps = 2;
  recipe.train.optimizer = optimizer;
  recipe.train.validate_every = 0;
  recipe.train.checkpoint_every = 0;
  return recipe;
}

inline engine::TrainerOptions trainer_options(const std::filesystem::path& folder, std::uint64_t seed = 1) {
  engine::TrainerOptions options;
  options.folder = folder;
  options.seed = seed;
  options.device = test_device();
  options.threads = 2;
  return options;
}

inline std::vector<engine::StepMetrics> train_steps(engine::TrainingJob& job, std::int64_t count) {
  std::vector<engine::StepMetrics> metrics;
  for (std::int64_t i = 0; i < count; ++i) metrics.push_back(job.train_step());
  return metrics;
}

/// Trains a recipe to its end in a new run and gives its last checkpoint.
inline engine::Checkpoint trained(const engine::Recipe& recipe, const std::filesystem::path& folder,
                                  std::uint64_t seed = 1) {
  const auto job = make_trainer(recipe, trainer_options(folder, seed));
  train_steps(*job, recipe.train.steps);
  job->save("done");
  return engine::read_newest_checkpoint(folder, true);
}

}  // namespace support
