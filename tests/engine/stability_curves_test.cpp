// The curves of repeated feedback passes: what is masked, what the movable mean shows that the blended one hides, and
// that neither padding nor packing moves a number.
#include <gtest/gtest.h>

#include "engine/error.h"
#include "engine/stability.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::Estimate;
using engine::StabilityCurves;
using support::make_batch;
using support::random_document;
using support::TestModel;

constexpr int kPasses = 9;

std::vector<double> values(const std::vector<Estimate>& estimates) {
  std::vector<double> result;
  for (const Estimate& estimate : estimates) result.push_back(estimate.value);
  return result;
}

/// Everything that is reported, as one list of numbers.
std::vector<double> all_numbers(const StabilityCurves& curves) {
  std::vector<double> numbers = {static_cast<double>(curves.rows), static_cast<double>(curves.scored_positions),
                                 static_cast<double>(curves.computed_passes)};
  for (auto curve :
       {&StabilityCurves::loss, &StabilityCurves::loss_change, &StabilityCurves::update_all,
        &StabilityCurves::update_movable, &StabilityCurves::exact_loss, &StabilityCurves::exact_standard_loss}) {
    for (const Estimate& e : curves.*curve) {
      for (const double number : {e.value, e.error, static_cast<double>(e.rows), static_cast<double>(e.counts)})
        numbers.push_back(std::isnan(number) ? -1e9 : number);
    }
  }
  for (const auto& row : curves.at_position) numbers.insert(numbers.end(), row.begin(), row.end());
  return numbers;
}

class StabilityCurvesTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};
  int shift_ = config_.norm_reading == engine::NormReading::listing3 ? 1 : 0;

  StabilityCurves measure(const engine::data::Batch& batch, int passes = kPasses, std::int64_t rows_at_once = 64) {
    return measure_stability_curves(*test_.backend, test_.parameters, batch, passes, rows_at_once);
  }
  engine::data::Batch mixed_rows(std::int32_t padding) const {
    return make_batch({{random_document(7, config_.vocab, 1)},
                       {random_document(4, config_.vocab, 2), random_document(3, config_.vocab, 3)},
                       {random_document(5, config_.vocab, 4)}},
                      8, padding);
  }
};

/// The same means, from the matrix of all positions and with nothing but plain sums.
TEST_P(StabilityCurvesTest, AreMeansOfTheMatrixOverScoredPositions) {
  const auto batch = mixed_rows(0);
  const auto curves = measure(batch);
  const auto matrix = measure_stability(*test_.backend, test_.parameters, batch, kPasses);
  ASSERT_EQ(curves.loss.size(), std::size_t{kPasses + 1});
  ASSERT_EQ(curves.update_all.size(), std::size_t{kPasses});
  for (int f = 0; f <= kPasses; ++f) {
    SCOPED_TRACE("pass " + std::to_string(f));
    const auto pass = static_cast<std::size_t>(f);
    double loss = 0, change = 0, update = 0, movable_update = 0, exact_loss = 0, exact_standard = 0;
    std::int64_t scored = 0, movable = 0, exact = 0;
    for (std::size_t n = 0; n < batch.tokens.size(); ++n) {
      if (batch.targets[n] < 0) continue;
      const double moved = f > 0 ? double{matrix.update[pass - 1][n]} : 0;
      scored += 1;
      loss += double{matrix.nll[pass][n]};
      change += double{matrix.nll[pass][n]} - double{matrix.nll[0][n]};
      update += moved;
      if (batch.positions[n] >= f - shift_) {
        movable += 1;
        movable_update += moved;
      }
      if (batch.positions[n] <= f - shift_) {
        exact += 1;
        exact_loss += double{matrix.nll[pass][n]};
        exact_standard += double{matrix.nll[0][n]};
      }
    }
    const auto count = static_cast<double>(scored);
    EXPECT_EQ(curves.scored_positions, scored);
    EXPECT_NEAR(curves.loss[pass].value, loss / count, 1e-5);
    EXPECT_NEAR(curves.loss_change[pass].value, change / count, 1e-5);
    EXPECT_EQ(curves.exact_positions[pass], exact);
    if (exact > 0) {
      EXPECT_NEAR(curves.exact_loss[pass].value, exact_loss / static_cast<double>(exact), 1e-5);
      EXPECT_NEAR(curves.exact_standard_loss[pass].value, exact_standard / static_cast<double>(exact), 1e-5);
    }
    if (f == 0) continue;
    EXPECT_EQ(curves.movable_positions[pass - 1], movable);
    EXPECT_NEAR(curves.update_all[pass - 1].value, update / count, 1e-4);
    EXPECT_NEAR(curves.update_movable[pass - 1].value,
                movable > 0 ? movable_update / static_cast<double>(movable) : 0.0, 1e-4);
  }
}

