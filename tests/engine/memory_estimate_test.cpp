// The memory estimate against what is really taken, for every option of the model.
#include "engine/memory_estimate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/error.h"
#include "engine/optimizer.h"
#include "engine/pass_runner.h"
#include "engine/trainer.h"
#include "engine/training_step.h"
#include "tests/engine/support/pass_probe.h"

namespace {

constexpr double kShare = 0.2;  // how far off an estimate may be

/// Wide and long enough that rounding to cache lines does not matter.
engine::ModelConfig widened(engine::ModelConfig config) {
  config.dim = 32;
  config.ffn = 48;
  return config;
}

/// Every third combination of fusion, reading and tap, and each other option.
std::vector<support::ConfigCase> some_cases() {
  std::vector<support::ConfigCase> chosen;
  const auto all = support::config_cases();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % 3 == 0 || i >= 24) chosen.push_back(all[i]);
  }
  return chosen;
}

class MemoryEstimateTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = widened(GetParam().config);

  static engine::data::Batch batch(std::int64_t tokens) {
    constexpr std::int64_t kSeq = 64;
    std::vector<std::vector<support::TestDocument>> rows;
    for (std::int64_t row = 0; row < tokens / kSeq; ++row) {
      rows.push_back({support::random_document(kSeq, 11, static_cast<std::uint64_t>(row))});
    }
    return support::make_batch(rows, kSeq);
  }
  static std::vector<std::int32_t> flags(const engine::data::Batch& rows) {
    return engine::fused_flags(rows, std::vector<std::int64_t>(static_cast<std::size_t>(rows.rows), 1));
  }
};

TEST_P(MemoryEstimateTest, AStepTakesWhatWasSaid) {
  constexpr std::int64_t kTokens = 512;
  for (const int passes : {1, 2, 3}) {
    support::TestModel test(config_);
    engine::Arena scratch(*test.backend);
    test.tape.use_scopes(scratch);
    support::OracleTask task;
    task.config = config_;
    task.passes = passes;
    task.batch = batch(kTokens);
    for (int k = 0; k + 1 < passes; ++k) {
      task.fused.push_back(flags(task.batch));
      task.jitter.push_back(std::vector<float>(static_cast<std::size_t>(kTokens * config_.dim), 0.01F));
    }
    support::run_task(test, task);
    // The fixed jitter of this test is uploaded, where training draws it in place.
    const std::int64_t uploaded = 4 * (passes - 1) * kTokens * config_.dim;
    const auto real = static_cast<double>(test.arena.peak() + scratch.peak() - uploaded);
    const auto said = static_cast<double>(engine::step_bytes(config_, engine::TrainConfig{}, kTokens, passes));
    EXPECT_NEAR(said / real, 1.0, 1e-3) << passes << " passes: said " << said << ", real " << real;
  }
}

TEST_P(MemoryEstimateTest, AForwardPassTakesWhatWasSaid) {
  constexpr std::int64_t kTokens = 2048;  // an arena has at least a megabyte: more than that must be needed
  const auto rows = batch(kTokens);
  const auto backend = support::test_backend();
  const engine::Parameters parameters(*backend, config_, false);
  const std::int64_t before = backend->info().memory_used;
  engine::PassRunner runner(*backend, parameters);
  for (int round = 0; round < 2; ++round) {
    runner.begin(rows.tokens, rows.positions);
    runner.plain_pass();
    for (int pass = 0; pass < 2; ++pass) runner.feedback_pass(flags(rows));
    (void)runner.score(rows.targets);
  }
  const auto real = static_cast<double>(backend->info().memory_used - before);
  const auto said = static_cast<double>(engine::pass_runner_bytes(config_, kTokens));
  EXPECT_NEAR(said / real, 1.0, kShare) << "said " << said << ", real " << real;
}

INSTANTIATE_TEST_SUITE_P(Options, MemoryEstimateTest, ::testing::ValuesIn(some_cases()), support::config_case_name);

TEST(MemoryEstimateOfARecipeTest, ParametersAndMomentsAreExact) {
  engine::Recipe recipe;
  recipe.model = widened(support::tiny_config());
  const auto backend = support::test_backend();
  const engine::Parameters parameters(*backend, recipe.model, true);
  const std::int64_t held = backend->info().memory_used;
  const engine::Optimizer optimizer(*backend, parameters);
  const auto estimate = engine::memory_estimate(recipe);
  EXPECT_EQ(estimate.parameters, held);
  EXPECT_EQ(estimate.optimizer, backend->info().memory_used - held);
  const auto here = engine::memory_estimate(recipe, kernels::automatic_tokens_at_once());
  EXPECT_EQ(engine::estimate_memory(recipe), here.total());
}

TEST(MemoryEstimateOfARecipeTest, GrowsWithRowsPassesAndWidth) {
  engine::Recipe recipe;
  const auto base = engine::memory_estimate(recipe);
  recipe.train.rows *= 2;
  EXPECT_EQ(engine::memory_estimate(recipe).step, 2 * base.step);
  recipe = {};
  recipe.train.schedule = {{1.0, 6}};
  // Values double; the gradients of one scope do not.
  EXPECT_GT(static_cast<double>(engine::memory_estimate(recipe).step), 1.6 * static_cast<double>(base.step));
  EXPECT_LT(engine::memory_estimate(recipe).step, 2 * base.step);
  recipe = {};
  recipe.train.validate_every = 0;
  EXPECT_EQ(engine::memory_estimate(recipe).validation, 0);
  recipe = {};
  recipe.model.dim *= 2;
  EXPECT_GT(engine::estimate_memory(recipe), base.total());
}

std::string refusal_of(const engine::Recipe& recipe, std::int64_t available, std::int64_t tokens_at_once = 0) {
  const std::int64_t rows = recipe.train.rows, seq = recipe.data.seq;
  try {
    engine::require_memory(recipe, rows * seq, engine::longest_slice(rows, seq, tokens_at_once), available);
  } catch (const engine::TooLarge& error) {
    return error.what();
  }
  return "";
}

TEST(MemoryEstimateOfARecipeTest, WhatDoesNotFitIsNamed) {
  constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;
  engine::Recipe recipe;
  recipe.model.vocab = 64;
  const auto estimate = engine::memory_estimate(recipe);
  const std::int64_t needed = estimate.parameters + estimate.optimizer + estimate.step;
  EXPECT_EQ(refusal_of(recipe, needed + needed / 50), "");
  EXPECT_EQ(refusal_of(recipe, 0), "") << "an unknown memory refuses nothing";
  EXPECT_THAT(refusal_of(recipe, needed - needed / 50), testing::HasSubstr("lower train.rows or data.seq"));
  EXPECT_THAT(refusal_of(recipe, estimate.parameters),
              testing::HasSubstr("lower model.dim, model.ffn or model.layers"));
  EXPECT_EQ(refusal_of(recipe, needed / 2, 1024), "") << "slices need less";
  recipe.train.rows = std::int64_t{1} << 29;  // the bytes of all that do not fit into an integer
  recipe.model.layers = 1024;
  EXPECT_THAT(refusal_of(recipe, 24 * kGibibyte), testing::HasSubstr("lower train.rows or data.seq"));
  EXPECT_THAT(refusal_of(recipe, 24 * kGibibyte, 1024), testing::HasSubstr("lower train.rows or data.seq"))
      << "the batch itself must fit";
  recipe.model.dim = 1 << 20;
  EXPECT_THAT(refusal_of(recipe, 24 * kGibibyte), testing::HasSubstr("lower model.dim"));
}

}  // namespace
