// One feedback pass over fixed rows with something in its fusion changed: states, token side, or the scale of what
// enters the stack (method page, "Inside the channel").
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/arena.h"
#include "engine/data/batch_source.h"
#include "engine/parameters.h"
#include "engine/tape.h"
#include "engine/transformer.h"

namespace engine {

class ChannelProbe {
 public:
  ChannelProbe(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch);
  ChannelProbe(const ChannelProbe&) = delete;
  ChannelProbe& operator=(const ChannelProbe&) = delete;

  /// What one fused pass changes. Absent vectors leave things as they are.
  struct Change {
    std::vector<float> states;      ///< [N,D] carried states; row n is fused with row n - 1's
    std::vector<float> token_side;  ///< [N,D] what the gate's sigmoid takes, or the token's summand
    float input_scale = 1.0F;       ///< of the layer-0 input of fused positions
  };
  using ResidualObserver = std::function<void(std::int64_t depth, const std::vector<float>& residual)>;

  /// Pass 1 and `feedback_passes` - 1 unchanged passes with these flags. Its own loss rows, [N] nats (0 not scored).
  std::vector<float> prepare(const std::vector<std::int32_t>& fused, int feedback_passes,
                             const ResidualObserver& on_plain_residual = {});
  /// The last feedback pass on what prepare() left, which any number of calls leave unchanged.
  std::vector<float> run(const Change& change, const ResidualObserver& on_residual = {});

  /// [N,D] row-major: the states that the last pass reads, and the tokens' side of the fusion.
  [[nodiscard]] std::vector<float> states() const;
  [[nodiscard]] std::vector<float> token_side() const;
  [[nodiscard]] const data::Batch& batch() const { return *batch_; }
  [[nodiscard]] const std::vector<std::int32_t>& fused() const { return fused_; }
  [[nodiscard]] std::int64_t dim() const { return states_.cols; }

 private:
  std::vector<float> stack_and_score(Variable input, const ResidualObserver& on_residual, bool keep_states);
  void begin_pass();
  Variable changed_input(const Change& change);

  kernels::Backend* backend_;
  const data::Batch* batch_;
  Arena base_;
  Arena pass_;
  Tape tape_;
  Transformer model_;
  std::vector<std::int32_t> fused_;
  kernels::IndexView positions_, targets_, flags_;
  kernels::View token_side_, plain_pass1_, plain_feedback_, states_, weight_;
};

}  // namespace engine
