// Which values of a recipe can be used: ranges, and relations between fields.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/json_fields.h"
#include "engine/json_io.h"
#include "engine/recipe.h"

namespace engine {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000'000;
constexpr std::int64_t kMaxTokensPerStep = 1 << 30;
constexpr int kMaxPasses = 64;
constexpr double kMaxRate = 1e6;
constexpr double kMaxWeight = 1e6;

void validate_tasks(const nlohmann::json& tasks) {
  if (!tasks.is_array()) {
    throw ConfigError("data.tasks", "must be a list of tasks like {\"name\": \"completion\", \"share\": 1}");
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const std::string field = "data.tasks." + std::to_string(i);
    const nlohmann::json& task = tasks[i];
    if (!task.is_object() || !task.contains("name") || !task["name"].is_string()) {
      throw ConfigError(field, "must be an object with the task's \"name\"");
    }
    if (!task.contains("share")) {
      continue;
    }
    if (!task["share"].is_number()) {
      throw ConfigError(field + ".share", "must be a finite number, not " + dump_json(task["share"]));
    }
    require_positive(field + ".share", task["share"].get<double>(), kMaxWeight);
  }
}

void validate_source(const DataConfig& data) {
  const int sources = (data.tasks.empty() ? 0 : 1) + (data.text.empty() ? 0 : 1) + (data.jsonl.empty() ? 0 : 1);
  if (sources != 1) {
    throw ConfigError("data.tasks", "exactly one of data.tasks, data.text and data.jsonl must be given, not " +
                                        std::to_string(sources) + " of them");
  }
  if (!data.jsonl.empty() && data.jsonl_field.empty()) {
    throw ConfigError("data.jsonl_field", "must name the member that holds the text");
  }
}

void validate_tokenizer(const DataConfig& data) {
  const std::vector<std::string> kinds = {"symbols", "byte", "sentencepiece-bpe", "sentencepiece-unigram"};
  if (std::find(kinds.begin(), kinds.end(), data.tokenizer) == kinds.end()) {
    throw ConfigError("data.tokenizer", "must be " + or_list(kinds) + ", not " + printable(data.tokenizer));
  }
  if (data.tokenizer == "symbols" && data.tasks.empty()) {
    throw ConfigError("data.tokenizer", "symbols are the closed vocabulary of tasks; text needs byte or sentencepiece");
  }
  if (data.tokenizer.starts_with("sentencepiece")) {
    // 256 bytes and three special tokens are always in.
    require_range("data.tokenizer_vocab", data.tokenizer_vocab, 260, 1 << 20);
  }
}

void validate(const DataConfig& data) {
  validate_tasks(data.tasks);
  validate_source(data);
  validate_tokenizer(data);
  require_range("data.seq", data.seq, 2, kMaxTokensPerStep);
  require_range("data.answer_weight", data.answer_weight, 0.0, kMaxWeight);
  require_range("data.other_weight", data.other_weight, 0.0, kMaxWeight);
  if (data.answer_weight == 0 && data.other_weight == 0) {
    throw ConfigError("data.answer_weight", "must be above 0 when data.other_weight is 0, or no token is scored");
  }
  require_positive("data.validation_share", data.validation_share, 0.9);
}

void validate(const std::vector<Stage>& schedule) {
  const std::string field = "train.schedule";
  require_range(field, static_cast<std::int64_t>(schedule.size()), 1, 64);
  double sum = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const std::string stage = field + "." + std::to_string(i);
    require_range(stage + ".share", schedule[i].share, 0.0, 1.0);
    require_range(stage + ".passes", std::int64_t{schedule[i].passes}, 1, kMaxPasses);
    sum += schedule[i].share;
  }
  if (std::abs(sum - 1.0) > 1e-6) {
    throw ConfigError(field, "the shares must sum to 1 (or, in percent, to 100), not to " + number_text(sum));
  }
}

void validate_optimizer(const TrainConfig& train) {
  require_positive("train.rate", train.rate, kMaxRate);
  require_positive("train.adam_rate", train.adam_rate, kMaxRate);
  require_range("train.beta1", train.beta1, 0.0, 0.999999);
  require_range("train.beta2", train.beta2, 0.0, 0.999999);
  require_positive("train.epsilon", train.epsilon, 1.0);
  require_range("train.weight_decay", train.weight_decay, 0.0, kMaxWeight);
  require_range("train.warmup_steps", train.warmup_steps, 0, kMaxCount);
  require_range("train.cooldown_share", train.cooldown_share, 0.0, 1.0);
  require_range("train.final_rate", train.final_rate, 0.0, 1.0);
  require_range("train.clip", train.clip, 0.0, kMaxWeight);
  require_range("train.z_loss", train.z_loss, 0.0, kMaxWeight);
}

void validate_counts(const TrainConfig& train) {
  require_range("train.steps", train.steps, 1, kMaxCount);
  require_range("train.rows", train.rows, 1, kMaxTokensPerStep);
  require_range("train.validate_every", train.validate_every, 0, kMaxCount);
  require_range("train.validation_rows", train.validation_rows, 1, kMaxCount);
  require_range("train.validation_passes", std::int64_t{train.validation_passes}, 0, kMaxPasses);
  require_range("train.checkpoint_every", train.checkpoint_every, 0, kMaxCount);
  require_range("train.log_every", train.log_every, 1, kMaxCount);
}

void validate(const TrainConfig& train) {
  validate_counts(train);
  validate(train.schedule);
  require_range("train.lambda", train.lambda, 0.0, kMaxWeight);
  require_range("train.jitter", train.jitter, 0.0, kMaxWeight);
  require_range("train.fully_fused_share", train.fully_fused_share, 0.0, 1.0);
  validate_optimizer(train);
}

}  // namespace

void Recipe::validate() const {
  if (name.empty()) {
    throw ConfigError("name", "must not be empty");
  }
  model.validate();
  engine::validate(data);
  engine::validate(train);
  if (train.rows > kMaxTokensPerStep / data.seq) {
    throw ConfigError("train.rows", "times data.seq must be at most " + std::to_string(kMaxTokensPerStep) +
                                        " tokens a step; lower one of them");
  }
}

}  // namespace engine
