#include "app/analysis_model.h"

#include <span>
#include <utility>

#include "app/paths.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/run_store.h"

namespace app {

engine::Checkpoint read_checkpoint(const std::string& key) {
  if (key != kDemoKey) {
    std::vector<std::string> broken;
    if (engine::list_checkpoints(key, &broken).empty() && broken.empty())
      throw NoCheckpoint(key,
                         "has no checkpoint yet; go on with its training on the Training page, or select another run");
    return engine::read_newest_checkpoint(key, false);
  }
  const QByteArray bytes = resource("models/demo.safetensors");
  const auto size = static_cast<std::size_t>(bytes.size());
  return engine::read_model_bytes(std::as_bytes(std::span(bytes.constData(), size)), "the shipped model");
}

RunData read_settings(const std::string& key) {
  if (key == kDemoKey) return load_run_text(key, resource("models/demo.json").toStdString(), "");
  RunData run;
  run.key = key;
  take_run_json(run, engine::read_run(key));
  return run;
}

std::int64_t step_of(const engine::Checkpoint& checkpoint, const RunData& run) {
  return checkpoint.state.is_object() ? checkpoint.state.value("step", run.total_steps) : run.total_steps;
}

std::unique_ptr<AnalysisModel> open_analysis_model(const std::string& key) {
  const engine::Checkpoint checkpoint = read_checkpoint(key);
  RunData run = read_settings(key);
  auto model = std::make_unique<AnalysisModel>(checkpoint);
  model->key = key;
  model->name = run.name;
  model->step = step_of(checkpoint, run);
  model->seed = run.seed;
  model->recipe = std::move(run.recipe);
  return model;
}

const engine::Recipe& recipe_of(const AnalysisModel& model) {
  if (!model.recipe)
    throw engine::ConfigError("recipe", "the settings of " + model.name + " cannot be read; choose another run");
  return *model.recipe;
}

std::unique_ptr<engine::data::BatchSource> validation_source(const AnalysisModel& model) {
  return engine::data::make_batch_source(recipe_of(model).data,
                                         engine::data::tokenizer_from_json(model.model.tokenizer().to_json()));
}

std::string measured_on(const AnalysisModel& model) { return model.name + ", step " + std::to_string(model.step); }

}  // namespace app
