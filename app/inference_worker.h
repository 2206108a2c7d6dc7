// The engine thread of the Rollouts page: loads a model and decodes on it. Requests go in, values come out through a
// mailbox that the window reads at its own pace. Knows no widgets.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/config.h"
#include "engine/rollout_types.h"

namespace app {

/// A prompt of the run's own tasks, and what should follow.
struct ExamplePrompt {
  std::string task;
  std::string prompt;
  std::string answer;
};

struct ModelInfo {
  std::string key;   ///< of the run
  std::string name;  ///< for people
  std::int64_t step = 0;
  std::int64_t parameters = 0;
  std::string device;
  engine::ModelConfig config;
  std::vector<ExamplePrompt> examples;
  std::map<std::int32_t, std::string> special_names;  ///< of tokens without text: {63, "<eot>"}
};

struct PromptTokens {
  std::vector<std::int32_t> ids;
  std::vector<std::string> bytes;  ///< of each
};

/// A model as the worker sees it; tests use a fake. Made, used and destroyed on the worker's thread.
class Decoder {
 public:
  using TokenObserver = std::function<void(const engine::RolloutToken&)>;
  enum class Verdict { unknown, right, wrong };

  virtual ~Decoder() = default;
  [[nodiscard]] virtual ModelInfo info() const = 0;
  /// ConfigError when the prompt cannot be read.
  virtual PromptTokens read_prompt(const std::string& prompt) = 0;
  virtual engine::Rollout rollout(const engine::RolloutRequest& request, const TokenObserver& on_token,
                                  const std::stop_token& stop) = 0;
  /// Whether the text ends in the right answer, for a prompt that is one of the examples.
  virtual Verdict judge(const std::string& prompt, const std::string& text) = 0;
};

/// One thing that happened while decoding, in order.
struct RolloutEvent {
  enum class Kind { started, token, finished, failed };
  Kind kind = Kind::started;
  std::uint64_t ticket = 0;  ///< of the run() call
  engine::DecodeMode mode = engine::DecodeMode::standard;
  PromptTokens prompt;         ///< started
  engine::RolloutToken token;  ///< token
  engine::Rollout rollout;     ///< finished
  Decoder::Verdict verdict = Decoder::Verdict::unknown;
  std::string message;  ///< failed: one sentence
};

struct WorkerSnapshot {
  enum class State { empty, loading, ready, decoding };
  State state = State::empty;
  std::string problem;    ///< why the last load failed
  ModelInfo model;        ///< of the last load that succeeded; key is empty when there is none
  bool reloaded = false;  ///< `model` is new since the last poll
  std::vector<RolloutEvent> events;
};

class InferenceWorker {
 public:
  /// Runs on the worker's thread; may throw.
  using DecoderFactory = std::function<std::unique_ptr<Decoder>()>;

  InferenceWorker();
  /// Cancels and joins.
  ~InferenceWorker();
  InferenceWorker(const InferenceWorker&) = delete;
  InferenceWorker& operator=(const InferenceWorker&) = delete;

  /// Replaces the model; a rollout under way is cancelled. Of several loads that wait, only the last is done.
  void load(DecoderFactory make_decoder);
  /// Decodes the requests one after the other; a run under way is cancelled first. Returns the ticket of its events.
  std::uint64_t run(std::vector<engine::RolloutRequest> requests);
  void cancel();
  /// Never waits for a token.
  WorkerSnapshot poll();

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
};

}  // namespace app
