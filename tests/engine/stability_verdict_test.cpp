// The words for a stability curve, on curves made by hand.
#include "engine/stability_verdict.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using engine::StabilityCurves;
using engine::StabilityOutcome;

/// 100 scored positions, of which one in twenty becomes exact a pass; the update shrinks by `factor` a pass.
StabilityCurves curves_with(double factor, double loss_change, double error = 0.01, int passes = 12) {
  StabilityCurves curves;
  curves.passes = passes;
  curves.scored_positions = 100;
  curves.loss_change.push_back({0, 0, 10, 100});
  for (int f = 1; f <= passes; ++f) {
    const std::int64_t movable = std::max(0, 100 - 5 * f);
    curves.movable_positions.push_back(movable);
    curves.update_movable.push_back({movable > 0 ? std::pow(factor, f - 1) : 0, 0.001, 10, movable});
    curves.loss_change.push_back({loss_change, error, 10, 100});
  }
  return curves;
}

StabilityOutcome outcome(const StabilityCurves& curves) { return judge(curves).outcome; }

TEST(StabilityVerdictTest, TellsWhereThePassesGo) {
  EXPECT_EQ(outcome(curves_with(0.5, -0.3)), StabilityOutcome::converged_better);
  EXPECT_EQ(outcome(curves_with(0.5, 0.001)), StabilityOutcome::converged_equal);
  EXPECT_EQ(outcome(curves_with(0.5, 0.3)), StabilityOutcome::converged_worse);
  EXPECT_EQ(outcome(curves_with(0.9, 0.3)), StabilityOutcome::settling);
  EXPECT_EQ(outcome(curves_with(1.2, 0.3)), StabilityOutcome::diverges);
  EXPECT_EQ(outcome(curves_with(1.0, -0.3)), StabilityOutcome::keeps_moving);
  EXPECT_EQ(outcome(curves_with(0.5, std::nan(""))), StabilityOutcome::diverges);
  EXPECT_EQ(outcome(curves_with(0.5, -0.3, 0.01, 1)), StabilityOutcome::too_few_passes);
  EXPECT_EQ(outcome(StabilityCurves{}), StabilityOutcome::too_few_passes);
}

TEST(StabilityVerdictTest, SaysAConvergedButWorseFixedPointInWords) {
  const auto verdict = judge(curves_with(0.5, 0.3));
  for (const char* part : {"In pass 12", "40 of 100", "worse fixed point", "+0.3"})
    EXPECT_NE(verdict.text.find(part), std::string::npos) << verdict.text;
}

TEST(StabilityVerdictTest, OneRowHasNoErrorToSay) {
  const auto verdict = judge(curves_with(0.5, 0.3, std::nan("")));
  EXPECT_NE(verdict.text.find("the loss is +0.3 nats"), std::string::npos) << verdict.text;
}

TEST(StabilityVerdictTest, IsNotFooledByPassesInWhichAlmostNothingCanMove) {
  auto curves = curves_with(1.2, 0.3, 0.01, 30);  // from pass 20 on nothing can move
  const auto verdict = judge(curves);
  EXPECT_EQ(verdict.pass, 18);
  EXPECT_EQ(verdict.outcome, StabilityOutcome::diverges);
  EXPECT_NE(verdict.text.find("all positions are exact"), std::string::npos) << verdict.text;
}

}  // namespace
