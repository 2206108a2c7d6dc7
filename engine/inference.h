// A trained model ready to decode: weights on a device of its own, tokenizer, and the three modes with a KV cache.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "engine/checkpoint.h"
#include "engine/data/tokenizer.h"
#include "engine/parameters.h"
#include "engine/rollout_types.h"

namespace engine {

/// Belongs to the thread that makes it.
class InferenceModel {
 public:
  /// FormatError / DeviceError / OutOfMemory.
  explicit InferenceModel(const Checkpoint& checkpoint, const std::string& device = "auto", int threads = 0);
  ~InferenceModel();
  InferenceModel(InferenceModel&&) noexcept;

  [[nodiscard]] const ModelConfig& config() const;
  [[nodiscard]] const data::Tokenizer& tokenizer() const;

  /// The device and the weights, for measurements on this model (engine/stability.h, engine/evaluation.h and others).
  [[nodiscard]] kernels::Backend& backend() const;
  [[nodiscard]] const Parameters& parameters() const;

  using TokenObserver = std::function<void(const RolloutToken&)>;
  /// Decodes one prompt. ConfigError for an empty prompt or one outside the vocabulary. `on_token` is called after each
  /// token on this thread; a stop request ends the rollout with StopReason::cancelled.
  Rollout rollout(const RolloutRequest& request, const TokenObserver& on_token = {}, const std::stop_token& stop = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace engine
