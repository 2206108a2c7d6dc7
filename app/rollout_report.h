// Finished rollouts as JSON and CSV, with everything they were measured on, and where two of them part.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/inference_worker.h"
#include "engine/rollout_types.h"

namespace app {

/// Index of the first generated token that is not the same in all rollouts; nothing when they agree to the end.
/// A rollout that ended earlier parts where it ended. Fewer than two rollouts never part.
std::optional<std::size_t> first_divergence(const std::vector<const engine::Rollout*>& rollouts);

/// Milliseconds a generated token, prefill excluded; 0 without tokens.
double milliseconds_per_token(const engine::Rollout& rollout);

/// {"run", "step", "device", "rollouts": [{mode, prompt, sampler, tokens: [{id, text, logprob, entropy, ms}], ...}]}
nlohmann::json rollouts_json(const ModelInfo& model, const std::vector<engine::Rollout>& rollouts);
/// One line a generated token: run, step, mode, seed, position, id, text, logprob, entropy, ms. C locale, RFC 4180
/// quotes.
std::string rollouts_csv(const ModelInfo& model, const std::vector<engine::Rollout>& rollouts);

/// One stop string a line; \n, \t and \\ stand for themselves. Empty lines are left out.
std::vector<std::string> parse_stop_strings(const std::string& text);

}  // namespace app
