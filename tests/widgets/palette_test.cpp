#include "widgets/palette.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QLabel>
#include <set>

#include "pictures.h"
#include "widgets/style.h"

namespace {

using namespace widgets;

class PaletteTest : public ::testing::TestWithParam<const Theme*> {};

TEST_P(PaletteTest, TextIsReadableOnEveryGround) {
  for (const auto& [text, ground] : text_on_ground(*GetParam())) {
    EXPECT_GE(contrast(text, ground), 4.495) << text.name().toStdString() << " on " << ground.name().toStdString();
  }
}

TEST_P(PaletteTest, RunColorsAreReadableAndApart) {
  const Theme& theme = *GetParam();
  std::set<QString> names;
  for (const QColor& color : theme.runs) {
    EXPECT_GE(contrast(color, theme.card), 4.45) << color.name().toStdString();
    names.insert(color.name());
  }
  EXPECT_EQ(names.size(), theme.runs.size());
}

TEST_P(PaletteTest, ThePaletteTellsItsTheme) { EXPECT_EQ(theme_of(to_palette(*GetParam())).dark, GetParam()->dark); }

TEST_P(PaletteTest, PassesDifferInFormAsWellAsColor) {
  const Theme& theme = *GetParam();
  EXPECT_EQ(pass_pen(theme, 1).style(), Qt::SolidLine);
  EXPECT_EQ(pass_pen(theme, 1).color(), theme.standard);
  EXPECT_EQ(pass_pen(theme, 2).color(), theme.soft);
  EXPECT_NE(pass_pen(theme, 2).dashPattern(), pass_pen(theme, 3).dashPattern());
  EXPECT_LT(pass_pen(theme, 5).widthF(), pass_pen(theme, 3).widthF());
}

TEST_P(PaletteTest, DashesComeWhenTheColorsWrap) {
  const Theme& theme = *GetParam();
  const int wrap = static_cast<int>(theme.runs.size());
  SeriesStyle style;
  style.role = Role::run;
  style.run = 2;
  const QPen first = series_pen(theme, style);
  style.run = 2 + wrap;
  const QPen second = series_pen(theme, style);
  EXPECT_EQ(first.color(), second.color());
  EXPECT_EQ(first.style(), Qt::SolidLine);
  EXPECT_NE(second.style(), Qt::SolidLine);
}

TEST_P(PaletteTest, SequentialGetsStrongerWithoutTurning) {
  const Theme& theme = *GetParam();
  double last = contrast(sequential_color(theme, 0), theme.card);
  for (int i = 1; i <= 10; ++i) {
    const double now = contrast(sequential_color(theme, i / 10.0), theme.card);
    EXPECT_GT(now, last) << i;
    last = now;
  }
}

TEST_P(PaletteTest, EveryNameInTheSheetIsReplaced) {
  EXPECT_FALSE(style_sheet(*GetParam()).contains(QLatin1Char('%')));
}

INSTANTIATE_TEST_SUITE_P(Themes, PaletteTest, ::testing::Values(&light_theme(), &dark_theme()),
                         [](const auto& theme) { return std::string(theme.param->dark ? "dark" : "light"); });

TEST(Style, AnOpenWindowChangesWithTheTheme) {
  QLabel label("Fullband");
  label.show();
  ASSERT_FALSE(theme_of(label.palette()).dark);
  {
    const pictures::UseTheme use(dark_theme());
    QApplication::processEvents();
    EXPECT_TRUE(theme_of(label.palette()).dark);
    EXPECT_EQ(label.palette().color(QPalette::WindowText), dark_theme().text);
  }
  EXPECT_FALSE(theme_of(label.palette()).dark);
}

TEST(Style, AForcedThemeBeatsTheSystem) {
  ThemeController themes(*qApp);
  for (const bool dark : {true, false}) {
    themes.set_choice(dark ? ThemeChoice::dark : ThemeChoice::light);
    EXPECT_EQ(themes.theme().dark, dark);
    EXPECT_EQ(theme_of(QApplication::palette()).dark, dark);
  }
}

}  // namespace
