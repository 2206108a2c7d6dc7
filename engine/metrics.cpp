#include "engine/metrics.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace engine {
namespace {

using nlohmann::json;

/// "val/loss_pass" + 1, 2, ...
void add_passes(json& object, const std::string& key, const std::vector<double>& values) {
  for (std::size_t k = 0; k < values.size(); ++k) {
    object[key + std::to_string(k + 1)] = values[k];
  }
}

std::vector<double> passes_of(const json& object, const std::string& key) {
  std::vector<double> values;
  for (auto member = object.find(key + "1"); member != object.end() && member->is_number();
       member = object.find(key + std::to_string(values.size() + 1))) {
    values.push_back(member->get<double>());
  }
  return values;
}

template <typename Metrics>
json counters(const Metrics& metrics, std::int64_t total_steps) {
  json object = {{"step", metrics.step},
                 {"tokens", metrics.tokens},
                 {"token_equivalents", metrics.token_equivalents},
                 {"wall", metrics.wall_seconds}};
  if (total_steps > 0) {
    object["rel"] = static_cast<double>(metrics.step) / static_cast<double>(total_steps);
  }
  return object;
}

double number(const json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_number() ? member->get<double>() : std::nan("");
}

std::int64_t count(const json& object, const char* key) {
  const auto member = object.find(key);
  return member != object.end() && member->is_number_integer() ? member->get<std::int64_t>() : 0;
}

template <typename Metrics>
Metrics read_counters(const json& line) {
  Metrics metrics;
  metrics.step = count(line, "step");
  metrics.tokens = count(line, "tokens");
  metrics.token_equivalents = count(line, "token_equivalents");
  metrics.wall_seconds = number(line, "wall");
  return metrics;
}

}  // namespace

json to_json(const StepMetrics& metrics, std::int64_t total_steps) {
  json object = counters(metrics, total_steps);
  object["time"] = metrics.unix_seconds;
  object["passes"] = metrics.passes;
  object["train/loss"] = metrics.objective;
  add_passes(object, "train/loss_pass", metrics.pass_loss);
  object["lr"] = metrics.learning_rate;
  object["grad_norm"] = metrics.gradient_norm;
  object["tokens_per_s"] = metrics.tokens_per_second;
  return object;
}

json to_json(const ValidationMetrics& metrics, std::int64_t total_steps) {
  json object = counters(metrics, total_steps);
  object["val/rows"] = metrics.rows;
  add_passes(object, "val/loss_pass", metrics.pass_loss);
  add_passes(object, "val/error_pass", metrics.pass_error);
  add_passes(object, "val/accuracy_pass", metrics.pass_accuracy);
  return object;
}

std::optional<StepMetrics> step_metrics_from_json(const json& line) {
  if (!line.is_object() || !line.contains("train/loss")) {
    return std::nullopt;
  }
  auto metrics = read_counters<StepMetrics>(line);
  metrics.unix_seconds = number(line, "time");
  metrics.objective = number(line, "train/loss");
  metrics.pass_loss = passes_of(line, "train/loss_pass");
  metrics.passes = static_cast<int>(metrics.pass_loss.size());
  metrics.learning_rate = number(line, "lr");
  metrics.gradient_norm = number(line, "grad_norm");
  metrics.tokens_per_second = number(line, "tokens_per_s");
  return metrics;
}

std::optional<ValidationMetrics> validation_metrics_from_json(const json& line) {
  if (!line.is_object() || !line.contains("val/loss_pass1")) {
    return std::nullopt;
  }
  auto metrics = read_counters<ValidationMetrics>(line);
  metrics.rows = count(line, "val/rows");
  metrics.pass_loss = passes_of(line, "val/loss_pass");
  metrics.pass_error = passes_of(line, "val/error_pass");
  metrics.pass_accuracy = passes_of(line, "val/accuracy_pass");
  return metrics;
}

}  // namespace engine
