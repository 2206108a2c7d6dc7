// The parts of a plot that know no window: smoothing, decimation, curves, ranges, clipping, ticks.
#include <gtest/gtest.h>

#include <QLocale>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <tuple>

#include "widgets/decimation.h"
#include "widgets/numbers.h"
#include "widgets/plot_curve.h"
#include "widgets/smoothing.h"
#include "widgets/ticks.h"

namespace {

using namespace widgets;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> noise(std::size_t count, unsigned seed = 7) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(3, 1);
  std::vector<double> values(count);
  for (double& value : values) value = normal(random);
  return values;
}

std::vector<double> counting(std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
  return values;
}

TEST(Smoothing, ConstantsStayConstantExactly) {
  for (const double factor : {0.3, 0.6, 0.99, 0.999}) {
    for (const double value : smooth(std::vector<double>(500, 0.1), factor)) EXPECT_EQ(value, 0.1) << factor;
  }
}

TEST(Smoothing, IsTheWeightedMeanOfTheValuesSoFar) {
  const std::vector<double> values = noise(200);
  for (const double factor : {0.5, 0.9, 0.999}) {
    const std::vector<double> smoothed = smooth(values, factor);
    for (std::size_t i = 0; i < values.size(); i += 37) {
      double sum = 0;
      double weights = 0;
      for (std::size_t k = 0; k <= i; ++k) {
        const double weight = std::pow(factor, static_cast<double>(i - k));
        sum += weight * values[k];
        weights += weight;
      }
      EXPECT_NEAR(smoothed[i], sum / weights, 1e-9) << factor << " at " << i;
    }
  }
}

TEST(Smoothing, StartsAtTheFirstValueAndZeroChangesNothing) {
  const std::vector<double> values = noise(50);
  EXPECT_EQ(smooth(values, 0.99)[0], values[0]);
  EXPECT_EQ(smooth(values, 0), values);
}

TEST(Smoothing, ANaNDoesNotPoisonWhatFollows) {
  std::vector<double> values = noise(60);
  std::vector<double> without = values;
  values[20] = kNaN;
  values[30] = kInfinity;
  without.erase(without.begin() + 30);
  without.erase(without.begin() + 20);
  const std::vector<double> smoothed = smooth(values, 0.9);
  EXPECT_TRUE(std::isnan(smoothed[20]));
  EXPECT_TRUE(std::isinf(smoothed[30]));
  EXPECT_DOUBLE_EQ(smoothed.back(), smooth(without, 0.9).back());
}

