// What the carried state and the gate are worth: the loss in nats when one of them is replaced (method page, "Inside
// the channel"). A narrow histogram of gates does not say that they do nothing; this does.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/channel_probe.h"
#include "engine/estimate.h"

namespace engine {

enum class Intervention {
  shuffled_state,    ///< each state from the same place of another row: in distribution, the default question
  constant_gate,     ///< each channel's gate at its mean over the fused positions
  gate_temperature,  ///< sigmoid(logit / amount)
  zero_state,        ///< far outside what training saw: a large cost says nothing about what states carry
  seed_scale,        ///< what fused positions put into the stack times amount
};
std::string to_string(Intervention kind);
/// Needs a gate: not defined for the fusions add and concat.
bool needs_gate(Intervention kind);

struct InterventionResult {
  Intervention kind = Intervention::shuffled_state;
  double amount = 1;  ///< temperature or scale
  bool out_of_distribution = false;
  Estimate cost;         ///< nats a token over the unchanged pass, paired, at fused positions
  Estimate answer_cost;  ///< the same over answer tokens alone; NaN where the rows have none
};

/// One change and its strength.
struct InterventionChoice {
  Intervention kind = Intervention::shuffled_state;
  double amount = 1;  ///< temperature or scale

  friend bool operator==(const InterventionChoice&, const InterventionChoice&) = default;
};

struct InterventionSettings {
  std::uint64_t seed = 1;
  std::vector<InterventionChoice> choices;  ///< these alone; empty: every kind, at the strengths below
  std::vector<double> temperatures = {0.5, 2.0};
  std::vector<double> seed_scales = {0.5, 2.0};
};

struct InterventionReport {
  Estimate loss;                            ///< unchanged, nats a token at fused positions
  std::vector<InterventionResult> results;  ///< in the order of the choices; of all kinds the shuffled state is first
};

/// On a probe that is prepared. ConfigError for a single row, whose states have no donor.
InterventionReport measure_interventions(ChannelProbe& probe, FusionType fusion, const InterventionSettings& settings);

/// For each token the index of the donor of its state: a real token of another row, at the same place where that row is
/// long enough; rows form one random cycle. Padding keeps its own.
std::vector<std::int32_t> shuffled_donors(const data::Batch& batch, std::uint64_t seed);

/// Mean of `nll` over the scored fused positions, rows as units; `answers_only` restricts it to answer tokens.
Estimate fused_loss(const data::Batch& batch, const std::vector<std::int32_t>& fused, const std::vector<float>& nll,
                    bool answers_only = false);

}  // namespace engine
