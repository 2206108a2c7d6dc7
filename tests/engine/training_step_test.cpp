// What a training step takes from memory: gradients that live for a scope, blocks that are computed again, and the plan
// that knows both before anything is allocated. None of it may change a bit of any gradient.
#include "engine/training_step.h"

#include <gtest/gtest.h>

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

}  // namespace
