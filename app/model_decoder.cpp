#include "app/model_decoder.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "app/analysis_model.h"
#include "app/run_data.h"
#include "engine/data/task.h"
#include "engine/inference.h"
#include "engine/recipe.h"

namespace app {

namespace {

constexpr std::uint64_t kExamplesPerTask = 4;

struct KnownExample {
  std::shared_ptr<const engine::data::Task> task;
  engine::data::Example example;
};

std::vector<KnownExample> known_examples(const engine::Recipe& recipe) {
  std::vector<KnownExample> known;
  for (const auto& options : recipe.data.tasks) {
    const std::shared_ptr<const engine::data::Task> task =
        engine::data::make_task(options, recipe.data.validation_share);
    for (std::uint64_t index = 0; index < kExamplesPerTask; ++index) {
      known.push_back({task, task->example(1, engine::data::Split::validation, index)});
    }
  }
  return known;
}

std::map<std::int32_t, std::string> special_names(const engine::data::Tokenizer& tokenizer) {
  std::map<std::int32_t, std::string> names;
  for (std::int32_t token = 0; token < tokenizer.vocab(); ++token) {
    if (tokenizer.bytes(token).empty()) names[token] = tokenizer.label(token);
  }
  return names;
}

class ModelDecoder final : public Decoder {
 public:
  ModelDecoder(const engine::Checkpoint& checkpoint, const RunData& run) : model_(checkpoint) {
    info_.key = run.key;
    info_.name = run.name;
    info_.step = step_of(checkpoint, run);
    info_.config = checkpoint.config;
    info_.device = "CPU";
    for (const auto& tensor : checkpoint.model) info_.parameters += static_cast<std::int64_t>(tensor.values.size());
    info_.special_names = special_names(model_.tokenizer());
    if (run.recipe) known_ = known_examples(*run.recipe);
    for (const auto& known : known_) {
      info_.examples.push_back({known.task->name(), known.example.prompt, known.example.answer});
    }
  }

  [[nodiscard]] ModelInfo info() const override { return info_; }

  PromptTokens read_prompt(const std::string& prompt) override {
    PromptTokens tokens;
    tokens.ids = model_.tokenizer().encode(prompt);
    for (const std::int32_t token : tokens.ids) tokens.bytes.push_back(model_.tokenizer().bytes(token));
    return tokens;
  }

  engine::Rollout rollout(const engine::RolloutRequest& request, const TokenObserver& on_token,
                          const std::stop_token& stop) override {
    return model_.rollout(request, on_token, stop);
  }

  Verdict judge(const std::string& prompt, const std::string& text) override {
    const auto found = std::find_if(known_.begin(), known_.end(),
                                    [&](const KnownExample& known) { return known.example.prompt == prompt; });
    if (found == known_.end()) return Verdict::unknown;
    return found->task->correct(found->example, text) ? Verdict::right : Verdict::wrong;
  }

 private:
  engine::InferenceModel model_;
  ModelInfo info_;
  std::vector<KnownExample> known_;
};

}  // namespace

std::unique_ptr<Decoder> open_decoder(const std::string& key) {
  return std::make_unique<ModelDecoder>(read_checkpoint(key), read_settings(key));
}

std::unique_ptr<Decoder> open_live_decoder(LiveModel& live, const std::string& key) {
  const std::shared_ptr<const engine::Checkpoint> checkpoint = live.copy(key);
  if (checkpoint == nullptr) return open_decoder(key);
  return std::make_unique<ModelDecoder>(*checkpoint, read_settings(key));
}

}  // namespace app
