// Training with the GPU engine's kernels against training on the CPU: the same data, the same losses.
#include <gtest/gtest.h>

#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::OptimizerType;

std::vector<engine::StepMetrics> train(const std::string& device, OptimizerType optimizer) {
  const support::TemporaryFolder folder;
  engine::Recipe recipe = support::tiny_recipe(optimizer);
  recipe.train.steps = 5;
  recipe.train.schedule = {{0.4, 1}, {0.4, 2}, {0.2, 3}};
  engine::TrainerOptions options = support::trainer_options(folder / "run");
  options.device = device;
  return support::train_steps(*make_trainer(recipe, options), recipe.train.steps);
}

void expect_close(const std::vector<engine::StepMetrics>& got, const std::vector<engine::StepMetrics>& expected,
                  double tolerance) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i].objective, expected[i].objective, tolerance * expected[i].objective) << i;
    EXPECT_NEAR(got[i].gradient_norm, expected[i].gradient_norm, 20 * tolerance * expected[i].gradient_norm) << i;
  }
  EXPECT_NE(expected.front().objective, expected.back().objective);
}

TEST(DeviceTraining, LossesAreThoseOfTheCpu) {
  for (const OptimizerType optimizer : {OptimizerType::adamw, OptimizerType::normuon}) {
    SCOPED_TRACE(to_string(optimizer));
    expect_close(train("cuda:0", optimizer), train("cpu", optimizer), 1e-5);
  }
}

TEST(DeviceTraining, TwoTrainingsHaveTheSameBits) {
  const auto first = train("cuda:0", OptimizerType::adamw);
  const auto second = train("cuda:0", OptimizerType::adamw);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].objective, second[i].objective) << i;
}

TEST(DeviceTraining, Bf16ProductsFollowTheFloat32Curve) {
  const auto expected = train("cpu", OptimizerType::adamw);
  const auto got = train("cuda:0,bf16", OptimizerType::adamw);
  expect_close(got, expected, 5e-3);
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NE(got[i].objective, expected[i].objective) << i;
}

}  // namespace
