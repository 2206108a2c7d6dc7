// Rebuilding a Soft rollout's cache from its tokens alone (method page, "Rebuilding a cache"; the paper's Fig. 8).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/estimate.h"
#include "engine/parameters.h"
#include "engine/soft_rollout.h"

namespace engine {

/// Relative l2 error over the response positions of all layers, against the cache that decoding left behind, and how
/// often the most likely next token is the same.
struct RebuildError {
  int passes = 1;  ///< 1 = one ordinary pass
  double key_error = 0;
  double value_error = 0;
  double argmax_agreement = 1;  ///< share of the response positions
};

/// Greedy Soft tokens after a prompt, never stopping before `new_tokens`.
RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, std::int64_t new_tokens);

/// One error for each wanted number of passes (at least 1 each, ascending).
std::vector<RebuildError> rebuild_errors(kernels::Backend& backend, const Parameters& parameters,
                                         const RecordedRollout& rollout, const std::vector<int>& passes);
/// The error of a pass that is fed the recorded states: what rounding alone leaves.
RebuildError recorded_state_floor(kernels::Backend& backend, const Parameters& parameters,
                                  const RecordedRollout& rollout);

/// Many rollouts: the mean over rollouts for each number of passes, and the floor.
struct RebuildReport {
  std::vector<int> passes;
  std::vector<Estimate> key_error, value_error, argmax_agreement;  ///< one a number of passes
  Estimate key_floor, value_floor, argmax_floor;
  std::int64_t rollouts = 0;            ///< with a response position
  std::int64_t without_response = 0;    ///< ended at their first token: nothing to rebuild
  std::int64_t response_positions = 0;  ///< in all
  std::int64_t capped = 0;              ///< rollouts that ended at max_tokens
};

/// Records a Soft rollout of each prompt and rebuilds it. `settings.row` is the first prompt's row. Cancelled when a
/// stop is requested.
RebuildReport measure_rebuild(kernels::Backend& backend, const Parameters& parameters,
                              const std::vector<std::vector<std::int32_t>>& prompts, const RecordSettings& settings,
                              const std::vector<int>& passes, const std::function<void(std::int64_t)>& on_progress = {},
                              const std::stop_token& stop = {});

/// The most likely token; the lowest id on ties.
std::int32_t greedy_token(const std::vector<float>& logits);

}  // namespace engine
