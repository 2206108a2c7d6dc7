// Ticks that can be read: enough of them, and never so close that their texts touch.
#include "widgets/ticks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using widgets::make_ticks;
using widgets::Range;
using widgets::Ticks;

/// Smallest distance of neighbours as a share of the axis.
double closest(const Ticks& ticks, const Range& range) {
  double least = 1;
  for (std::size_t i = 1; i < ticks.at.size(); ++i) {
    least = std::min(least, std::log(ticks.at[i] / ticks.at[i - 1]) / std::log(range.high / range.low));
  }
  return least;
}

/// A gradient norm on a low plot of the Training page: 30 pixels for two ticks, of which a text needs 15.
TEST(TicksTest, LogTicksLeaveRoomForTheirTexts) {
  for (int wanted = 2; wanted <= 8; ++wanted) {
    for (double low = 0.011; low < 1; low *= 1.37) {
      for (double decades = 0.36; decades < 4; decades += 0.07) {
        const Range range{low, low * std::pow(10.0, decades)};
        const Ticks ticks = make_ticks(range, true, wanted);
        EXPECT_GE(closest(ticks, range) * wanted, 0.5499) << low << " to " << range.high << ", " << wanted;
        EXPECT_GE(ticks.at.size(), 1U) << low << " to " << range.high << ", " << wanted;
        EXPECT_EQ(ticks.text.size(), ticks.at.size());
      }
    }
  }
}

TEST(TicksTest, ATallLogAxisKeepsItsFineTicks) {
  const Ticks ticks = make_ticks({0.35, 9}, true, 8);
  EXPECT_EQ(ticks.at, (std::vector<double>{0.4, 0.8, 1.6, 3.2, 6.4}));
  EXPECT_EQ(make_ticks({0.35, 9}, true, 2).at, (std::vector<double>{1, 3}));
}

TEST(TicksTest, ALowLinearAxisHasTwoTicksAtLeast) {
  EXPECT_EQ(make_ticks({18'000, 82'000}, false, 2).at, (std::vector<double>{25'000, 50'000, 75'000}));
  EXPECT_EQ(make_ticks({0.18, 0.82}, false, 2).text, (std::vector<QString>{"0.25", "0.50", "0.75"}));
  EXPECT_EQ(make_ticks({0, 4}, false, 2).text, (std::vector<QString>{"0", "2", "4"}));
  for (double high = 1.05; high < 30; high *= 1.01) EXPECT_GE(make_ticks({1, high}, false, 2).at.size(), 2U) << high;
}

}  // namespace
