// The probe's classifier against an independent double-precision Newton solver.
#include "engine/logistic_regression.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "engine/error.h"

namespace {

using engine::LogisticRegression;
using engine::LogisticSettings;

constexpr std::int64_t kRows = 60;
constexpr std::int64_t kDim = 5;

/// A fixed case by formula, the same in the solver that gave the expected numbers.
struct FixedCase {
  std::vector<float> features;
  std::vector<int> labels;
  std::vector<std::int64_t> rows;

  FixedCase() : rows(kRows) {
    std::iota(rows.begin(), rows.end(), 0);
    for (std::int64_t row = 0; row < kRows; ++row) {
      const auto n = static_cast<double>(row);
      for (std::int64_t column = 0; column < kDim; ++column) {
        const auto d = static_cast<double>(column);
        features.push_back(static_cast<float>(std::sin(1.3 * n + 2.1 * d * d + 0.7 * n * d) * (1 + d) + 3 * d));
      }
      const double score = std::sin(1.3 * n) + 0.5 * std::cos(2.0 * n) + 0.7 * std::sin(5 * n + 1);
      labels.push_back(score > 0.2 ? 1 : 0);
    }
  }
};

void expect_solution(const LogisticRegression& model, const std::vector<double>& coefficients, double intercept) {
  EXPECT_TRUE(model.converged());
  for (std::size_t d = 0; d < coefficients.size(); ++d) EXPECT_NEAR(model.coefficients()[d], coefficients[d], 1e-5);
  EXPECT_NEAR(model.intercept(), intercept, 1e-5);
}

TEST(LogisticRegressionTest, AgreesWithAnotherSolver) {
  const FixedCase c;
  LogisticSettings settings;
  expect_solution(LogisticRegression::fit(c.features, kDim, c.rows, c.labels, settings),
                  {1.89072626, 0.793605559, -0.274694943, -0.228046552, -0.412133336}, -0.746837717);
  settings.l2 = 0.01;
  expect_solution(LogisticRegression::fit(c.features, kDim, c.rows, c.labels, settings),
                  {2.671124864, 1.242991603, -0.420971507, -0.402447409, -0.626339221}, -0.997322843);
}

TEST(LogisticRegressionTest, OnlyTheChosenRowsCount) {
  FixedCase c;
  const LogisticRegression before = LogisticRegression::fit(c.features, kDim, {0, 3, 4, 9, 11, 20, 31}, c.labels);
  c.features[5 * kDim] = 1e6F;
  c.labels[5] = 1 - c.labels[5];
  const LogisticRegression after = LogisticRegression::fit(c.features, kDim, {0, 3, 4, 9, 11, 20, 31}, c.labels);
  EXPECT_EQ(before.coefficients(), after.coefficients());
  EXPECT_EQ(before.decision(&c.features[0]), after.decision(&c.features[0]));
}

TEST(LogisticRegressionTest, AConstantFeatureSaysNothing) {
  FixedCase c;
  for (std::int64_t row = 0; row < kRows; ++row) c.features[static_cast<std::size_t>(row * kDim + 2)] = 0.1F;
  const LogisticRegression model = LogisticRegression::fit(c.features, kDim, c.rows, c.labels);
  EXPECT_EQ(model.coefficients()[2], 0.0);
  EXPECT_GT(std::abs(model.coefficients()[0]), 0.5);
}

TEST(LogisticRegressionTest, ConstantFeaturesAndBalancedLabelsDecideNothing) {
  const std::vector<float> features(kRows * kDim, 0.3F);
  FixedCase c;
  for (std::size_t n = 0; n < c.labels.size(); ++n) c.labels[n] = n % 2 == 0 ? 1 : 0;
  const LogisticRegression model = LogisticRegression::fit(features, kDim, c.rows, c.labels);
  EXPECT_EQ(model.decision(features.data()), 0.0);
}

TEST(LogisticRegressionTest, SeparableAndOneSidedLabelsConverge) {
  FixedCase c;
  for (std::size_t n = 0; n < c.labels.size(); ++n) c.labels[n] = c.features[n * kDim] > 0 ? 1 : 0;
  LogisticSettings settings;
  settings.l2 = 1e-4;
  const LogisticRegression separable = LogisticRegression::fit(c.features, kDim, c.rows, c.labels, settings);
  EXPECT_TRUE(separable.converged());
  for (std::size_t n = 0; n < c.labels.size(); ++n) {
    EXPECT_EQ(separable.decision(&c.features[n * kDim]) > 0, c.labels[n] == 1);
  }
  const std::vector<int> ones(kRows, 1);
  EXPECT_GT(LogisticRegression::fit(c.features, kDim, c.rows, ones).decision(c.features.data()), 5.0);
}

TEST(LogisticRegressionTest, StatesThatAreNotFiniteAreRefused) {
  FixedCase c;
  c.features[7] = NAN;
  EXPECT_THROW(LogisticRegression::fit(c.features, kDim, c.rows, c.labels), engine::Error);
  EXPECT_THROW(LogisticRegression::fit(c.features, kDim, {}, c.labels), engine::Error);
}

}  // namespace
