#include "engine/stability_verdict.h"

#include <cmath>
#include <sstream>

namespace engine {
namespace {

constexpr double kConverged = 0.05;
constexpr double kMoving = 0.5;
constexpr std::int64_t kMovableShare = 10;  // a mean over fewer than a tenth of the positions judges long rows alone

int judged_pass(const StabilityCurves& curves) {
  int pass = 0;
  for (std::size_t f = 0; f < curves.movable_positions.size(); ++f) {
    if (curves.movable_positions[f] > 0 && curves.movable_positions[f] * kMovableShare >= curves.scored_positions)
      pass = static_cast<int>(f) + 1;
  }
  return pass;
}

bool is_above_noise(const Estimate& change) {
  const double error = std::isfinite(change.error) ? change.error : 0;
  return std::abs(change.value) > 2 * error && change.value != 0;
}

StabilityOutcome outcome_of(const StabilityVerdict& verdict) {
  const double change = verdict.loss_change.value;
  if (!std::isfinite(verdict.update_ratio) || !std::isfinite(change)) return StabilityOutcome::diverges;
  const bool worse = change > 0 && is_above_noise(verdict.loss_change);
  const bool better = change < 0 && is_above_noise(verdict.loss_change);
  if (verdict.pass < 2) return StabilityOutcome::too_few_passes;
  if (verdict.update_ratio > kMoving) return worse ? StabilityOutcome::diverges : StabilityOutcome::keeps_moving;
  if (verdict.update_ratio > kConverged) return StabilityOutcome::settling;
  if (worse) return StabilityOutcome::converged_worse;
  return better ? StabilityOutcome::converged_better : StabilityOutcome::converged_equal;
}

/// One row alone has no standard error.
std::string error_text(const Estimate& estimate) {
  if (!std::isfinite(estimate.error)) return "";
  std::ostringstream text;
  text.precision(3);
  text << " ± " << estimate.error;
  return text.str();
}

std::string text_of(const StabilityVerdict& verdict, const StabilityCurves& curves) {
  if (verdict.pass == 0) return "No position can move, so nothing can be said; use longer rows.";
  std::ostringstream text;
  text.precision(3);
  text << "In pass " << verdict.pass << ", " << curves.movable_positions[static_cast<std::size_t>(verdict.pass - 1)]
       << " of " << curves.scored_positions << " scored positions can still move; their update norm is "
       << 100 * verdict.update_ratio << " % of the first pass's and the loss is " << std::showpos
       << verdict.loss_change.value << std::noshowpos << error_text(verdict.loss_change)
       << " nats from Standard's: " << to_string(verdict.outcome) << ".";
  if (!curves.movable_positions.empty() && curves.movable_positions.back() == 0)
    text << " By pass " << curves.passes << " all positions are exact, so the blended mean is 0 whatever the model.";
  return text.str();
}

}  // namespace

std::string to_string(StabilityOutcome outcome) {
  switch (outcome) {
    case StabilityOutcome::too_few_passes:
      return "too few passes to tell";
    case StabilityOutcome::diverges:
      return "the passes diverge";
    case StabilityOutcome::keeps_moving:
      return "the states keep moving without a loss";
    case StabilityOutcome::settling:
      return "the passes contract but have not settled";
    case StabilityOutcome::converged_better:
      return "converged to a better fixed point than Standard";
    case StabilityOutcome::converged_equal:
      return "converged to a fixed point as good as Standard";
    case StabilityOutcome::converged_worse:
      return "converged to a worse fixed point than Standard";
  }
  return "";
}

StabilityVerdict judge(const StabilityCurves& curves) {
  StabilityVerdict verdict;
  verdict.pass = judged_pass(curves);
  if (verdict.pass > 0) {
    const auto pass = static_cast<std::size_t>(verdict.pass);
    const double first = curves.update_movable.front().value;
    verdict.update_ratio = first == 0 ? 0 : curves.update_movable[pass - 1].value / first;
    verdict.loss_change = curves.loss_change[pass];
    verdict.outcome = outcome_of(verdict);
  }
  verdict.text = text_of(verdict, curves);
  return verdict;
}

}  // namespace engine