TEST(Decimation, ASingleSpikeSurvives) {
  std::vector<double> y = noise(200'000);
  y[123'457] = 1e6;
  y[66'666] = -1e6;
  const Polyline kept = decimate(counting(y.size()), y, 0, 199'999, 800);
  EXPECT_LE(kept.x.size(), 4 * 801U);
  EXPECT_EQ(*std::max_element(kept.y.begin(), kept.y.end()), 1e6);
  EXPECT_EQ(*std::min_element(kept.y.begin(), kept.y.end()), -1e6);
  EXPECT_TRUE(std::is_sorted(kept.x.begin(), kept.x.end()));
}

TEST(Decimation, EveryColumnKeepsItsExtremes) {
  const std::vector<double> y = noise(50'000);
  const Polyline kept = decimate(counting(y.size()), y, 0, 50'000, 100);
  for (std::size_t column = 0; column < 100; ++column) {
    const auto begin = y.begin() + static_cast<long>(column * 500);
    const double highest = *std::max_element(begin, begin + 500);
    EXPECT_NE(std::find(kept.y.begin(), kept.y.end(), highest), kept.y.end()) << column;
  }
}

// What decimate() promises, said without haste: every column on its own, every point looked at.
Polyline decimate_plainly(const std::vector<double>& x, const std::vector<double>& y, double low, double high,
                          std::size_t columns) {
  Polyline out;
  const double width = (high - low) / static_cast<double>(columns);
  const auto column_of = [&](std::size_t i) { return std::floor((x[i] - low) / width); };
  std::size_t i = 0;
  while (i + 1 < x.size() && x[i + 1] < low) ++i;
  std::size_t end = x.size();
  while (end > 1 && x[end - 2] > high) --end;
  while (i < end) {
    std::size_t next = i;
    while (next < end && column_of(next) == column_of(i)) ++next;
    const auto from = y.begin() + static_cast<long>(i);
    const auto to = y.begin() + static_cast<long>(next);
    const auto lowest = static_cast<std::size_t>(std::min_element(from, to) - y.begin());
    const auto highest = static_cast<std::size_t>(std::max_element(from, to) - y.begin());
    for (const std::size_t kept : std::set<std::size_t>{i, lowest, highest, next - 1}) {
      out.x.push_back(x[kept]);
      out.y.push_back(y[kept]);
    }
    i = next;
  }
  return out;
}

// Columns of 6, 100 and 1,000 points, with values that occur more than once; 256 columns a unit keep edges exact.
TEST(Decimation, BlocksChangeNothing) {
  std::vector<double> y = noise(40'000);
  for (double& value : y) value = std::round(4 * value);
  std::vector<double> x = counting(y.size());
  for (double& value : x) value /= 1024;
  BlockExtremes blocks;
  for (const std::size_t so_far : {10UL, 5000UL, 5001UL, y.size()}) {
    blocks.extend({y.begin(), y.begin() + static_cast<long>(so_far)});
  }
  ASSERT_EQ(blocks.size(), y.size() / BlockExtremes::kBlock);
  for (const auto& [low, high, columns] :
       std::vector<std::tuple<double, double, std::size_t>>{{0, 39, 32}, {3, 35, 256}, {10.25, 18.25, 1024}}) {
    const Polyline plain = decimate_plainly(x, y, low, high, columns);
    for (const Polyline& kept :
         {decimate(x, y, low, high, columns), decimate(x, y, low, high, columns, false, blocks)}) {
      EXPECT_EQ(kept.x, plain.x) << columns;
      EXPECT_EQ(kept.y, plain.y) << columns;
    }
  }
}

TEST(Decimation, ZoomedInKeepsAllPointsAndANeighbourOnEitherSide) {
  const std::vector<double> y = noise(1000);
  const Polyline kept = decimate(counting(1000), y, 100, 110, 500);
  ASSERT_EQ(kept.x.size(), 13U);
  EXPECT_EQ(kept.x.front(), 99);
  EXPECT_EQ(kept.x.back(), 111);
  EXPECT_EQ(kept.y[3], y[102]);
}

TEST(Decimation, LogColumnsKeepTheSparseStart) {
  const std::vector<double> y = noise(100'000);
  std::vector<double> x = counting(y.size());
  for (double& value : x) value += 1;
  const Polyline kept = decimate(x, y, 1, 100'000, 500, true);
  EXPECT_EQ(kept.x[0], 1);
  EXPECT_EQ(kept.x[1], 2);
  EXPECT_EQ(kept.x[2], 3);
}

Series series(std::vector<double> x, std::vector<double> y) {
  Series result;
  result.x = std::move(x);
  result.y = std::move(y);
  return result;
}

TEST(CurveTest, NaNsBreakAndAreCounted) {
  std::vector<double> y = noise(50);
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i % 5 != 0) y[i] = kNaN;
  }
  const Curve curve = make_curve(series(counting(50), y), {});
  EXPECT_EQ(curve.non_finite, 40);
  EXPECT_EQ(curve.bad_x.size(), 40U);
  ASSERT_EQ(curve.stretches.size(), 10U);
  for (const Stretch& stretch : curve.stretches) EXPECT_EQ(stretch.x.size(), 1U);
}

TEST(CurveTest, ARunOfNaNsBesideANormalOneLeavesItsRange) {
  const Curve bad = make_curve(series(counting(20), std::vector<double>(20, kNaN)), {});
  const Curve good = make_curve(series(counting(20), noise(20)), {});
  Range x;
  Range y;
  ASSERT_TRUE(x_extent({bad, good}, x));
  ASSERT_TRUE(y_extent({bad, good}, false, y));
  EXPECT_EQ(x, (Range{0, 19}));
  EXPECT_TRUE(std::isfinite(y.low) && std::isfinite(y.high));
  EXPECT_FALSE(x_extent({bad}, x));
}

TEST(CurveTest, OnlyTheSampleThatALogAxisCannotShowIsHidden) {
  const Series data = series(counting(6), {1, 0.5, 0, 0.1, -2, 0.05});
  const Curve curve = make_curve(data, {0, false, true});
  EXPECT_EQ(curve.hidden, 2);
  EXPECT_EQ(curve.non_finite, 0);
  ASSERT_EQ(curve.stretches.size(), 3U);
  EXPECT_EQ(make_curve(data, {}).hidden, 0);
  EXPECT_EQ(make_curve(data, {0, true, false}).hidden, 1);  // x = 0
}

TEST(CurveTest, AResumedRunIsANewSegmentAndNeverSorted) {
  const Series data = series({0, 50, 100, 150, 100, 150, 200}, {6, 5, 4, 3, 4.1, 3.1, 2.1});
  const Curve curve = make_curve(data, {});
  ASSERT_EQ(curve.stretches.size(), 2U);
  EXPECT_EQ(curve.stretches[0].y, (std::vector<double>{6, 5, 4, 3}));
  EXPECT_EQ(curve.stretches[1].y, (std::vector<double>{4.1, 3.1, 2.1}));
  EXPECT_EQ(curve.hidden + curve.non_finite, 0);
}

TEST(CurveTest, AGivenBreakStartsASegmentAndItsSmoothing) {
  Series data = series(counting(40), noise(40));
  for (std::size_t i = 20; i < 40; ++i) data.y[i] = 100;
  data.breaks = {20};
  const Curve curve = make_curve(data, {0.9, false, false});
  ASSERT_EQ(curve.stretches.size(), 2U);
  for (const double value : curve.stretches[1].y) EXPECT_EQ(value, 100);
  EXPECT_EQ(curve.stretches[1].raw.size(), 20U);
}

// A live run in uneven portions: with breaks, a step back, values that are not finite and some a log axis cannot show.
TEST(CurveTest, GrowingIsTheSameAsMakingItWhole) {
  Series whole = series(counting(900), noise(900));
  for (std::size_t i = 600; i < 900; ++i) whole.x[i] -= 100;
  for (const std::size_t i : {0UL, 17UL, 300UL, 301UL, 899UL}) whole.y[i] = kNaN;
  for (const std::size_t i : {50UL, 450UL}) whole.y[i] = -1;
  whole.breaks = {200, 201, 640};
  for (const CurveOptions& options : {CurveOptions{}, CurveOptions{0.9, false, false}, CurveOptions{0.6, true, true}}) {
    const Curve expected = make_curve(whole, options);
    Series part;
    part.breaks = whole.breaks;
    Curve grown;
    std::mt19937 random(11);
    while (part.x.size() < whole.x.size()) {
      for (std::size_t more = 1 + random() % 60; more > 0 && part.x.size() < whole.x.size(); --more) {
        part.x.push_back(whole.x[part.x.size()]);
        part.y.push_back(whole.y[part.y.size()]);
      }
      grow_curve(grown, part, options);
    }
    ASSERT_EQ(grown.stretches.size(), expected.stretches.size());
    EXPECT_GT(expected.stretches.size(), 5U);
    for (std::size_t i = 0; i < grown.stretches.size(); ++i) {
      EXPECT_EQ(grown.stretches[i].x, expected.stretches[i].x);
      EXPECT_EQ(grown.stretches[i].y, expected.stretches[i].y);
      EXPECT_EQ(grown.stretches[i].raw, expected.stretches[i].raw);
      EXPECT_EQ(grown.stretches[i].y_blocks.size(), grown.stretches[i].y.size() / BlockExtremes::kBlock);
    }
    EXPECT_EQ(grown.bad_x, expected.bad_x);
    EXPECT_EQ(grown.non_finite, 5);
    EXPECT_EQ(grown.hidden, expected.hidden);
    EXPECT_EQ(grown.low, expected.low);
    EXPECT_EQ(grown.high, expected.high);
  }
}

// The oracle is smooth() on each segment alone, and the extremes of what came out.
TEST(CurveTest, SegmentsAreSmoothedOnTheirOwnAndTheExtremesAreKnown) {
  Series data = series(counting(300), noise(300));
  data.breaks = {120};
  const Curve curve = make_curve(data, {0.8, false, false});
  ASSERT_EQ(curve.stretches.size(), 2U);
  const std::vector<double> first(data.y.begin(), data.y.begin() + 120);
  const std::vector<double> second(data.y.begin() + 120, data.y.end());
  EXPECT_EQ(curve.stretches[0].y, smooth(first, 0.8));
  EXPECT_EQ(curve.stretches[1].y, smooth(second, 0.8));
  EXPECT_EQ(curve.low, *std::min_element(data.y.begin(), data.y.end()));
  EXPECT_EQ(curve.high, *std::max_element(data.y.begin(), data.y.end()));
}

TEST(Ranges, ConstantsArePaddedTheSameEveryTime) {
  EXPECT_EQ(padded({5, 5}, false, 0.05), (Range{4.5, 5.5}));
  EXPECT_EQ(padded({0, 0}, false, 0.05), (Range{-1, 1}));
  EXPECT_EQ(padded({4, 4}, true, 0.05), (Range{2, 8}));
  const Range tiny = padded({1, 1 + 1e-15}, false, 0.05);
  EXPECT_GT(tiny.high - tiny.low, 0.1);
}

TEST(Ranges, OutliersCanBeLeftOut) {
  std::vector<double> y = noise(1000);
  y[500] = 1e9;
  const Curve curve = make_curve(series(counting(1000), y), {});
  Range all;
  Range most;
  ASSERT_TRUE(y_extent({curve}, false, all));
  ASSERT_TRUE(y_extent({curve}, true, most));
  EXPECT_EQ(all.high, 1e9);
  EXPECT_LT(most.high, 10);
}

TEST(Clipping, NothingIsOutsideAndWhatIsInsideStays) {
  Polyline line = {counting(500), noise(500)};
  for (double& value : line.y) value = std::abs(value) + 0.01;
  for (const bool log : {false, true}) {
    const Range x = {50.5, 300.25};
    const Range y = {2.5, 3.5};
    const Polyline inside = clip(line, x, y, false, log);
    ASSERT_GT(inside.x.size(), 100U);
    for (std::size_t i = 0; i < inside.x.size(); ++i) {
      if (std::isnan(inside.x[i])) continue;
      EXPECT_TRUE(x.contains(inside.x[i]) && y.contains(inside.y[i]));
    }
    for (std::size_t i = 51; i <= 300; ++i) {
      if (!y.contains(line.y[i])) continue;
      EXPECT_NE(std::find(inside.x.begin(), inside.x.end(), line.x[i]), inside.x.end()) << i;
    }
  }
}

TEST(Clipping, ALineThatOnlyCrossesIsCutAtBothEdges) {
  const Polyline cut = clip({{0, 10}, {0, 10}}, {2, 8}, {0, 5}, false, false);
  ASSERT_EQ(cut.x.size(), 2U);
  EXPECT_DOUBLE_EQ(cut.x[0], 2);
  EXPECT_DOUBLE_EQ(cut.y[1], 5);
}

TEST(TicksTest, AreRoundInsideAndFew) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> exponent(-8, 8);
  for (int i = 0; i < 200; ++i) {
    const double low = std::pow(10, exponent(random));
    const Range range = {low, low * (1 + std::pow(10, exponent(random) / 2))};
    for (const bool log : {false, true}) {
      const Ticks ticks = make_ticks(range, log, 5);
      ASSERT_EQ(ticks.at.size(), ticks.text.size());
      EXPECT_LE(ticks.at.size(), 13U) << range.low << " " << range.high << " " << log;
      for (const double at : ticks.at) EXPECT_TRUE(at >= range.low * (1 - 1e-9) && at <= range.high * (1 + 1e-9));
    }
  }
}

TEST(TicksTest, TakeOutCommonPowersAndUseThePoint) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  const Ticks rate = make_ticks({0, 2e-3}, false, 4);
  EXPECT_EQ(rate.exponent, -3);
  EXPECT_EQ(rate.text.back(), "2.0");
  EXPECT_EQ(power_of_ten(-3), QString::fromUtf8("×10⁻³"));
  EXPECT_EQ(make_ticks({0, 1}, false, 5).text[1], "0.2");
  EXPECT_EQ(make_ticks({1e-6, 1e3}, true, 5).text[0], QString::fromUtf8("10⁻⁶"));
  QLocale::setDefault(before);
}

TEST(Numbers, AreExactOrShortAndLocaleFree) {
  const QLocale before;
  QLocale::setDefault(QLocale(QLocale::German));
  for (const double value : noise(100)) EXPECT_EQ(exact_number(value).toDouble(), value);
  EXPECT_EQ(exact_number(0.1), "0.1");
  EXPECT_EQ(exact_number(-kInfinity), "-Infinity");
  EXPECT_EQ(short_number(0.30123), "0.301");
  EXPECT_EQ(count_text(31400), "31,400");
  EXPECT_EQ(count_text(3'020'000), "3.02 M");
  EXPECT_EQ(duration_text(72), "1 min 12 s");
  EXPECT_EQ(duration_text(0.84), "0.8 s");
  EXPECT_EQ(bytes_text(218LL << 20), "218 MiB");
  QLocale::setDefault(before);
}

}  // namespace