TEST_P(StabilityCurvesTest, PaddingMovesNoNumberAndRowsMayBeTakenInShares) {
  const auto expected = all_numbers(measure(mixed_rows(0)));
  EXPECT_EQ(all_numbers(measure(mixed_rows(7))), expected);
  EXPECT_LE(support::relative_difference(all_numbers(measure(mixed_rows(3), kPasses, 1)), expected), 1e-6);
}

TEST_P(StabilityCurvesTest, PackedDocumentsGiveTheNumbersOfRowsOfTheirOwn) {
  const auto a = random_document(4, config_.vocab, 5);
  const auto b = random_document(6, config_.vocab, 6);
  const auto packed = measure(make_batch({{a, b}}, 10));
  const auto apart = measure(make_batch({{a}, {b}}, 6));
  EXPECT_EQ(packed.movable_positions, apart.movable_positions);
  EXPECT_EQ(packed.exact_positions, apart.exact_positions);
  for (auto curve : {&StabilityCurves::loss, &StabilityCurves::update_all, &StabilityCurves::update_movable}) {
    EXPECT_LE(support::relative_difference(values(packed.*curve), values(apart.*curve)), 1e-4);
  }
  EXPECT_TRUE(std::isnan(packed.loss[0].error)) << "one row cannot tell how rows differ";
  EXPECT_GT(apart.loss[0].error, 0);
}

