// A Soft rollout recorded with all that decoding left behind, and the parallel passes that go over its tokens again
// (method page, "Rebuilding a cache").
//
// The last token that was sampled never entered the stack: prompt + generated[:-1] have states and cache entries. A
// response position is one of generated[:-1].
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch_decoder.h"
#include "engine/pass_runner.h"
#include "engine/rollout_types.h"

namespace engine {

struct RecordedRollout {
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> generated;
  std::vector<float> logprob;              ///< nats of each generated token, the exact sequential value
  std::vector<std::int32_t> most_likely;   ///< argmax at each response position
  std::vector<std::vector<float>> states;  ///< carried state of the last prompt and of each response position, [D]
  std::vector<std::vector<float>> key;     ///< a layer: [response positions, G*d] row-major
  std::vector<std::vector<float>> value;

  [[nodiscard]] std::int64_t response_positions() const { return static_cast<std::int64_t>(generated.size()) - 1; }
};

/// How to decode a rollout that is recorded.
struct RecordSettings {
  std::int64_t max_tokens = 64;
  SamplerSettings sampler;
  std::int64_t row = 0;                 ///< names the random numbers together with the sampler's seed
  std::int32_t end_of_text = -1;        ///< stops after this token; -1 = at max_tokens alone
  std::vector<std::int32_t> generated;  ///< these tokens instead of drawn ones, when not empty
};

/// ConfigError for an empty prompt or fewer than one token.
RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, const RecordSettings& settings);

/// A row of the table that keeps tokens, states and cache apart.
struct PositionRow {
  std::int64_t position = 0;
  std::int32_t token = 0;
  bool generated = false;
  bool cached = false;            ///< has keys and values, and a state
  std::int64_t reads_state = -1;  ///< position whose state it is fused with, -1 = plain
};
/// All tokens of prompt and answer, the last one included.
std::vector<PositionRow> position_table(const RecordedRollout& rollout);

/// Parallel passes over prompt + generated[:-1]. The prompt keeps its pass-1 inputs in every pass, as it had them while
/// decoding.
class RolloutPasses {
 public:
  RolloutPasses(kernels::Backend& backend, const Parameters& parameters, const RecordedRollout& rollout);
  RolloutPasses(const RolloutPasses&) = delete;
  RolloutPasses& operator=(const RolloutPasses&) = delete;

  /// Pass 1 at the first call, a feedback pass on the pass before at every other.
  void next();
  /// A feedback pass on the recorded states, which leaves what is numerical noise alone. After next().
  void on_recorded_states();

  /// Of the last pass: keys and values of all positions, and nll of each generated token [generated] with the argmax of
  /// each response position.
  [[nodiscard]] const std::vector<LayerCache>& cache() const { return cache_; }
  struct Scores {
    std::vector<double> nll;
    std::vector<std::int32_t> most_likely;
  };
  Scores score();

 private:
  kernels::Backend* backend_;
  const RecordedRollout* rollout_;
  Arena arena_;
  std::vector<LayerCache> cache_;
  PassRunner runner_;
  StackHooks store_;
  std::vector<std::int32_t> fused_;
  bool started_ = false;
};

}  // namespace engine
