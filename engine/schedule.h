// How many passes a step has, and its learning rate: pure functions of the recipe, the seed and the step (from 0).
#pragma once

#include <cstdint>

#include "engine/recipe.h"

namespace engine {

/// K of a step: stage after stage by their shares, or drawn with the shares as weights when interleaved.
int passes_at(const TrainConfig& config, std::uint64_t seed, std::int64_t step);
/// The largest K of the schedule.
int largest_passes(const TrainConfig& config);

/// Warm-up, constant, linear cool-down: the share of the full rate, `final_rate` at the last step.
double rate_share(const TrainConfig& config, std::int64_t step);
/// Whether the step lies in the cool-down (where the z-loss acts).
bool in_cooldown(const TrainConfig& config, std::int64_t step);

}  // namespace engine
