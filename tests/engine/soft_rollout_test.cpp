// Recorded Soft rollouts: which tokens have states and cache entries, and what parallel passes rebuild from the tokens.
#include "engine/soft_rollout.h"

#include <gtest/gtest.h>

#include <numeric>

#include "engine/cache_rebuild.h"
#include "engine/error.h"
#include "engine/rollout_likelihood.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::BatchDecoder;
using engine::RecordedRollout;
using engine::RecordSettings;
using support::relative_difference;
using support::TestModel;
using support::Tokens;

constexpr std::int64_t kNew = 9;
constexpr double kRounding = 1e-5;

class SoftRolloutTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  RecordedRollout record(const RecordSettings& settings) {
    BatchDecoder decoder(*test_.backend, test_.parameters);
    return record_soft_rollout(decoder, *test_.backend, prompt_, settings);
  }
  static RecordSettings sampled() {
    RecordSettings settings;
    settings.max_tokens = kNew;
    settings.sampler.temperature = 1;
    return settings;
  }

  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};
  Tokens prompt_ = support::random_tokens(4, config_.vocab, 3);
};

TEST_P(SoftRolloutTest, LikelihoodByParallelPassesBecomesTheSequentialOne) {
  const RecordedRollout rollout = record(sampled());
  const auto result = rollout_likelihood(*test_.backend, test_.parameters, rollout, {1, 2, 3, 9, 12});
  EXPECT_EQ(result.tokens, kNew);
  EXPECT_NEAR(result.sequential, std::accumulate(rollout.logprob.begin(), rollout.logprob.end(), 0.0), 1e-9);
  // The recurrence written with parallel passes alone is the oracle of both.
  const auto logits = support::UncachedDecoder(test_, prompt_, {rollout.generated.begin(), rollout.generated.end() - 1})
                          .logits(engine::DecodeMode::soft);
  double oracle = 0;
  for (std::size_t i = 0; i < rollout.generated.size(); ++i) {
    const float* row = &logits[i * static_cast<std::size_t>(config_.vocab)];
    double sum = 0;
    for (std::int64_t v = 0; v < config_.vocab; ++v) sum += std::exp(double{row[v]});
    oracle += row[rollout.generated[i]] - std::log(sum);
  }
  EXPECT_NEAR(result.sequential, oracle, 2e-4);
  EXPECT_NEAR(result.parallel[3], result.sequential, 2e-4) << "one pass and one for each response position";
  EXPECT_NEAR(result.parallel[4], result.sequential, 2e-4);
  EXPECT_NEAR(result.on_recorded_states, result.sequential, 2e-4);
  EXPECT_GT(result.largest_miss[0], 1e-3) << "Standard's likelihood is another";
  EXPECT_GT(std::abs(result.parallel[0] - result.sequential), 1e-3);
}

TEST_P(SoftRolloutTest, TheRecordedStatesLeaveRoundingAlone) {
  const RecordedRollout rollout = record(sampled());
  const auto floor = recorded_state_floor(*test_.backend, test_.parameters, rollout);
  EXPECT_LE(floor.key_error, kRounding);
  EXPECT_LE(floor.value_error, kRounding);
  EXPECT_DOUBLE_EQ(floor.argmax_agreement, 1);
  const auto errors = rebuild_errors(*test_.backend, test_.parameters, rollout, {1, 2, 9});
  EXPECT_GT(errors[1].key_error, 10 * floor.key_error);
  EXPECT_DOUBLE_EQ(errors[2].argmax_agreement, 1);
}

