// Rebuilding a Soft rollout's cache from its tokens alone (method page, "Rebuilding a cache"; the paper's Fig. 8).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/batch_decoder.h"
#include "engine/parameters.h"

namespace engine {

/// Relative l2 error over the response positions of all layers, against the cache that decoding left behind.
struct RebuildError {
  int passes = 1;  ///< 1 = one ordinary pass
  double key_error = 0;
  double value_error = 0;
};

/// Greedy Soft tokens after a prompt, and the cache they left: prompt + generated[:-1] has cache entries.
struct RecordedRollout {
  std::vector<std::int32_t> prompt;
  std::vector<std::int32_t> generated;
  std::vector<std::vector<float>> key;    ///< a layer: [response positions, G*d] row-major
  std::vector<std::vector<float>> value;  ///< response positions are those of generated[:-1]
};
RecordedRollout record_soft_rollout(BatchDecoder& decoder, kernels::Backend& backend,
                                    const std::vector<std::int32_t>& prompt, std::int64_t new_tokens);

/// One error for each wanted number of passes (at least 1 each). The prompt keeps its pass-1 inputs in every pass.
std::vector<RebuildError> rebuild_errors(kernels::Backend& backend, const Parameters& parameters,
                                         const RecordedRollout& rollout, const std::vector<int>& passes);

/// The most likely token; the lowest id on ties.
std::int32_t greedy_token(const std::vector<float>& logits);

}  // namespace engine
