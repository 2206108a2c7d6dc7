// What a verb works on: recipes by name or file, and models by run folder or "demo".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/checkpoint.h"
#include "engine/recipe.h"

namespace app::cli {

/// A file when there is one, otherwise a recipe that is part of the program; ConfigError lists the names there are.
engine::Recipe find_recipe(const std::string& name_or_file);
std::vector<std::string> recipe_names();

/// A model with what is known of the run that made it.
struct LoadedRun {
  engine::Checkpoint checkpoint;
  nlohmann::json description;  ///< run.json, or the shipped model's counterpart
};
/// The newest complete checkpoint of a run folder, or the shipped model for "demo". Skipped checkpoints are said in
/// `problems`.
LoadedRun load_run(const std::string& folder_or_demo, std::vector<std::string>& problems);
/// Steps that the model was trained for.
std::int64_t step_of(const LoadedRun& run);

}  // namespace app::cli
