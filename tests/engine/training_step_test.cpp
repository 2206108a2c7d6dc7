// What a training step takes from memory: gradients that live for a scope, blocks that are computed again, and the plan
// that knows both before anything is allocated. None of it may change a bit of any gradient.
#include "engine/training_step.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "engine/memory_estimate.h"
#include "engine/trainer.h"
#include "tests/engine/support/pass_probe.h"
#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

enum class Memory { everything_stays, scopes, recompute };

support::PassResult run(const support::OracleTask& task, Memory memory) {
  support::TestModel test(task.config);
  engine::Arena scratch(*test.backend);
  if (memory != Memory::everything_stays) test.tape.use_scopes(scratch);
  test.model.set_recompute(memory == Memory::recompute);
  return support::run_task(test, task);
}

void expect_same_bits(const support::PassResult& got, const support::PassResult& expected) {
  EXPECT_EQ(got.nll, expected.nll);
  EXPECT_EQ(got.has_gradient, expected.has_gradient);
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    EXPECT_EQ(got.gradients[i].values, expected.gradients[i].values) << expected.gradients[i].name;
  }
}

class StepMemoryTest : public ::testing::TestWithParam<support::ConfigCase> {};

TEST_P(StepMemoryTest, ScopesAndRecomputationGiveTheSameBits) {
  for (const int passes : {1, 2, 3}) {
    for (const bool detach : {false, true}) {
      SCOPED_TRACE(std::to_string(passes) + (detach ? " passes, detached" : " passes"));
      support::OracleTask task = support::sample_task(GetParam().config, passes);
      task.detach = detach;
      const support::PassResult expected = run(task, Memory::everything_stays);
      expect_same_bits(run(task, Memory::scopes), expected);
      expect_same_bits(run(task, Memory::recompute), expected);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Options, StepMemoryTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

engine::ModelConfig sized(std::int64_t dim, std::int64_t layers) {
  engine::ModelConfig config;
  config.dim = dim;
  config.layers = layers;
  config.heads = config.kv_heads = 4;
  config.ffn = dim * 11 / 4;
  return config;
}

TEST(StepPlanTest, RecomputationKeepsThreePassesNearTheMemoryOfOne) {
  for (const auto& config : {sized(64, 4), sized(128, 4), sized(256, 6)}) {
    engine::TrainConfig train;
    const double one = static_cast<double>(engine::plan_step(config, train, 4096, 1).total());
    const double three = static_cast<double>(engine::plan_step(config, train, 4096, 3).total());
    train.recompute = true;
    const double recomputed = static_cast<double>(engine::plan_step(config, train, 4096, 3).total());
    EXPECT_GT(three, 1.8 * one) << "otherwise there is nothing to save";
    EXPECT_LT(recomputed, 1.3 * one) << "dim " << config.dim;
  }
}

TEST(StepPlanTest, TheEstimateOfARecipeKnowsRecomputation) {
  engine::Recipe recipe;
  const auto kept = engine::memory_estimate(recipe);
  recipe.train.recompute = true;
  const auto recomputed = engine::memory_estimate(recipe);
  EXPECT_LT(recomputed.step, kept.step / 2);
  EXPECT_EQ(recomputed.parameters, kept.parameters);
}

TEST(StepPlanTest, ScopesNeedLittleMoreThanOneBlocksGradients) {
  const engine::StepMemory four = engine::plan_step(sized(64, 4), {}, 1024, 1);
  const engine::StepMemory eight = engine::plan_step(sized(64, 8), {}, 1024, 1);
  EXPECT_EQ(four.scratch, eight.scratch);
  EXPECT_GT(eight.values, 1.8 * static_cast<double>(four.values));
}

TEST(RecomputedTrainingTest, EndsWithTheSameTensors) {
  const support::TemporaryFolder folder;
  engine::Recipe recipe = support::tiny_recipe();
  const auto kept = support::trained(recipe, folder / "kept");
  recipe.train.recompute = true;
  const auto recomputed = support::trained(recipe, folder / "recomputed");
  EXPECT_EQ(engine::tensor_hash(kept.model), engine::tensor_hash(recomputed.model));
  EXPECT_EQ(engine::tensor_hash(kept.optim), engine::tensor_hash(recomputed.optim));
  EXPECT_EQ(engine::read_run(folder / "kept").at("config_hash"),
            engine::read_run(folder / "recomputed").at("config_hash"))
      << "how it was computed is no part of what was computed";
}

/// Rows of 9 tokens, some of them padding, of a vocabulary of `vocab`.
engine::data::Batch padded_rows(std::int64_t vocab) {
  engine::data::Batch batch;
  batch.rows = 6;
  batch.seq = 9;
  batch.row_length = {9, 4, 7, 1, 9, 6};
  std::mt19937 random(5);
  for (std::int64_t n = 0; n < batch.rows * batch.seq; ++n) {
    const bool real = n % batch.seq < batch.row_length[static_cast<std::size_t>(n / batch.seq)];
    batch.tokens.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab)));
    batch.targets.push_back(real ? static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab)) : -1);
    batch.positions.push_back(static_cast<std::int32_t>(n % batch.seq));
    batch.weights.push_back(real ? 0.25F + static_cast<float>(random() % 8) : 0.0F);
    batch.answer.push_back(0);
  }
  return batch;
}

