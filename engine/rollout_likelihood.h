// How likely a rollout is under Soft, from a few parallel passes over its tokens (method page, "Rebuilding a cache").
// k passes give sum_i log p_k(y_i | prompt, y_<i), k = 1 being Standard's own likelihood; with as many passes as
// response positions and one more it is the sequential value up to rounding.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/estimate.h"
#include "engine/parameters.h"
#include "engine/soft_rollout.h"

namespace engine {

struct RolloutLikelihood {
  std::int64_t tokens = 0;           ///< generated, all of them scored
  double sequential = 0;             ///< nats, the sum over tokens that decoding itself gave
  std::vector<double> parallel;      ///< nats, one a wanted number of passes
  std::vector<double> largest_miss;  ///< the token that misses most, nats
  double on_recorded_states = 0;     ///< nats, from a pass that was fed the recorded states: the floor
};

/// `passes` ascending, at least 1 each.
RolloutLikelihood rollout_likelihood(kernels::Backend& backend, const Parameters& parameters,
                                     const RecordedRollout& rollout, const std::vector<int>& passes);

/// Many rollouts, in nats a token.
struct LikelihoodReport {
  std::vector<int> passes;
  Estimate sequential;
  std::vector<Estimate> parallel;        ///< one a number of passes
  std::vector<Estimate> difference;      ///< parallel less sequential, paired by token
  std::vector<Estimate> absolute_error;  ///< |parallel - sequential| of a rollout, a token
  Estimate floor;                        ///< the same on the recorded states
  std::int64_t rollouts = 0;
  std::int64_t capped = 0;
};
LikelihoodReport measure_likelihood(kernels::Backend& backend, const Parameters& parameters,
                                    const std::vector<std::vector<std::int32_t>>& prompts,
                                    const RecordSettings& settings, const std::vector<int>& passes,
                                    const std::function<void(std::int64_t)>& on_progress = {},
                                    const std::stop_token& stop = {});

}  // namespace engine
