// What repeated feedback passes move, and rebuilding a Soft cache from its tokens.
#include "engine/stability.h"

#include <gtest/gtest.h>

#include "engine/cache_rebuild.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::download_matrix;
using support::relative_difference;
using support::TestModel;
using support::Tokens;

constexpr std::int64_t kSeq = 7;
constexpr int kPasses = 9;

class StabilityTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};
  /// One full row, one packed row, one padded row.
  engine::data::Batch batch_ = support::make_batch(
      {{support::random_document(7, config_.vocab, 1)},
       {support::random_document(4, config_.vocab, 2), support::random_document(3, config_.vocab, 3)},
       {support::random_document(5, config_.vocab, 4)}},
      kSeq);
  /// Under listing3 the first position changes once, in the first feedback pass.
  int shift_ = config_.norm_reading == engine::NormReading::listing3 ? 1 : 0;
};

TEST_P(StabilityTest, PassFMovesOnlyPositionsFromFOn) {
  const auto stability = measure_stability(*test_.backend, test_.parameters, batch_, kPasses);
  ASSERT_EQ(stability.update.size(), std::size_t{kPasses});
  ASSERT_EQ(stability.nll.size(), std::size_t{kPasses + 1});
  for (int f = 1; f <= kPasses; ++f) {
    const auto pass = static_cast<std::size_t>(f);
    for (std::size_t n = 0; n < batch_.tokens.size(); ++n) {
      SCOPED_TRACE("pass " + std::to_string(f) + ", row position " + std::to_string(n));
      if (batch_.positions[n] >= f - shift_) {
        EXPECT_GT(stability.update[pass - 1][n], 0.0F);
      } else {
        EXPECT_EQ(stability.update[pass - 1][n], 0.0F);
        EXPECT_EQ(stability.nll[pass][n], stability.nll[pass - 1][n]);
      }
    }
  }
}

TEST_P(StabilityTest, PositionsUpToFAreTheSequentialRecurrenceAfterFPasses) {
  const Tokens sequence(batch_.tokens.begin(), batch_.tokens.begin() + kSeq);
  engine::BatchDecoder sequential(*test_.backend, test_.parameters);
  sequential.prefill({{sequence[0]}}, shift_ == 0 ? engine::DecodeMode::soft : engine::DecodeMode::fused, kSeq);
  std::vector<std::vector<float>> exact = {download_matrix(*test_.backend, sequential.carried())};
  for (std::size_t n = 1; n < sequence.size(); ++n) {
    sequential.step({sequence[n]});
    exact.push_back(download_matrix(*test_.backend, sequential.carried()));
  }
  engine::PassRunner runner(*test_.backend, test_.parameters);
  runner.begin(sequence, support::places(sequence.size()));
  runner.plain_pass();
  for (int f = 1; f <= kSeq; ++f) {
    runner.feedback_pass(support::flags_after(1, sequence.size()));
    for (int n = 0; n < kSeq; ++n) {
      const double error = relative_difference(download_matrix(*test_.backend, runner.carried().row_range(n, 1)),
                                               exact[static_cast<std::size_t>(n)]);
      if (n <= f - shift_) {
        EXPECT_LE(error, 1e-5) << "pass " << f << ", position " << n;
      } else if (n == f - shift_ + 1) {
        EXPECT_GT(error, 1e-5) << "pass " << f << ", position " << n << " cannot be exact yet";
      }
    }
  }
}

TEST_P(StabilityTest, EnoughPassesRebuildASoftCacheFromItsTokens) {
  constexpr std::int64_t kNew = 8;
  const Tokens prompt = support::random_tokens(4, config_.vocab, 3);
  engine::BatchDecoder decoder(*test_.backend, test_.parameters);
  const auto rollout = record_soft_rollout(decoder, *test_.backend, prompt, kNew);
  ASSERT_EQ(rollout.generated.size(), std::size_t{kNew});
  const auto width = static_cast<std::size_t>(config_.kv_heads * config_.head_dim());
  ASSERT_EQ(rollout.key[0].size(), (kNew - 1) * width) << "the last token has no cache entry";
  const auto errors = rebuild_errors(*test_.backend, test_.parameters, rollout, {1, 2, 3, 7, 8, 32});
  ASSERT_EQ(errors.size(), 6U);
  for (const auto& error : errors) {
    SCOPED_TRACE(std::to_string(error.passes) + " passes");
    if (error.passes >= kNew) {  // one ordinary pass, then one pass for each response position
      EXPECT_LE(error.key_error, 1e-5);
      EXPECT_LE(error.value_error, 1e-5);
    } else if (error.passes < 4) {
      EXPECT_GT(error.key_error, 1e-4);
      EXPECT_GT(error.value_error, 1e-4);
    }
  }
  EXPECT_GT(errors[0].key_error, errors[3].key_error);
}

INSTANTIATE_TEST_SUITE_P(Options, StabilityTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

TEST(GreedyTokenTest, TiesGoToTheLowestId) {
  EXPECT_EQ(engine::greedy_token({0.5F, 2.0F, 2.0F, 1.0F}), 1);
  EXPECT_EQ(engine::greedy_token({-3.0F, -3.0F}), 0);
}

}  // namespace
