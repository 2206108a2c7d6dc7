#include "app/cli/run_source.h"

#include <filesystem>
#include <span>

#include "app/question_set.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/run_store.h"
#include "resources/embedded.h"

namespace app::cli {
namespace {

constexpr std::string_view kRecipes = "recipes/";
constexpr std::string_view kJson = ".json";

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

LoadedRun load_demo() {
  const auto model = resources::find("models/demo.safetensors");
  const auto description = resources::find("models/demo.json");
  if (!model || !description) throw engine::ConfigError("--run", "this build carries no demo model; name a run folder");
  const auto bytes = std::as_bytes(std::span(model->data(), model->size()));
  return {engine::read_model_bytes(bytes, "demo"), engine::parse_json(*description, "demo.json")};
}

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const resources::File& file : resources::files()) {
    if (!file.name.starts_with(kRecipes)) continue;
    names.emplace_back(file.name.substr(kRecipes.size(), file.name.size() - kRecipes.size() - kJson.size()));
  }
  return names;
}

engine::Recipe find_recipe(const std::string& name_or_file) {
  if (names_a_file(name_or_file)) return engine::load_recipe(name_or_file);
  const auto text = resources::find(std::string(kRecipes) + name_or_file + std::string(kJson));
  if (!text) {
    throw engine::ConfigError("--recipe", "there is neither a file nor a recipe called " + name_or_file +
                                              "; recipes are " + joined(recipe_names()));
  }
  return engine::recipe_from_json(engine::parse_json(*text, name_or_file));
}

LoadedRun load_run(const std::string& folder_or_demo, std::vector<std::string>& problems) {
  if (folder_or_demo == "demo" && !std::filesystem::exists(folder_or_demo)) return load_demo();
  nlohmann::json description = engine::read_run(folder_or_demo);
  return {engine::read_newest_checkpoint(folder_or_demo, false, &problems), std::move(description)};
}

std::int64_t step_of(const LoadedRun& run) {
  const nlohmann::json& state = run.checkpoint.state;
  if (state.is_object() && state.contains("step")) return state["step"].get<std::int64_t>();
  return run.description.value("steps", std::int64_t{0});  // the shipped model is the end of its training
}

}  // namespace app::cli
