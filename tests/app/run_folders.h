// Run folders for tests, written by the engine itself.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/recipes.h"
#include "engine/metrics.h"
#include "engine/recipe.h"
#include "engine/run_store.h"

namespace app_tests {

/// Hundreds of steps a second on a laptop.
inline void make_tiny(engine::ModelConfig& model) {
  model.dim = 16;
  model.layers = 2;
  model.heads = 2;
  model.kv_heads = 2;
  model.ffn = 32;
}

inline engine::Recipe small_recipe(const std::string& name = "small") {
  engine::Recipe recipe = app::shipped_recipe("demo");
  recipe.name = name;
  recipe.train.steps = 60;
  recipe.train.rows = 4;
  recipe.train.warmup_steps = 5;
  recipe.train.validate_every = 20;
  recipe.train.validation_rows = 8;
  recipe.train.checkpoint_every = 20;
  make_tiny(recipe.model);
  return recipe;
}

/// Losses fall like 1.5 exp(-step / 20); every `nan_every`-th step is not finite (0: none).
inline engine::StepMetrics metrics_at(std::int64_t step, int passes, std::int64_t nan_every = 0) {
  engine::StepMetrics metrics;
  metrics.step = step;
  metrics.tokens = 2816 * step;
  metrics.token_equivalents = 2816 * step * passes;
  metrics.wall_seconds = 0.1 * static_cast<double>(step);
  metrics.passes = passes;
  for (int pass = 0; pass < passes; ++pass) {
    metrics.pass_loss.push_back(0.28 + (1.5 + 0.2 * pass) * std::exp(-static_cast<double>(step) / 20));
  }
  if (nan_every > 0 && step % nan_every == 0) metrics.pass_loss[0] = std::nan("");
  metrics.objective = metrics.pass_loss[0];
  metrics.learning_rate = 2e-3;
  metrics.gradient_norm = 0.5;
  metrics.tokens_per_second = 30'000;
  return metrics;
}

inline void write_run(const std::filesystem::path& folder, std::int64_t steps, std::int64_t nan_every = 0,
                      const std::string& name = "small") {
  const engine::Recipe recipe = small_recipe(name);
  std::filesystem::create_directories(folder.parent_path());
  auto writer = engine::RunWriter::create(folder, {{"recipe", engine::to_json(recipe)}, {"seed", 7}, {"id", "ab12"}});
  for (std::int64_t step = 1; step <= steps; ++step) {
    writer.append_metrics(engine::to_json(metrics_at(step, step > steps / 2 ? 2 : 1, nan_every), recipe.train.steps));
  }
}

}  // namespace app_tests
