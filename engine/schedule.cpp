#include "engine/schedule.h"

#include <algorithm>
#include <cmath>

#include "kernels/philox.h"

namespace engine {
namespace {

double total_share(const TrainConfig& config) {
  double total = 0;
  for (const Stage& stage : config.schedule) total += stage.share;
  return total;
}

/// The stage in which the share `place` of 0..total falls.
const Stage& stage_at(const TrainConfig& config, double place) {
  double end = 0;
  for (const Stage& stage : config.schedule) {
    end += stage.share;
    if (place < end) return stage;
  }
  return config.schedule.back();
}

std::int64_t cooldown_start(const TrainConfig& config) {
  return config.steps - std::llround(config.cooldown_share * static_cast<double>(config.steps));
}

}  // namespace

int passes_at(const TrainConfig& config, std::uint64_t seed, std::int64_t step) {
  const double total = total_share(config);
  if (config.interleaved) {
    kernels::PhiloxReader random({seed, kernels::Purpose::shuffling, static_cast<std::uint64_t>(step), 0});
    return stage_at(config, total * random.next_unit()).passes;
  }
  // The middle of the step, so that rounding never moves a boundary that falls between two steps.
  return stage_at(config, total * (static_cast<double>(step) + 0.5) / static_cast<double>(config.steps)).passes;
}

int largest_passes(const TrainConfig& config) {
  int largest = 1;
  for (const Stage& stage : config.schedule) {
    if (stage.share > 0) largest = std::max(largest, stage.passes);
  }
  return largest;
}

bool in_cooldown(const TrainConfig& config, std::int64_t step) { return step >= cooldown_start(config); }

double rate_share(const TrainConfig& config, std::int64_t step) {
  double share = 1.0;
  if (step < config.warmup_steps) share = static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  const std::int64_t start = cooldown_start(config);
  if (step >= start) {
    const double done = static_cast<double>(step + 1 - start) / static_cast<double>(config.steps - start);
    share = std::min(share, 1.0 + (config.final_rate - 1.0) * done);
  }
  return share;
}

}  // namespace engine
