// Forward passes over fixed rows, one at a time and in constant memory: validation, fused prefill, stability, cache
// rebuild.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/arena.h"
#include "engine/ops.h"
#include "engine/parameters.h"
#include "engine/tape.h"
#include "engine/transformer.h"

namespace engine {

class PassRunner {
 public:
  PassRunner(kernels::Backend& backend, const Parameters& parameters);
  PassRunner(const PassRunner&) = delete;
  PassRunner& operator=(const PassRunner&) = delete;

  /// Takes rows of tokens with their places in their documents, both [N].
  void begin(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& positions);
  /// Pass 1: every position plain.
  void plain_pass(const StackHooks& hooks = {});
  /// The next pass on the states of the one before (or on `states`, [N,D]). Plain positions get the input of a feedback
  /// pass, or with `plain_as_in_pass1` the one they had in pass 1.
  void feedback_pass(const std::vector<std::int32_t>& fused, const StackHooks& hooks = {},
                     bool plain_as_in_pass1 = false, kernels::ConstView states = {});

  /// Carried states of the last pass and of the one before it, [N,D], and what the head reads; valid until the pass
  /// after next.
  [[nodiscard]] kernels::ConstView carried() const { return carried_[current_]; }
  [[nodiscard]] kernels::ConstView previous_carried() const { return carried_[1 - current_]; }
  [[nodiscard]] kernels::ConstView normed() const { return normed_; }

  /// The numbers of a variable that a hook was called with, during the call.
  [[nodiscard]] kernels::ConstView value(Variable variable) const { return tape_.value(variable); }

  /// Per-row loss of the last pass, [N] nats, 0 where the target is -1, and the most likely tokens.
  struct Scores {
    std::vector<float> nll;
    std::vector<std::int32_t> argmax;
  };
  Scores score(const std::vector<std::int32_t>& targets);
  /// Logits [rows, V] of chosen rows of the last pass, row-major.
  std::vector<float> logits(const std::vector<std::int32_t>& rows);

  /// Device copy of host indices that lives as long as the current rows (for StackHooks).
  kernels::IndexView keep_indices(const std::vector<std::int32_t>& values);

 private:
  void finish_pass(const StackOutput& top);
  void begin_pass();

  kernels::Backend* backend_;
  Arena base_;  // what lives as long as the rows
  Arena pass_;  // what lives for one pass
  Tape tape_;
  Transformer model_;
  kernels::IndexView tokens_, positions_;
  kernels::View embeddings_, token_side_, plain_pass1_, plain_feedback_;
  kernels::View carried_[2], normed_;
  int current_ = 0;
  bool has_token_side_ = false;
};

}  // namespace engine
