#include "engine/recipe.h"

#include <array>
#include <cmath>

#include "engine/atomic_file.h"
#include "engine/hash.h"
#include "engine/json_fields.h"
#include "engine/json_io.h"

namespace engine {
namespace {

using nlohmann::json;

constexpr std::array<EnumName<OptimizerType>, 2> kOptimizers = {
    {{OptimizerType::adamw, "adamw"}, {OptimizerType::normuon, "normuon"}}};

json to_json(const DataConfig& data) {
  return {{"tasks", data.tasks},
          {"text", data.text},
          {"jsonl", data.jsonl},
          {"jsonl_field", data.jsonl_field},
          {"tokenizer", data.tokenizer},
          {"tokenizer_vocab", data.tokenizer_vocab},
          {"seq", data.seq},
          {"packing", data.packing},
          {"answer_weight", data.answer_weight},
          {"other_weight", data.other_weight},
          {"validation_share", data.validation_share}};
}

json to_json(const std::vector<Stage>& schedule) {
  json stages = json::array();
  for (const Stage& stage : schedule) {
    stages.push_back({{"share", stage.share}, {"passes", stage.passes}});
  }
  return stages;
}

json to_json(const TrainConfig& train) {
  return {{"steps", train.steps},
          {"rows", train.rows},
          {"schedule", to_json(train.schedule)},
          {"interleaved", train.interleaved},
          {"lambda", train.lambda},
          {"jitter", train.jitter},
          {"prefix_mixin", train.prefix_mixin},
          {"fully_fused_share", train.fully_fused_share},
          {"detach", train.detach},
          {"optimizer", to_string(train.optimizer)},
          {"rate", train.rate},
          {"adam_rate", train.adam_rate},
          {"beta1", train.beta1},
          {"beta2", train.beta2},
          {"epsilon", train.epsilon},
          {"weight_decay", train.weight_decay},
          {"warmup_steps", train.warmup_steps},
          {"cooldown_share", train.cooldown_share},
          {"final_rate", train.final_rate},
          {"clip", train.clip},
          {"z_loss", train.z_loss},
          {"validate_every", train.validate_every},
          {"validation_rows", train.validation_rows},
          {"validation_passes", train.validation_passes},
          {"checkpoint_every", train.checkpoint_every},
          {"log_every", train.log_every},
          {"recompute", train.recompute}};
}

DataConfig data_from_json(const json& object) {
  DataConfig data;
  FieldReader reader(object, "data.");
  if (const json* tasks = reader.find("tasks")) {
    data.tasks = *tasks;
  }
  reader.read("text", data.text);
  reader.read("jsonl", data.jsonl);
  reader.read("jsonl_field", data.jsonl_field);
  reader.read("tokenizer", data.tokenizer);
  reader.read("tokenizer_vocab", data.tokenizer_vocab);
  reader.read("seq", data.seq);
  reader.read("packing", data.packing);
  reader.read("answer_weight", data.answer_weight);
  reader.read("other_weight", data.other_weight);
  reader.read("validation_share", data.validation_share);
  reader.finish();
  return data;
}

/// {"share": 0.4, "passes": 1}, or shorter [0.4, 1].
Stage stage_from_json(const json& value, const std::string& field) {
  json object = value;
  if (value.is_array() && value.size() == 2) {
    object = {{"share", value[0]}, {"passes", value[1]}};
  }
  Stage stage;
  FieldReader reader(object, field + ".");
  reader.read("share", stage.share);
  reader.read("passes", stage.passes);
  reader.finish();
  return stage;
}

/// Shares may be given in percent: 40, 35, 25 instead of 0.4, 0.35, 0.25.
std::vector<Stage> schedule_from_json(const json& stages) {
  const std::string field = "train.schedule";
  if (!stages.is_array()) {
    throw ConfigError(field, "must be a list of stages like {\"share\": 0.4, \"passes\": 1}");
  }
  std::vector<Stage> schedule;
  double sum = 0;
  for (const json& stage : stages) {
    schedule.push_back(stage_from_json(stage, field + "." + std::to_string(schedule.size())));
    sum += schedule.back().share;
  }
  if (std::abs(sum - 100.0) <= 1e-4) {
    for (Stage& stage : schedule) {
      stage.share /= 100.0;
    }
  }
  return schedule;
}

TrainConfig train_from_json(const json& object) {
  TrainConfig train;
  FieldReader reader(object, "train.");
  reader.read("steps", train.steps);
  reader.read("rows", train.rows);
  if (const json* schedule = reader.find("schedule")) {
    train.schedule = schedule_from_json(*schedule);
  }
  reader.read("interleaved", train.interleaved);
  reader.read("lambda", train.lambda);
  reader.read("jitter", train.jitter);
  reader.read("prefix_mixin", train.prefix_mixin);
  reader.read("fully_fused_share", train.fully_fused_share);
  reader.read("detach", train.detach);
  reader.read<OptimizerType>("optimizer", train.optimizer, kOptimizers);
  reader.read("rate", train.rate);
  reader.read("adam_rate", train.adam_rate);
  reader.read("beta1", train.beta1);
  reader.read("beta2", train.beta2);
  reader.read("epsilon", train.epsilon);
  reader.read("weight_decay", train.weight_decay);
  reader.read("warmup_steps", train.warmup_steps);
  reader.read("cooldown_share", train.cooldown_share);
  reader.read("final_rate", train.final_rate);
  reader.read("clip", train.clip);
  reader.read("z_loss", train.z_loss);
  reader.read("validate_every", train.validate_every);
  reader.read("validation_rows", train.validation_rows);
  reader.read("validation_passes", train.validation_passes);
  reader.read("checkpoint_every", train.checkpoint_every);
  reader.read("log_every", train.log_every);
  reader.read("recompute", train.recompute);
  reader.finish();
  return train;
}

}  // namespace

std::string to_string(OptimizerType value) { return name_of<OptimizerType>(value, kOptimizers); }

json to_json(const Recipe& recipe) {
  return {{"name", recipe.name},
          {"claim", recipe.claim},
          {"model", to_json(recipe.model)},
          {"data", to_json(recipe.data)},
          {"train", to_json(recipe.train)}};
}

Recipe recipe_from_json(const json& object) {
  Recipe recipe;
  FieldReader reader(object, "");
  reader.read("name", recipe.name);
  reader.read("claim", recipe.claim);
  if (const json* model = reader.find("model")) {
    recipe.model = model_config_from_json(*model);
  }
  if (const json* data = reader.find("data")) {
    recipe.data = data_from_json(*data);
  }
  if (const json* train = reader.find("train")) {
    recipe.train = train_from_json(*train);
  }
  reader.finish();
  return recipe;
}

Recipe load_recipe(const std::filesystem::path& file) {
  try {
    return recipe_from_json(parse_json(read_file(file), file.string()));
  } catch (const ConfigError& error) {
    throw FormatError(file.string(), error.what());
  }
}

std::string config_hash(const Recipe& recipe) {
  json object = to_json(recipe);
  object["train"].erase("recompute");  // changes no number
  Hash64 hash;
  hash.add_text(dump_json(object));
  return hash.hex();
}

}  // namespace engine
