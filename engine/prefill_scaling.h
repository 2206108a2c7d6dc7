// What more fused prefill passes buy (the paper's Fig. 5): loss and accuracy of answers after n feedback passes over
// the prompt. n = 0 is Soft: one plain pass. Every answer is decoded as in Soft; only the prompt's cache and last state
// differ.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/batch_decoder.h"
#include "engine/estimate.h"
#include "engine/evaluation.h"
#include "engine/inference.h"

namespace engine {

struct PrefillPoint {
  int fused_passes = 0;
  Estimate loss;         ///< nats a token of the right completion and its end of text, given token by token
  Estimate loss_change;  ///< paired with one pass fewer; nothing measured (NaN) for the first point
  Estimate accuracy;     ///< share of greedy (or sampled) answers that are right
  std::int64_t capped = 0;
};

struct PrefillSettings {
  int most_passes = 4;
  std::int64_t max_tokens = 64;
  std::int64_t rows_at_once = 64;
  SamplerSettings sampler;
};

/// One point for each n = 0..most_passes. The loss needs questions with a completion (of tasks) or an answer (of JSON
/// Lines). `on_progress` gets the points done so far. Cancelled when a stop is requested.
std::vector<PrefillPoint> measure_prefill_scaling(InferenceModel& model, const std::vector<Question>& questions,
                                                  const PrefillSettings& settings,
                                                  const std::function<void(std::int64_t)>& on_progress = {},
                                                  const std::stop_token& stop = {});

/// Sum over the tokens of each row's completion of its negative log-likelihood in nats, decoded after `fused_passes`.
std::vector<double> completion_nll(BatchDecoder& decoder, kernels::Backend& backend,
                                   const std::vector<std::vector<std::int32_t>>& prompts,
                                   const std::vector<std::vector<std::int32_t>>& completions, int fused_passes);

}  // namespace engine