INSTANTIATE_TEST_SUITE_P(Options, SoftRolloutTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

class RecordingTest : public ::testing::Test {
 protected:
  TestModel test_{support::tiny_config()};
  BatchDecoder decoder_{*test_.backend, test_.parameters};
  Tokens prompt_ = {1, 2, 3, 4};

  RecordedRollout record(const RecordSettings& settings) {
    return record_soft_rollout(decoder_, *test_.backend, prompt_, settings);
  }
};

/// The last sampled token never entered the stack: it has no state, no keys and no values.
TEST_F(RecordingTest, PromptAndGeneratedButTheLastHaveCacheEntries) {
  RecordSettings settings;
  settings.max_tokens = 5;
  const RecordedRollout rollout = record(settings);
  EXPECT_EQ(decoder_.lengths(), (Tokens{8})) << "4 prompt tokens and 4 of 5 generated ones";
  const auto table = position_table(rollout);
  ASSERT_EQ(table.size(), 9U);
  std::int64_t cached = 0;
  for (std::size_t n = 0; n < table.size(); ++n) {
    SCOPED_TRACE(n);
    EXPECT_EQ(table[n].position, static_cast<std::int64_t>(n));
    EXPECT_EQ(table[n].generated, n >= 4);
    EXPECT_EQ(table[n].token, n < 4 ? prompt_[n] : rollout.generated[n - 4]);
    EXPECT_EQ(table[n].reads_state, n >= 4 && n < 8 ? static_cast<std::int64_t>(n) - 1 : -1);
    cached += table[n].cached ? 1 : 0;
  }
  EXPECT_FALSE(table.back().cached);
  EXPECT_EQ(cached, decoder_.lengths()[0]);
  EXPECT_EQ(rollout.states.size(), 5U) << "of the last prompt position and of the four that entered";
  EXPECT_EQ(rollout.logprob.size(), 5U);
  EXPECT_EQ(rollout.most_likely.size(), 4U);
  const auto width = static_cast<std::size_t>(test_.parameters.config().dim);
  EXPECT_EQ(rollout.key[0].size(), 4 * width);
}

TEST_F(RecordingTest, GivenTokensAreFollowed) {
  RecordSettings settings;
  settings.generated = {7, 0, 10, 3};
  const RecordedRollout rollout = record(settings);
  EXPECT_EQ(rollout.generated, settings.generated);
  const auto logits = cached_logits(test_, prompt_, {7, 0, 10}, engine::DecodeMode::soft);
  for (std::size_t i = 0; i < 4; ++i) {
    double sum = 0;
    for (std::size_t v = 0; v < 11; ++v) sum += std::exp(double{logits[i * 11 + v]});
    const auto token = static_cast<std::size_t>(settings.generated[i]);
    EXPECT_NEAR(rollout.logprob[i], logits[i * 11 + token] - std::log(sum), 1e-5);
  }
}

TEST_F(RecordingTest, EndsAtEndOfTextWhenAsked) {
  RecordSettings settings;
  settings.max_tokens = 30;
  settings.sampler.temperature = 2;
  const Tokens whole = record(settings).generated;
  ASSERT_EQ(whole.size(), 30U);
  settings.end_of_text = whole[6];
  const auto end = std::find(whole.begin(), whole.end(), whole[6]) + 1;
  EXPECT_EQ(record(settings).generated, Tokens(whole.begin(), end));
  settings.max_tokens = 0;
  EXPECT_THROW(record(settings), engine::ConfigError);
}

TEST_F(RecordingTest, AOneTokenRolloutHasNothingToRebuild) {
  RecordSettings settings;
  settings.max_tokens = 1;
  const RecordedRollout rollout = record(settings);
  EXPECT_EQ(rollout.response_positions(), 0);
  const auto result = rollout_likelihood(*test_.backend, test_.parameters, rollout, {1, 2});
  EXPECT_NEAR(result.parallel[0], result.sequential, 1e-5) << "the first token is Standard's";
  const auto report = measure_rebuild(*test_.backend, test_.parameters, {prompt_, {5}}, settings, {1, 2});
  EXPECT_EQ(report.rollouts, 0);
  EXPECT_EQ(report.without_response, 2);
  EXPECT_TRUE(std::isnan(report.key_error[0].value)) << "what was not measured is no number";
}

TEST_F(RecordingTest, ReportsAverageTheRolloutsWithTheirSpread) {
  RecordSettings settings;
  settings.max_tokens = 6;
  settings.sampler.temperature = 1;
  const std::vector<Tokens> prompts = {prompt_, {5, 6}, {0, 9, 9}};
  const auto report = measure_rebuild(*test_.backend, test_.parameters, prompts, settings, {1, 3});
  double key = 0;
  double likelihood = 0;
  double miss = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    RecordSettings own = settings;
    own.row = static_cast<std::int64_t>(i);
    const auto rollout = record_soft_rollout(decoder_, *test_.backend, prompts[i], own);
    key += rebuild_errors(*test_.backend, test_.parameters, rollout, {3})[0].key_error / 3;
    const auto one = rollout_likelihood(*test_.backend, test_.parameters, rollout, {2});
    likelihood += one.sequential / 18;
    miss += std::abs(one.parallel[0] - one.sequential) / 18;
  }
  EXPECT_NEAR(report.key_error[1].value, key, 1e-9);
  EXPECT_EQ(report.key_error[1].rows, 3);
  EXPECT_GT(report.key_error[1].error, 0);
  EXPECT_EQ(report.response_positions, 15);
  const auto likely = measure_likelihood(*test_.backend, test_.parameters, prompts, settings, {2});
  EXPECT_NEAR(likely.sequential.value, likelihood, 1e-9);
  EXPECT_NEAR(likely.absolute_error[0].value, miss, 1e-9);
  EXPECT_LT(likely.floor.value, 1e-5);
}

TEST_F(RecordingTest, CanBeCancelled) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(measure_rebuild(*test_.backend, test_.parameters, {prompt_}, {}, {1}, {}, source.get_token()),
               engine::Cancelled);
  EXPECT_THROW(measure_likelihood(*test_.backend, test_.parameters, {prompt_}, {}, {1}, {}, source.get_token()),
               engine::Cancelled);
}

}  // namespace