TEST_P(StabilityCurvesTest, TheLastExactLossIsTheLossOfTheSequentialRecurrence) {
  const auto curves = measure(mixed_rows(0));
  EXPECT_EQ(curves.exact_positions.back(), curves.scored_positions);
  EXPECT_EQ(curves.movable_positions.back(), 0);
  EXPECT_EQ(curves.update_movable.back().value, 0);
  EXPECT_EQ(curves.update_all.back().value, 0);
  EXPECT_NEAR(curves.exact_loss.back().value, curves.loss.back().value, 1e-9);
  EXPECT_NEAR(curves.exact_standard_loss.back().value, curves.loss.front().value, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Options, StabilityCurvesTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

/// Many short rows and a long one: the blended mean says that the model settles, the movable mean that it does not.
TEST(StabilityMaskTest, ShortRowsBecomeExactAndDoNotFoolTheMovableMean) {
  TestModel test(support::tiny_config());
  std::vector<std::vector<support::TestDocument>> rows = {{random_document(16, 11, 40)}};
  for (std::uint64_t row = 0; row < 12; ++row) rows.push_back({random_document(4, 11, row)});
  const auto curves = measure_stability_curves(*test.backend, test.parameters, make_batch(rows, 16), 10);
  const auto alone = measure_stability_curves(*test.backend, test.parameters, make_batch({rows[0]}, 16), 10);
  for (std::size_t f = 4; f < 10; ++f) {
    EXPECT_EQ(curves.movable_positions[f], alone.movable_positions[f]);
    EXPECT_NEAR(curves.update_movable[f].value, alone.update_movable[f].value, 1e-4);
    EXPECT_LT(curves.update_all[f].value, 0.4 * curves.update_movable[f].value);
    EXPECT_EQ(curves.update_movable[f].rows, 1);
  }
}

TEST(StabilityMaskTest, AThousandPassesCostNoMoreThanTheLongestRow) {
  TestModel test(support::tiny_config());
  const auto batch = make_batch({{random_document(6, 11, 1)}, {random_document(3, 11, 2)}}, 6);
  const auto run = [&](int passes) {
    const std::int64_t before = test.backend->info().allocations;
    auto curves = measure_stability_curves(*test.backend, test.parameters, batch, passes);
    return std::pair(curves, test.backend->info().allocations - before);
  };
  run(8);
  const auto [eight, allocations_of_eight] = run(8);
  const auto [thousand, allocations_of_thousand] = run(1000);
  EXPECT_EQ(thousand.passes, 1000);
  EXPECT_EQ(thousand.computed_passes, 5);
  EXPECT_EQ(thousand.at_position.size(), 5U);
  EXPECT_EQ(thousand.loss.size(), 1001U);
  EXPECT_EQ(thousand.loss.back().value, eight.loss.back().value);
  EXPECT_EQ(allocations_of_thousand, allocations_of_eight);
}

TEST(StabilityMaskTest, TheMapByPositionIsZeroBehindTheWavefront) {
  TestModel test(support::tiny_config());
  const auto curves =
      measure_stability_curves(*test.backend, test.parameters, make_batch({{random_document(6, 11, 1)}}, 6), 9);
  ASSERT_EQ(curves.at_position.size(), 5U);
  for (std::size_t f = 1; f <= 5; ++f) {
    for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(curves.at_position[f - 1][t] > 0, t >= f) << f << " " << t;
  }
}

TEST(StabilityRepeatsTest, PooledRepeatsAreOneMeasurementOverAllTheirRows) {
  TestModel test(support::tiny_config());
  const std::vector<std::vector<support::TestDocument>> rows = {{random_document(5, 11, 1)},
                                                                {random_document(6, 11, 2)},
                                                                {random_document(4, 11, 3)},
                                                                {random_document(6, 11, 4)}};
  const auto measure = [&](std::size_t first, std::size_t last) {
    const auto begin = rows.begin();
    return measure_stability_curves(
        *test.backend, test.parameters,
        make_batch({begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(last)}, 6), 5);
  };
  const auto together = measure(0, 4);
  const std::vector<StabilityCurves> repeats = {measure(0, 2), measure(2, 4)};
  const auto all = engine::pooled(repeats);
  EXPECT_EQ(all.rows, 4);
  EXPECT_EQ(all.movable_positions, together.movable_positions);
  for (auto curve : {&StabilityCurves::loss, &StabilityCurves::update_all, &StabilityCurves::update_movable}) {
    EXPECT_LE(support::relative_difference(values(all.*curve), values(together.*curve)), 1e-5);
    const auto spread = engine::spread_over_repeats(repeats, curve);
    const double apart = std::abs((repeats[0].*curve)[1].value - (repeats[1].*curve)[1].value);
    EXPECT_NEAR(spread[1], apart / std::sqrt(2.0), 1e-9);
  }
  EXPECT_TRUE(std::isnan(engine::spread_over_repeats({repeats[0]}, &StabilityCurves::loss)[0]));
}

TEST(StabilityCancelTest, AStopCancelsAndProgressReachesItsEnd) {
  TestModel test(support::tiny_config());
  const auto batch = make_batch({{random_document(4, 11, 1)}, {random_document(4, 11, 2)}}, 4);
  std::int64_t done = 0;
  std::int64_t total = 0;
  measure_stability_curves(*test.backend, test.parameters, batch, 7, 1, [&](std::int64_t d, std::int64_t t) {
    done = d;
    total = t;
  });
  EXPECT_EQ(done, 14);
  EXPECT_EQ(total, 14);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(measure_stability_curves(*test.backend, test.parameters, batch, 7, 1, {}, stop.get_token()),
               engine::Cancelled);
}

}  // namespace
