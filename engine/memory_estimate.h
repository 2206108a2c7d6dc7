// The memory that training a recipe takes, found by running its step on a device that does nothing
// (engine/dry_backend.h). Bytes.
#pragma once

#include <cstdint>
#include <string>

#include "engine/config.h"
#include "engine/recipe.h"

namespace engine {

struct MemoryEstimate {
  std::int64_t parameters = 0;  ///< values and gradients
  std::int64_t optimizer = 0;   ///< both moments
  std::int64_t step = 0;        ///< activations of a step with the largest K, gradients of one scope
  std::int64_t validation = 0;  ///< one forward pass, on top of the step's memory that stays
  std::int64_t workspace = 0;   ///< scratch of single operations

  [[nodiscard]] std::int64_t total() const { return parameters + optimizer + step + validation + workspace; }
};

/// Every row counts as full: padding only takes less. `recipe.model.vocab` must be the tokenizer's; `tokens_at_once` is
/// the device's (kernels::DeviceInfo).
MemoryEstimate memory_estimate(const Recipe& recipe, std::int64_t tokens_at_once = 0);
/// TooLarge, before anything is allocated, when the weights, or a training step on `tokens` tokens of which the longest
/// slice has `slice`, need more than `available` bytes; 0 available bytes are not known and refuse nothing.
void require_memory(const Recipe& recipe, std::int64_t tokens, std::int64_t slice, std::int64_t available);
/// "3.2 GiB", "12 MiB"
std::string memory_text(double bytes);
/// Arenas of a training step on `tokens` tokens with `passes` passes.
std::int64_t step_bytes(const ModelConfig& config, const TrainConfig& train, std::int64_t tokens, int passes);
/// Arenas of a PassRunner on `tokens` tokens.
std::int64_t pass_runner_bytes(const ModelConfig& config, std::int64_t tokens);

}  // namespace engine
