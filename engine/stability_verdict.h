// What the curves of repeated feedback passes mean, in words (method page, "Stability").
#pragma once

#include <string>

#include "engine/stability.h"

namespace engine {

enum class StabilityOutcome {
  too_few_passes,    ///< one pass, or nothing that can move in a second
  diverges,          ///< keeps moving and loses against Standard, or is not finite
  keeps_moving,      ///< does not contract, at no loss
  settling,          ///< contracts, but is not there yet
  converged_better,  ///< a fixed point with a lower loss than Standard's
  converged_equal,   ///< ... that cannot be told apart from it
  converged_worse,   ///< ... with a higher one: contraction alone proves nothing
};
std::string to_string(StabilityOutcome outcome);

struct StabilityVerdict {
  StabilityOutcome outcome = StabilityOutcome::too_few_passes;
  int pass = 0;             ///< judged here: the last pass in which a tenth of the scored positions can still move
  double update_ratio = 0;  ///< movable update norm there over that of the first pass
  Estimate loss_change;     ///< against Standard there
  std::string text;         ///< one or two sentences
};

/// Converged: the movable update norm fell below 5 % of the first pass's; keeps moving: it is above 50 %. A change of
/// the loss counts when it is above two standard errors.
StabilityVerdict judge(const StabilityCurves& curves);

}  // namespace engine
