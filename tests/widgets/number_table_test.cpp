// The table of numbers: what it draws, its figure, and its rows for files.
#include "widgets/number_table.h"

#include <gtest/gtest.h>

#include <QImage>

namespace {

using widgets::NumberTable;

void fill(NumberTable& table) {
  widgets::SeriesStyle soft;
  soft.role = widgets::Role::soft;
  table.set_title("Answers");
  table.set_data({{"Standard", {}}, {"Soft", soft}}, {{"right (%)", {{"98.0", "98.046875"}, {"97.3", {}}}, "hint"}});
}

int pixels(const QImage& image, const QColor& color) {
  int count = 0;
  for (int y = 0; y < image.height(); ++y) {
    for (int x = 0; x < image.width(); ++x) count += image.pixelColor(x, y) == color ? 1 : 0;
  }
  return count;
}

TEST(NumberTable, DrawsInBothThemes) {
  for (const widgets::Theme* theme : {&widgets::light_theme(), &widgets::dark_theme()}) {
    NumberTable table;
    table.setPalette(widgets::to_palette(*theme));
    table.resize(300, 160);
    const int empty = pixels(table.grab().toImage(), theme->soft);
    fill(table);
    EXPECT_GE(pixels(table.grab().toImage(), theme->soft), empty + 60) << "the square of the column's colour";
  }
}

TEST(NumberTable, FilesHaveAllDigits) {
  NumberTable table;
  fill(table);
  const widgets::FigureTable file = table.figure_table();
  EXPECT_EQ(file.columns, (std::vector<QString>{"row", "Standard", "Soft"}));
  ASSERT_EQ(file.rows.size(), 1U);
  EXPECT_EQ(file.rows[0], (std::vector<QString>{"right (%)", "98.046875", "97.3"}));
  EXPECT_FALSE(widgets::render_figure(table, {}).isEmpty());
  EXPECT_TRUE(table.accessibleDescription().contains("right (%): Standard 98.0, Soft 97.3"));
}

}  // namespace
