// The dot chart: what it draws, what it leaves out, and its table.
#include "widgets/dot_chart.h"

#include <gtest/gtest.h>

#include <QImage>
#include <cmath>

namespace {

using widgets::DotChart;

int pixels(const QImage& image, const QColor& color) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color ? 1 : 0;
  }
  return count;
}

QImage drawn(DotChart& chart, const widgets::Theme& theme) {
  chart.setPalette(widgets::to_palette(theme));
  chart.resize(400, 200);
  return chart.grab().toImage();
}

TEST(DotChart, DrawsWhatWasMeasuredAndNothingElse) {
  for (const widgets::Theme* theme : {&widgets::light_theme(), &widgets::dark_theme()}) {
    DotChart chart;
    chart.set_limits({{0, 100}});
    chart.set_data({"first"}, {{"row", {{50, 3}}}});
    const int with_dot = pixels(drawn(chart, *theme), theme->standard);
    chart.set_data({"first"}, {{"row", {{std::nan(""), 3}}}});
    const int without = pixels(drawn(chart, *theme), theme->standard);
    EXPECT_GT(with_dot, without + 20) << "the legend's symbol alone stays";
  }
}

TEST(DotChart, ErrorBarsAreAsLongAsTheErrors) {
  DotChart chart;
  chart.set_limits({{0, 100}});
  chart.set_data({"first"}, {{"row", {{50, 2}}}});
  const int narrow = pixels(drawn(chart, widgets::light_theme()), widgets::light_theme().standard);
  chart.set_data({"first"}, {{"row", {{50, 40}}}});
  const int wide = pixels(drawn(chart, widgets::light_theme()), widgets::light_theme().standard);
  EXPECT_GT(wide, narrow + 50);
}

TEST(DotChart, TheTableHasEveryNumber) {
  DotChart chart;
  chart.set_title("costs");
  chart.set_data({"all", "answers"}, {{"shuffled", {{0.125, 0.5}, {2, std::nan("")}}}});
  EXPECT_EQ(chart.figure_title(), "costs");
  const widgets::FigureTable table = chart.figure_table();
  const std::vector<QString> columns = {"row", "all", "all standard error", "answers", "answers standard error"};
  EXPECT_EQ(table.columns, columns);
  const std::vector<QString> row = {"shuffled", "0.125", "0.5", "2", "NaN"};
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0], row);
  EXPECT_TRUE(chart.accessibleDescription().contains("shuffled: all 0.125 ± 0.5")) << "also for those who cannot see";
}

TEST(DotChart, EqualValuesDoNotHideEachOther) {
  DotChart chart;
  chart.set_limits({{0, 100}});
  chart.set_data({"first", "second"}, {{"row", {{50, 0}, {50, 0}}}});
  const QImage image = drawn(chart, widgets::light_theme());
  EXPECT_GT(pixels(image, widgets::light_theme().standard), 50);
  EXPECT_GT(pixels(image, widgets::light_theme().soft), 50);
}

}  // namespace
