// Which positions are fused, how plain prefixes are drawn, and how losses are averaged.
#include "engine/multipass.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/engine/support/pass_probe.h"

namespace {

using engine::data::Batch;
using Flags = std::vector<std::int32_t>;

support::TestDocument document(std::int64_t length) { return support::random_document(length, 11, 3); }

TEST(FusedFlagsTest, APositionIsFusedFromThePlainLengthOnUnlessItStartsADocument) {
  const Batch batch = support::make_batch({{document(3), document(2)}, {document(4)}}, 6);
  // Padding continues its document: its flag is free to be anything, and is 1 here.
  EXPECT_EQ(engine::fused_flags(batch, {1, 1}), (Flags{0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1, 1}));
  EXPECT_EQ(engine::fused_flags(batch, {2, 3}), (Flags{0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(engine::fused_flags(batch, {4, 6}), (Flags{0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(engine::fused_flags(batch, {0, -3}), engine::fused_flags(batch, {1, 1})) << "position 0 is always plain";
}

class PlainLengthTest : public ::testing::Test {
 protected:
  static constexpr int kDraws = 4000;
  Batch batch_ = support::make_batch({{document(6)}, {document(3)}, {document(1)}}, 6);

  /// How often each plain length was drawn, a row.
  std::vector<std::map<std::int64_t, int>> histogram(double fully_fused) {
    std::vector<std::map<std::int64_t, int>> counts(3);
    for (int step = 0; step < kDraws; ++step) {
      const auto lengths = engine::draw_plain_lengths(batch_, stream(step), fully_fused);
      for (std::size_t row = 0; row < 3; ++row) ++counts[row][lengths[row]];
    }
    return counts;
  }
  static kernels::PhiloxStream stream(int step) {
    return {9, kernels::Purpose::plain_prefix, static_cast<std::uint64_t>(step), 1};
  }
};

TEST_F(PlainLengthTest, UniformOnOneToTheRowsLength) {
  const auto counts = histogram(0.0);
  for (const std::size_t length : {6U, 3U, 1U}) {
    const auto& row = counts[length == 6 ? 0 : (length == 3 ? 1 : 2)];
    ASSERT_EQ(row.size(), length);
    EXPECT_EQ(row.begin()->first, 1);
    for (const auto& [drawn, count] : row) {
      EXPECT_NEAR(count, kDraws / static_cast<double>(length), 130) << "length " << length << " drawn " << drawn;
    }
  }
}

TEST_F(PlainLengthTest, AShareOfTheRowsIsFullyFused) {
  const auto row = histogram(0.25)[0];
  EXPECT_NEAR(row.at(1), kDraws * (0.25 + 0.75 / 6), 150);
  EXPECT_NEAR(row.at(6), kDraws * 0.75 / 6, 100);
  EXPECT_EQ(histogram(1.0)[0].size(), 1U);
}

TEST_F(PlainLengthTest, TheSameStreamDrawsTheSameLengths) {
  EXPECT_EQ(engine::draw_plain_lengths(batch_, stream(3), 0.2), engine::draw_plain_lengths(batch_, stream(3), 0.2));
}

TEST(MeanLossTest, AveragesByWeightAndNeverReadsUnscoredRows) {
  const float nan = std::nanf("");
  EXPECT_NEAR(engine::mean_loss({1, 3, nan, 5}, {1, 0.5F, 0, 0.5F}), (1 + 1.5 + 2.5) / 2, 1e-12);
  EXPECT_EQ(engine::mean_loss({nan}, {0}), 0.0);
}

TEST(MeanLossTest, TheObjectiveIsPassOnePlusTheMeanOfTheOthers) {
  EXPECT_EQ(engine::objective({2.0}, 1.0), 2.0);
  EXPECT_EQ(engine::objective({2.0, 3.0}, 1.0), 5.0);
  EXPECT_EQ(engine::objective({2.0, 3.0, 6.0}, 0.5), 2.0 + 0.5 * 4.5);
}

/// Jitter moves only feedback passes, is the same for the same stream and differs between passes.
TEST(JitterTest, IsDrawnForEachFeedbackPassFromItsStream) {
  support::OracleTask task = support::sample_task(support::tiny_config(), 3);
  task.jitter.clear();
  support::TestModel test(task.config);
  const auto run = [&](float amplitude, std::uint64_t seed) {
    test.tape.clear();
    test.arena.reset();
    engine::PassSettings settings;
    settings.passes = 3;
    settings.jitter = amplitude;
    settings.jitter_stream = {seed, kernels::Purpose::jitter, 7, 0};
    for (const auto& flags : task.fused) settings.fused.push_back(upload_indices(*test.backend, test.arena, flags));
    const auto batch = upload_batch(*test.backend, test.arena, task.batch);
    std::vector<std::vector<float>> nll;
    for (const auto& pass : run_passes(test.tape, test.model, batch, settings)) {
      nll.push_back(engine::download_matrix(*test.backend, pass.nll));
    }
    return nll;
  };
  const auto still = run(0.0F, 1);
  const auto moved = run(0.02F, 1);
  EXPECT_EQ(still[0], moved[0]);
  EXPECT_NE(still[1], moved[1]);
  EXPECT_LT(support::relative_difference(moved[1], still[1]), 0.05);
  EXPECT_EQ(run(0.02F, 1), moved);
  EXPECT_NE(run(0.02F, 2)[1], moved[1]);
}

}  // namespace
