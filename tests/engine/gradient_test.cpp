// Losses and gradients of the K-pass objective against an oracle in double precision, over every option of the model.
#include <gtest/gtest.h>

#include "tests/engine/support/pass_probe.h"

namespace {

using support::OracleResult;
using support::OracleTask;
using support::PassResult;
using support::TestModel;

void expect_matches_oracle(const OracleTask& task, std::uint64_t seed = 1) {
  TestModel test(task.config, seed);
  const auto tensors = support::noisy_tensors(task.config, seed);
  const OracleResult expected = support::run_oracle(task, tensors);
  const PassResult got = support::run_task(test, task);
  EXPECT_LE(support::relative_difference(got.losses, expected.losses), 1e-6);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    SCOPED_TRACE(tensors[i].name);
    double size = 0;
    for (const double g : expected.gradients[i]) size += std::abs(g);
    ASSERT_EQ(bool{got.has_gradient[i]}, size > 0);
    if (size > 0) {
      EXPECT_LE(support::relative_difference(got.gradients[i].values, expected.gradients[i]), 2e-5);
    }
  }
}

class GradientTest : public ::testing::TestWithParam<support::ConfigCase> {};

TEST_P(GradientTest, MatchesTheOracleForOneTwoAndThreePasses) {
  for (const int passes : {1, 2, 3}) {
    SCOPED_TRACE(passes);
    expect_matches_oracle(support::sample_task(GetParam().config, passes));
  }
}

INSTANTIATE_TEST_SUITE_P(Options, GradientTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

TEST(ObjectiveTest, LambdaWeighsTheLaterPasses) {
  OracleTask task = support::sample_task(support::tiny_config(), 3);
  for (const double lambda : {0.0, 0.4, 2.5}) {
    task.lambda = lambda;
    TestModel test(task.config);
    const auto got = support::run_task(test, task);
    EXPECT_NEAR(got.objective, got.losses[0] + lambda * (got.losses[1] + got.losses[2]) / 2, 1e-9);
    if (lambda > 0) expect_matches_oracle(task);
  }
}

TEST(ObjectiveTest, DetachedStatesCarryNoGradient) {
  for (const auto tap : {engine::StateTap::post_norm, engine::StateTap::pre_norm}) {
    OracleTask task = support::sample_task(support::tiny_config(), 3);
    task.config.state_tap = tap;
    const auto attached = support::run_oracle(task, support::noisy_tensors(task.config, 1));
    task.detach = true;
    const auto detached = support::run_oracle(task, support::noisy_tensors(task.config, 1));
    EXPECT_NE(attached.gradients[2], detached.gradients[2]) << "the oracle must tell them apart";
    expect_matches_oracle(task);
  }
}

TEST(ObjectiveTest, ZLossAddsToGradientsAndNotToReportedLosses) {
  OracleTask task = support::sample_task(support::tiny_config(), 2);
  const auto without = support::run_oracle(task, support::noisy_tensors(task.config, 1));
  task.z_weight = 0.05;
  const auto with = support::run_oracle(task, support::noisy_tensors(task.config, 1));
  EXPECT_EQ(without.losses, with.losses);
  EXPECT_GT(support::relative_difference(with.gradients[0], without.gradients[0]), 1e-2);
  expect_matches_oracle(task);
}

TEST(ObjectiveTest, NothingScoredGivesZeroLossAndZeroGradients) {
  OracleTask task = support::sample_task(support::tiny_config(), 2);
  task.batch.targets.assign(task.batch.targets.size(), -1);
  task.batch.weights.assign(task.batch.weights.size(), 0.0F);
  TestModel test(task.config);
  const PassResult got = support::run_task(test, task);
  EXPECT_EQ(got.objective, 0.0);
  for (const auto& gradient : got.gradients) {
    for (const float g : gradient.values) ASSERT_EQ(g, 0.0F) << gradient.name;
  }
}

/// The oracle's own derivative, against central differences in a random direction of each tensor.
TEST(OracleTest, DerivativeAgreesWithCentralDifferences) {
  const OracleTask task = support::sample_task(support::config_cases().back().config, 3);
  const auto tensors = support::noisy_tensors(task.config, 1);
  const OracleResult result = support::run_oracle(task, tensors);
  support::Inputs<double> values;
  for (const auto& tensor : tensors) values.emplace_back(tensor.values.begin(), tensor.values.end());
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto direction = support::random_floats(static_cast<std::int64_t>(values[i].size()), 90 + i);
    double expected = 0;
    double size = 0;
    support::Inputs<double> forward = values;
    support::Inputs<double> back = values;
    for (std::size_t j = 0; j < direction.size(); ++j) {
      const double d = static_cast<double>(direction[j]);
      expected += d * result.gradients[i][j];
      size += std::abs(d * result.gradients[i][j]);
      forward[i][j] += kStep * d;
      back[i][j] -= kStep * d;
    }
    const double slope =
        (support::oracle_objective(task, forward) - support::oracle_objective(task, back)) / (2 * kStep);
    EXPECT_NEAR(slope, expected, 1e-6 * size) << tensors[i].name;
  }
}

}  // namespace