TEST(StepSlicesTest, HoldEveryRealTokenOnceInOrder) {
  const engine::data::Batch rows = padded_rows(20);
  const auto whole = engine::make_step_batch(rows, {}, 1, 3, 3, {1, 5});
  ASSERT_EQ(whole.slices.size(), 1U);
  for (const std::int64_t tokens_at_once : {1, 8, 12, 100}) {
    const auto batch = engine::make_step_batch(rows, {}, 1, 3, 3, {1, 5}, tokens_at_once);
    std::vector<std::int32_t> tokens, fused;
    std::int64_t place = 9;  // real tokens of the row before the share
    for (const engine::StepSlice& slice : batch.slices) {
      EXPECT_EQ(slice.first_token, place);
      EXPECT_LE(static_cast<std::int64_t>(slice.tokens.tokens.size()), engine::longest_slice(5, 9, tokens_at_once));
      place += static_cast<std::int64_t>(slice.tokens.tokens.size());
      tokens.insert(tokens.end(), slice.tokens.tokens.begin(), slice.tokens.tokens.end());
      fused.insert(fused.end(), slice.fused[1].begin(), slice.fused[1].end());
    }
    EXPECT_EQ(tokens, whole.slices[0].tokens.tokens);
    EXPECT_EQ(fused, whole.slices[0].fused[1]);
    EXPECT_EQ(batch.all_tokens, 36);
  }
  EXPECT_EQ(engine::make_step_batch(rows, {}, 1, 3, 3, {0, 6}, 12).slices.size(), 4U) << "9; 4 + 7 + 1; 9; 6";
}

TEST(StepSlicesTest, GiveTheGradientsAndLossesOfTheWholeBatch) {
  engine::ModelConfig config = sized(16, 2);
  config.vocab = 20;
  engine::TrainConfig train;
  train.jitter = 0.02;
  train.clip = 0.5;
  const auto backend = support::test_backend();
  const engine::data::Batch rows = padded_rows(config.vocab);
  const auto run = [&](std::int64_t tokens_at_once) {
    engine::TrainingStep step(*backend, config);
    step.parameters().load(engine::initial_parameters(config, 1), "test");
    for (std::int64_t i = 0; i < 2; ++i) {  // the second step must not see the gradients of the first
      step.run(engine::make_step_batch(rows, train, 1, i, 3, {0, 6}, tokens_at_once), train, 1, i);
    }
    return std::tuple(step.parameters().store_gradients(), step.pass_losses(), step.gradient_norm());
  };
  const auto [gradients, losses, norm] = run(0);
  for (const std::int64_t tokens_at_once : {1, 12}) {
    const auto [sliced, sliced_losses, sliced_norm] = run(tokens_at_once);
    EXPECT_NEAR(sliced_norm, norm, 1e-5 * norm);
    for (std::size_t pass = 0; pass < 3; ++pass) EXPECT_NEAR(sliced_losses[pass], losses[pass], 1e-6);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      for (std::size_t k = 0; k < gradients[i].values.size(); ++k) {
        ASSERT_NEAR(sliced[i].values[k], gradients[i].values[k], 2e-6) << gradients[i].name;
      }
    }
  }
}

TEST(StepSlicesTest, BoundTheMemoryOfALargeBatch) {
  engine::Recipe recipe;
  recipe.train.rows = 64;
  recipe.data.seq = 128;
  const std::int64_t all = engine::memory_estimate(recipe).step;
  EXPECT_LT(engine::memory_estimate(recipe, 2048).step, all / 3);
  EXPECT_EQ(engine::longest_slice(64, 128, 2048), 2048);
  EXPECT_EQ(engine::longest_slice(4, 128, 2048), 512);
  EXPECT_EQ(engine::longest_slice(4, 4096, 2048), 4096) << "a row is never cut";
}

}  // namespace
