// A model that costs nothing: gives the prompt's bytes back as tokens, slowly if wanted.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "app/inference_worker.h"
#include "engine/error.h"

namespace app_tests {

class FakeDecoder final : public app::Decoder {
 public:
  explicit FakeDecoder(std::string key, std::chrono::milliseconds token_time = {})
      : key_(std::move(key)), token_time_(token_time) {}

  [[nodiscard]] app::ModelInfo info() const override {
    app::ModelInfo info;
    info.key = key_;
    info.name = "fake";
    info.step = 900;
    info.parameters = 200'000;
    info.examples = {{"memory", "state = 1\nspare = 7\n# final state:", "one"}};
    return info;
  }
  app::PromptTokens read_prompt(const std::string& prompt) override {
    if (prompt.empty()) throw engine::ConfigError("prompt", "is empty; type at least one token");
    return {{1}, {prompt}};
  }
  engine::Rollout rollout(const engine::RolloutRequest& request, const TokenObserver& on_token,
                          const std::stop_token& stop) override {
    engine::Rollout rollout;
    rollout.request = request;
    rollout.stop = engine::StopReason::length_cap;
    for (std::int64_t i = 0; i < request.max_tokens; ++i) {
      if (stop.stop_requested()) {
        rollout.stop = engine::StopReason::cancelled;
        break;
      }
      std::this_thread::sleep_for(token_time_);
      engine::RolloutToken token;
      token.id = static_cast<std::int32_t>(i >= 3 ? i + static_cast<int>(request.mode) : i);
      token.bytes = " t" + std::to_string(token.id);
      token.logprob = -0.02F * static_cast<float>(i % 40);
      token.entropy = 0.05F * static_cast<float>(i % 30);
      token.milliseconds = 0.21;
      rollout.tokens.push_back(token);
      rollout.text += token.bytes;
      on_token(token);
    }
    return rollout;
  }
  Verdict judge(const std::string& prompt, const std::string& /*text*/) override {
    return prompt == info().examples.front().prompt ? Verdict::right : Verdict::unknown;
  }

 private:
  std::string key_;
  std::chrono::milliseconds token_time_;
};

}  // namespace app_tests
