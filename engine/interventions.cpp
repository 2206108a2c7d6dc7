#include "engine/interventions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"
#include "kernels/philox.h"

namespace engine {
namespace {

using Change = ChannelProbe::Change;

/// Rows in one random cycle (Sattolo 1986): none is its own donor.
std::vector<std::int64_t> row_cycle(std::int64_t rows, std::uint64_t seed) {
  std::vector<std::int64_t> donor(static_cast<std::size_t>(rows));
  std::iota(donor.begin(), donor.end(), 0);
  kernels::PhiloxReader random({seed, kernels::Purpose::shuffling, 0, 0});
  for (std::size_t last = donor.size() - 1; last > 0; --last) {
    std::swap(donor[last], donor[random.next_below(static_cast<std::uint32_t>(last))]);
  }
  return donor;
}

Change shuffled_state(const ChannelProbe& probe, std::uint64_t seed) {
  const std::vector<float> own = probe.states();
  const std::vector<std::int32_t> donors = shuffled_donors(probe.batch(), seed);
  const auto dim = static_cast<std::size_t>(probe.dim());
  Change change;
  change.states.resize(own.size());
  for (std::size_t n = 0; n < donors.size(); ++n) {
    std::copy_n(&own[static_cast<std::size_t>(donors[n]) * dim], dim, &change.states[n * dim]);
  }
  return change;
}

/// logit(mean of sigmoid) of each channel over the fused positions, the same for every position.
Change constant_gate(const ChannelProbe& probe) {
  const std::vector<float> logits = probe.token_side();
  const auto dim = static_cast<std::size_t>(probe.dim());
  std::vector<double> mean(dim, 0.0);
  double count = 0;
  for (std::size_t n = 0; n < probe.fused().size(); ++n) {
    if (probe.fused()[n] == 0 || probe.batch().targets[n] < 0) continue;
    count += 1;
    for (std::size_t d = 0; d < dim; ++d) mean[d] += 1 / (1 + std::exp(-double{logits[n * dim + d]}));
  }
  Change change;
  change.token_side.resize(logits.size());
  for (std::size_t d = 0; d < dim; ++d) {
    // A saturated gate stays at a finite logit.
    const double gate = std::clamp(count > 0 ? mean[d] / count : 0.5, 1e-7, 1 - 1e-7);
    const auto logit = static_cast<float>(std::log(gate / (1 - gate)));
    for (std::size_t n = 0; n < probe.fused().size(); ++n) change.token_side[n * dim + d] = logit;
  }
  return change;
}

Change gate_temperature(const ChannelProbe& probe, double temperature) {
  Change change;
  change.token_side = probe.token_side();
  for (float& logit : change.token_side) logit = static_cast<float>(double{logit} / temperature);
  return change;
}

Change make_change(const ChannelProbe& probe, Intervention kind, double amount, std::uint64_t seed) {
  switch (kind) {
    case Intervention::shuffled_state:
      return shuffled_state(probe, seed);
    case Intervention::constant_gate:
      return constant_gate(probe);
    case Intervention::gate_temperature:
      return gate_temperature(probe, amount);
    case Intervention::zero_state:
      return {std::vector<float>(probe.fused().size() * static_cast<std::size_t>(probe.dim()), 0.0F), {}, 1.0F};
    case Intervention::seed_scale:
      return {{}, {}, static_cast<float>(amount)};
  }
  return {};
}

std::vector<InterventionChoice> all_choices(const InterventionSettings& settings) {
  std::vector<InterventionChoice> all = {{Intervention::shuffled_state, 1}, {Intervention::constant_gate, 1}};
  for (const double value : settings.temperatures) all.push_back({Intervention::gate_temperature, value});
  for (const double value : settings.seed_scales) all.push_back({Intervention::seed_scale, value});
  all.push_back({Intervention::zero_state, 0});
  return all;
}

std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result(a.size());
  std::transform(a.begin(), a.end(), b.begin(), result.begin(), [](float x, float y) { return x - y; });
  return result;
}

}  // namespace

std::string to_string(Intervention kind) {
  switch (kind) {
    case Intervention::shuffled_state:
      return "shuffled state";
    case Intervention::constant_gate:
      return "constant gate";
    case Intervention::gate_temperature:
      return "gate temperature";
    case Intervention::zero_state:
      return "zero state";
    case Intervention::seed_scale:
      return "seed scale";
  }
  return "?";
}

bool needs_gate(Intervention kind) {
  return kind == Intervention::constant_gate || kind == Intervention::gate_temperature;
}

std::vector<std::int32_t> shuffled_donors(const data::Batch& batch, std::uint64_t seed) {
  if (batch.rows < 2) throw ConfigError("rows", "must be at least 2: shuffled states come from another row");
  const std::vector<std::int64_t> cycle = row_cycle(batch.rows, seed);
  kernels::PhiloxReader random({seed, kernels::Purpose::shuffling, 0, 1});
  std::vector<std::int32_t> donors(batch.tokens.size());
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t from = cycle[static_cast<std::size_t>(row)];
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    const std::int64_t donor_length = batch.row_length[static_cast<std::size_t>(from)];
    for (std::int64_t place = 0; place < batch.seq; ++place) {
      std::int64_t donor = row * batch.seq + place;
      if (place < length && donor_length > 0) {
        const std::int64_t other =
            place < donor_length ? place : random.next_below(static_cast<std::uint32_t>(donor_length));
        donor = from * batch.seq + other;
      }
      donors[static_cast<std::size_t>(row * batch.seq + place)] = static_cast<std::int32_t>(donor);
    }
  }
  return donors;
}

Estimate fused_loss(const data::Batch& batch, const std::vector<std::int32_t>& fused, const std::vector<float>& nll,
                    bool answers_only) {
  RowMean mean;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::int64_t place = 0; place < batch.seq; ++place) {
      const auto n = static_cast<std::size_t>(row * batch.seq + place);
      const bool counts = fused[n] != 0 && batch.targets[n] >= 0 && (!answers_only || batch.answer[n] != 0);
      if (!counts) continue;
      sum += nll[n];
      count += 1;
    }
    mean.add_row(sum, count);
  }
  return mean.estimate();
}

InterventionReport measure_interventions(ChannelProbe& probe, FusionType fusion, const InterventionSettings& settings) {
  InterventionReport report;
  const std::vector<float> unchanged = probe.run({});
  report.loss = fused_loss(probe.batch(), probe.fused(), unchanged);
  for (const auto& [kind, amount] : settings.choices.empty() ? all_choices(settings) : settings.choices) {
    if (needs_gate(kind) && fusion != FusionType::gate) continue;
    const std::vector<float> cost = difference(probe.run(make_change(probe, kind, amount, settings.seed)), unchanged);
    InterventionResult result{kind, amount, kind == Intervention::zero_state, {}, {}};
    result.cost = fused_loss(probe.batch(), probe.fused(), cost);
    result.answer_cost = fused_loss(probe.batch(), probe.fused(), cost, /*answers_only=*/true);
    report.results.push_back(result);
  }
  return report;
}

}  // namespace engine
