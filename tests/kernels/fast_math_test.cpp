// The vectorisable exponential against the standard library's.
#include "kernels/cpu/fast_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using kernels::cpu::exp_float;
using kernels::cpu::sigmoid_float;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

double units_in_last_place(float got, double expected) {
  const float rounded = static_cast<float>(expected);
  const float next = std::nextafter(rounded, kInfinity);
  return std::abs(static_cast<double>(got) - expected) / static_cast<double>(next - rounded);
}

TEST(FastMath, ExpIsWithinTwoUnitsOverTheNormalRange) {
  double worst = 0.0;
  for (float x = -87.0F; x < 88.7F; x += 0.00131F) {
    worst = std::max(worst, units_in_last_place(exp_float(x), std::exp(static_cast<double>(x))));
  }
  EXPECT_LE(worst, 1.5);
}

TEST(FastMath, ExpHasTheRightLimits) {
  EXPECT_EQ(exp_float(-kInfinity), 0.0F);
  EXPECT_EQ(exp_float(-1e30F), 0.0F);
  EXPECT_EQ(exp_float(kInfinity), kInfinity);
  EXPECT_EQ(exp_float(89.0F), kInfinity);
  EXPECT_EQ(exp_float(0.0F), 1.0F);
  EXPECT_TRUE(std::isnan(exp_float(std::nanf(""))));
  EXPECT_TRUE(std::isnan(exp_float(-std::nanf(""))));
}

TEST(FastMath, ExpReachesSubnormalNumbers) {
  for (const float x : {-88.0F, -95.0F, -100.0F, -103.0F}) {
    EXPECT_NEAR(exp_float(x), std::exp(static_cast<double>(x)), 1.5e-45) << x;
  }
}

TEST(FastMath, SigmoidMatchesAndSaturates) {
  for (float x = -80.0F; x < 80.0F; x += 0.037F) {
    const double expected = 1.0 / (1.0 + std::exp(-static_cast<double>(x)));
    EXPECT_NEAR(sigmoid_float(x), expected, 2.5e-7 * expected) << x;
  }
  EXPECT_EQ(sigmoid_float(kInfinity), 1.0F);
  EXPECT_EQ(sigmoid_float(-kInfinity), 0.0F);
  EXPECT_TRUE(std::isnan(sigmoid_float(std::nanf(""))));
}

}  // namespace
