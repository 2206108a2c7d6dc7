// Passes a step and the learning rate: pure functions of recipe, seed and step.
#include "engine/schedule.h"

#include <gtest/gtest.h>

#include <map>

namespace {

using engine::passes_at;
using engine::rate_share;
using engine::TrainConfig;

TrainConfig staged(std::int64_t steps, std::vector<engine::Stage> schedule) {
  TrainConfig config;
  config.steps = steps;
  config.schedule = std::move(schedule);
  return config;
}

/// Steps with each K.
std::map<int, int> counts(const TrainConfig& config, std::uint64_t seed = 1) {
  std::map<int, int> result;
  for (std::int64_t step = 0; step < config.steps; ++step) ++result[passes_at(config, seed, step)];
  return result;
}

TEST(PassScheduleTest, StagesFollowEachOtherWithTheirShares) {
  const TrainConfig config = staged(1000, {{0.75, 1}, {0.22, 2}, {0.03, 3}});
  EXPECT_EQ(passes_at(config, 1, 0), 1);
  EXPECT_EQ(passes_at(config, 1, 749), 1);
  EXPECT_EQ(passes_at(config, 1, 750), 2);
  EXPECT_EQ(passes_at(config, 1, 969), 2);
  EXPECT_EQ(passes_at(config, 1, 970), 3);
  EXPECT_EQ(passes_at(config, 1, 999), 3);
  EXPECT_EQ(passes_at(config, 99, 750), 2) << "stages do not depend on the seed";
}

TEST(PassScheduleTest, SharesNeedNotAddUpToOne) {
  EXPECT_EQ(counts(staged(100, {{3, 1}, {1, 2}})), (std::map<int, int>{{1, 75}, {2, 25}}));
  EXPECT_EQ(counts(staged(10, {{1, 2}})), (std::map<int, int>{{2, 10}}));
}

TEST(PassScheduleTest, AnEmptyStageIsNeverReached) {
  EXPECT_EQ(counts(staged(100, {{0.5, 1}, {0.0, 7}, {0.5, 2}})), (std::map<int, int>{{1, 50}, {2, 50}}));
  EXPECT_EQ(counts(staged(7, {{1.0, 1}, {0.0, 7}})), (std::map<int, int>{{1, 7}}));
}

TEST(PassScheduleTest, EveryStepHasAStageForAnyNumberOfSteps) {
  for (std::int64_t steps = 1; steps < 200; ++steps) {
    const auto result = counts(staged(steps, {{0.4, 1}, {0.35, 2}, {0.25, 3}}));
    int sum = 0;
    for (const auto& [passes, count] : result) {
      const double share = passes == 1 ? 0.4 : (passes == 2 ? 0.35 : 0.25);
      EXPECT_NEAR(count, share * static_cast<double>(steps), 1.0) << steps << " steps, K " << passes;
      sum += count;
    }
    EXPECT_EQ(sum, steps);
  }
}

TEST(PassScheduleTest, InterleavedStepsAreDrawnWithTheSharesAsWeights) {
  TrainConfig config = staged(8000, {{0.5, 1}, {0.3, 2}, {0.2, 4}});
  config.interleaved = true;
  auto drawn = counts(config);
  EXPECT_NEAR(drawn[1], 4000, 150);
  EXPECT_NEAR(drawn[2], 2400, 150);
  EXPECT_NEAR(drawn[4], 1600, 150);
  EXPECT_EQ(drawn.size(), 3U);
  int early = 0;  // spread over the training, not one after the other
  for (std::int64_t step = 0; step < 800; ++step) early += passes_at(config, 1, step) == 4 ? 1 : 0;
  EXPECT_NEAR(early, 160, 50);
  EXPECT_NE(counts(config, 2), drawn) << "another seed draws others";
  EXPECT_EQ(counts(config, 1), drawn);
}

TEST(PassScheduleTest, LargestPassesIgnoresEmptyStages) {
  EXPECT_EQ(engine::largest_passes(staged(10, {{0.5, 3}, {0.5, 2}})), 3);
  EXPECT_EQ(engine::largest_passes(staged(10, {{1.0, 2}, {0.0, 5}})), 2);
}

TEST(RateTest, WarmsUpStaysAndCoolsDown) {
  TrainConfig config;
  config.steps = 100;
  config.warmup_steps = 10;
  config.cooldown_share = 0.25;
  config.final_rate = 0.0;
  EXPECT_DOUBLE_EQ(rate_share(config, 0), 0.1);
  EXPECT_DOUBLE_EQ(rate_share(config, 4), 0.5);
  for (const std::int64_t step : {9, 10, 50, 74}) EXPECT_DOUBLE_EQ(rate_share(config, step), 1.0) << step;
  EXPECT_DOUBLE_EQ(rate_share(config, 75), 1.0 - 1.0 / 25);
  EXPECT_DOUBLE_EQ(rate_share(config, 87), 1.0 - 13.0 / 25);
  EXPECT_NEAR(rate_share(config, 99), 0.0, 1e-12);
}

TEST(RateTest, EndsAtTheFinalRate) {
  TrainConfig config;
  config.steps = 40;
  config.warmup_steps = 0;
  config.cooldown_share = 0.5;
  config.final_rate = 0.2;
  EXPECT_DOUBLE_EQ(rate_share(config, 0), 1.0);
  EXPECT_NEAR(rate_share(config, 29), 0.6, 1e-12);
  EXPECT_NEAR(rate_share(config, 39), 0.2, 1e-12);
}

TEST(RateTest, CooldownCanBeNothingOrEverything) {
  TrainConfig config;
  config.steps = 10;
  config.warmup_steps = 0;
  config.cooldown_share = 0.0;
  EXPECT_DOUBLE_EQ(rate_share(config, 9), 1.0);
  EXPECT_FALSE(engine::in_cooldown(config, 9));
  config.cooldown_share = 1.0;
  EXPECT_TRUE(engine::in_cooldown(config, 0));
  EXPECT_LT(rate_share(config, 0), 1.0);
}

TEST(RateTest, TheLowerOfWarmUpAndCooldownCounts) {
  TrainConfig config;
  config.steps = 10;
  config.warmup_steps = 10;
  config.cooldown_share = 0.5;
  config.final_rate = 0.0;
  for (std::int64_t step = 0; step < 10; ++step) {
    const double warm = static_cast<double>(step + 1) / 10;
    const double cool = step < 5 ? 1.0 : 1.0 - static_cast<double>(step - 4) / 5;
    EXPECT_NEAR(rate_share(config, step), std::min(warm, cool), 1e-12) << step;
  }
}

TEST(RateTest, TheCooldownBeginsWhereTheRateFalls) {
  TrainConfig config;
  config.steps = 100;
  config.warmup_steps = 0;
  config.cooldown_share = 0.3;
  for (std::int64_t step = 0; step < 100; ++step) {
    EXPECT_EQ(engine::in_cooldown(config, step), rate_share(config, step) < 1.0) << step;
  }
}

}  // namespace
