#include "widgets/plot.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <cmath>
#include <limits>
#include <random>

#include "cpu_timer.h"
#include "pictures.h"
#include "widgets/card.h"

namespace {

using widgets::Plot;
using widgets::Range;
using widgets::Role;
using widgets::Series;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Series pass_loss(int pass, int from, int to, unsigned seed = 1) {
  std::mt19937 random(seed + static_cast<unsigned>(pass));
  std::normal_distribution<double> noise(0, 0.05);
  Series series;
  series.label = "pass " + std::to_string(pass);
  series.style.role = Role::pass;
  series.style.pass = pass;
  for (int step = from; step < to; ++step) {
    series.x.push_back(step);
    series.y.push_back((0.16 + 1.3 * std::exp(-(step - from) / 90.0)) * std::exp(noise(random)));
  }
  return series;
}

Series line(std::vector<double> x, std::vector<double> y, const char* label = "") {
  Series series;
  series.label = label;
  series.x = std::move(x);
  series.y = std::move(y);
  return series;
}

bool bluish(const QColor& color) { return color.blue() - color.red() > 60; }

class PlotTest : public ::testing::Test {
 protected:
  PlotTest() {
    plot.set_title("Training loss by pass");
    plot.set_axes("step", "loss (nats)");
    plot.set_empty_text("no data yet: start a training");
    plot.resize(760, 300);
  }
  // Curves in the plot's own colour, where the axis rectangle is.
  int curve_pixels(const QColor& color) { return pictures::pixels_of(pictures::render(plot), color); }
  void show() {
    plot.show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(&plot));
    plot.clearFocus();  // the focus ring has the accent colour too
    plot.render_now();
  }
  void wheel(const QPoint& at, int steps) {
    QWheelEvent event(at, plot.mapToGlobal(at), QPoint(), QPoint(0, 120 * steps), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&plot, &event);
  }

  Plot plot;
  const QColor accent = widgets::light_theme().accent;
};

TEST_F(PlotTest, LooksRightInBothThemesAndScales) {
  for (const widgets::Theme* theme : {&widgets::light_theme(), &widgets::dark_theme()}) {
    const pictures::UseTheme use(*theme);
    widgets::Card card;
    auto* inside = new Plot(&card);
    card.body()->addWidget(inside);
    card.resize(806, 326);
    inside->set_title("Training loss by pass");
    inside->set_axes("step", "loss (nats)");
    inside->set_series({pass_loss(1, 0, 900), pass_loss(2, 140, 900), pass_loss(3, 540, 900)});
    widgets::PlotView view;
    view.log_y = true;
    view.smoothing = 0.6;
    inside->set_view(view);
    card.show();
    inside->render_now();
    inside->set_crosshair(600);
    const std::string name = theme->dark ? "plot-dark" : "plot-light";
    const QImage image = pictures::keep(card, name);
    EXPECT_GT(pictures::pixels_of(image, theme->pass2), 100) << name;
    EXPECT_GT(pictures::pixels_of(image, theme->pass3), 60) << name;
    EXPECT_EQ(image.pixelColor(10, 10), theme->card) << name;
  }
}

TEST_F(PlotTest, NaNsBreakTheCurveAndAreMarkedAndCounted) {
  std::vector<double> x, y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(i);
    y.push_back(i % 5 == 0 ? 1.0 + 0.01 * i : kNaN);
  }
  plot.set_series({line(x, y)});
  show();
  EXPECT_EQ(plot.counts().non_finite, 80);
  EXPECT_GT(curve_pixels(accent), 60);  // lone points are dots, bad ones crosses
  const int warned = curve_pixels(widgets::light_theme().warning);
  EXPECT_GT(warned, 10);
  plot.set_series({line(x, std::vector<double>(100, 1.0))});
  plot.render_now();
  EXPECT_EQ(plot.counts().non_finite, 0);
  EXPECT_LT(curve_pixels(widgets::light_theme().warning), warned);
}

TEST_F(PlotTest, OneInfinityLeavesTheRangesFinite) {
  plot.set_series({line({0, 1, 2, 3}, {1, kInfinity, 2, 3})});
  show();
  EXPECT_TRUE(std::isfinite(plot.y_range().high));
  EXPECT_LT(plot.y_range().high, 4);
  EXPECT_EQ(plot.counts().non_finite, 1);
}

TEST_F(PlotTest, AnAllNaNRunBesideANormalOne) {
  plot.set_series({line({0, 1, 2}, {kNaN, kNaN, kNaN}, "bad"), line({0, 1, 2}, {1, 2, 3}, "good")});
  show();
  EXPECT_EQ(plot.x_range(), (Range{0, 2}));
  EXPECT_GT(curve_pixels(accent), 200);
}

TEST_F(PlotTest, ALonePointIsDrawn) {
  show();
  const int before = curve_pixels(accent);
  plot.set_series({line({5}, {2})});
  plot.render_now();
  EXPECT_GE(curve_pixels(accent), before + 6);
  EXPECT_LT(plot.x_range().low, 5);
  EXPECT_GT(plot.x_range().high, 5);
}

TEST_F(PlotTest, ALogAxisHidesOnlyTheZero) {
  plot.set_series({line({0, 1, 2, 3, 4, 5}, {1, 0.5, 0, 0.2, 0.1, 0.05})});
  widgets::PlotView view;
  view.log_y = true;
  plot.set_view(view);
  show();
  EXPECT_EQ(plot.counts().hidden_by_log, 1);
  EXPECT_GT(plot.y_range().low, 0.01);  // nothing is drawn down to an edge at zero
  EXPECT_GT(curve_pixels(accent), 150);
}

TEST_F(PlotTest, AllZerosOnALogAxisSayWhyNothingIsThere) {
  plot.set_series({line({1, 2}, {0, 0})});
  plot.set_view({true, true, 0, false});
  show();
  EXPECT_EQ(plot.counts().hidden_by_log, 2);
  EXPECT_GT(plot.y_range().low, 0);
}

TEST_F(PlotTest, ConstantDataHasTheSameRangeWhateverCameBefore) {
  plot.set_series({line({0, 1}, {100, 900})});
  show();
  plot.set_series({line({0, 1, 2}, {5, 5, 5})});
  plot.render_now();
  EXPECT_EQ(plot.y_range(), (Range{4.5, 5.5}));
}

// Sorted silently, the curve would zig-zag between the two values at steps 100 to 150.
TEST_F(PlotTest, AResumedRunDoesNotZigZag) {
  std::vector<double> x, y;
  for (int i = 0; i <= 150; ++i) x.push_back(i), y.push_back(1.0 + 0.002 * i);
  for (int i = 100; i <= 200; ++i) x.push_back(i), y.push_back(2.0 + 0.002 * i);
  plot.set_series({line(x, y)});
  plot.set_axes("step", "loss");
  show();
  const QImage image = pictures::render(plot);
  int verticals = 0;
  int blue = 0;
  for (int column = image.width() / 2; column < image.width() * 3 / 4; ++column) {
    int dark = 0;
    for (int row = 60; row < image.height() - 60; ++row) dark += bluish(image.pixelColor(column, row)) ? 1 : 0;
    verticals += dark > 20 ? 1 : 0;
    blue += dark;
  }
  EXPECT_EQ(verticals, 0);
  EXPECT_GT(blue, 300);
}

TEST_F(PlotTest, ASpikeIn200000PointsIsSeen) {
  Series data = line({}, {});
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.01);
  for (int i = 0; i < 200'000; ++i) data.x.push_back(i), data.y.push_back(noise(random));
  data.y[123'457] = 50;
  plot.set_series({data});
  show();
  const QImage image = pictures::render(plot);
  int seen = 0;
  for (int row = 40; row < 120; ++row) {
    for (int column = 60; column < image.width(); ++column) seen += bluish(image.pixelColor(column, row)) ? 1 : 0;
  }
  EXPECT_GT(seen, 15);
}

TEST_F(PlotTest, UpdatesInARowMakeOnePicture) {
  plot.set_series({line({0}, {1}), line({0}, {2})});
  show();
  const std::int64_t before = plot.replots();
  for (int i = 1; i < 2000; ++i) plot.append(static_cast<std::size_t>(i % 2), {double(i)}, {1.0 / i});
  EXPECT_EQ(plot.replots(), before);
  QTest::qWait(120);
  EXPECT_LE(plot.replots(), before + 2);
  EXPECT_EQ(plot.series()[0].x.size() + plot.series()[1].x.size(), 2001U);
  EXPECT_EQ(plot.x_range().high, 1999);
}

TEST_F(PlotTest, ALiveCurveOfTwentyRunsIsFast) {
  std::vector<Series> runs;
  std::mt19937 random(3);
  std::normal_distribution<double> noise(1, 0.3);
  for (int run = 0; run < 20; ++run) {
    Series data = line({}, {}, "run");
    data.label += std::to_string(run);
    data.style.role = Role::run;
    data.style.run = run;
    for (int i = 0; i < 5000; ++i) data.x.push_back(i), data.y.push_back(noise(random));
    runs.push_back(data);
  }
  plot.set_series(runs);
  show();
  CpuTimer timer;
  for (int i = 0; i < 3; ++i) {
    plot.append(0, {5000.0 + i}, {1.0});
    plot.render_now();
  }
  RecordProperty("milliseconds_a_picture", static_cast<int>(timer.elapsed() / 3));
  EXPECT_LT(timer.elapsed() / 3, 400) << "a wide pen on noise takes a second";
}

TEST_F(PlotTest, AZoomFreezesFollowingUntilFollow) {
  plot.set_series({pass_loss(1, 0, 300)});
  show();
  QSignalSpy following(&plot, &Plot::following_changed);
  wheel({380, 150}, 3);
  EXPECT_FALSE(plot.following());
  EXPECT_EQ(following.count(), 1);
  const Range zoomed = plot.x_range();
  EXPECT_LT(zoomed.high - zoomed.low, 200);
  for (int i = 0; i < 20; ++i) {
    plot.append(0, {300.0 + i}, {0.2});
    plot.render_now();
    EXPECT_EQ(plot.x_range(), zoomed);
  }
  QTest::keyClick(&plot, Qt::Key_F);
  EXPECT_TRUE(plot.following());
  EXPECT_EQ(plot.x_range().high, 319);
}

TEST_F(PlotTest, DraggingMovesAndDoubleClickFollows) {
  plot.set_series({pass_loss(1, 0, 300)});
  show();
  const Range before = plot.x_range();
  QTest::mousePress(&plot, Qt::LeftButton, {}, {400, 150});
  QTest::mouseMove(&plot, {300, 150});
  QTest::mouseRelease(&plot, Qt::LeftButton, {}, {300, 150});
  EXPECT_GT(plot.x_range().low, before.low + 10);
  EXPECT_NEAR(plot.x_range().high - plot.x_range().low, before.high - before.low, 1e-6);
  QTest::mouseDClick(&plot, Qt::LeftButton, {}, {400, 150});
  EXPECT_EQ(plot.x_range(), before);
}

TEST_F(PlotTest, ShiftDragZoomsIntoTheBox) {
  plot.set_series({pass_loss(1, 0, 300)});
  show();
  const Range before = plot.x_range();
  QTest::mousePress(&plot, Qt::LeftButton, Qt::ShiftModifier, {300, 80});
  QTest::mouseMove(&plot, {420, 200});
  QTest::mouseRelease(&plot, Qt::LeftButton, Qt::ShiftModifier, {420, 200});
  EXPECT_FALSE(plot.following());
  EXPECT_NEAR((plot.x_range().high - plot.x_range().low) / (before.high - before.low), 120.0 / 690, 0.02);
}

TEST_F(PlotTest, KeysMoveTheCrosshairZoomAndHide) {
  plot.set_series({pass_loss(1, 0, 300), pass_loss(2, 100, 300)});
  show();
  QTest::keyClick(&plot, Qt::Key_Right);
  QTest::keyClick(&plot, Qt::Key_Right);
  ASSERT_TRUE(plot.crosshair());
  EXPECT_EQ(*plot.crosshair(), 1);
  QTest::keyClick(&plot, Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(*plot.crosshair(), 11);
  QTest::keyClick(&plot, Qt::Key_Plus);
  EXPECT_FALSE(plot.following());
  QTest::keyClick(&plot, Qt::Key_Escape);
  EXPECT_FALSE(plot.crosshair());
  QTest::keyClick(&plot, Qt::Key_1);
  EXPECT_FALSE(plot.series_visible(0));
  EXPECT_TRUE(plot.series_visible(1));
}

TEST_F(PlotTest, TheCrosshairAloneIsRedrawn) {
  plot.set_series({pass_loss(1, 0, 300)});
  show();
  const QImage before = pictures::render(plot);
  const std::int64_t replots = plot.replots();
  plot.set_crosshair(150);
  EXPECT_EQ(plot.replots(), replots);
  EXPECT_NE(pictures::render(plot), before);
  plot.set_crosshair(std::nullopt);
  EXPECT_EQ(pictures::render(plot), before);
}

TEST_F(PlotTest, HiddenSeriesStayHiddenWhenDataComesAgain) {
  plot.set_series({pass_loss(1, 0, 300), pass_loss(2, 100, 300)});
  show();
  plot.set_series_visible(1, false);
  plot.set_series({pass_loss(1, 0, 301), pass_loss(2, 100, 301)});
  EXPECT_FALSE(plot.series_visible(1));
  plot.set_series_visible(0, false);
  plot.render_now();
  EXPECT_LT(curve_pixels(widgets::light_theme().pass2), 20);
}

TEST_F(PlotTest, TicksUseThePointUnderAGermanLocale) {
  const QLocale before;
  plot.set_series({line({0, 1}, {0.1, 0.9})});
  show();
  const QImage english = pictures::render(plot);
  QLocale::setDefault(QLocale(QLocale::German));
  Plot german;
  german.resize(plot.size());
  german.set_title("Training loss by pass");
  german.set_axes("step", "loss (nats)");
  german.set_series({line({0, 1}, {0.1, 0.9})});
  german.show();
  german.clearFocus();
  german.render_now();
  const QImage other = pictures::render(german);
  QLocale::setDefault(before);
  EXPECT_EQ(english, other);
}

TEST_F(PlotTest, FollowsALiveThemeSwitch) {
  plot.set_series({pass_loss(2, 0, 300)});
  show();
  EXPECT_EQ(pictures::render(plot).pixelColor(4, 290), widgets::light_theme().card);
  const pictures::UseTheme use(widgets::dark_theme());
  QTest::qWait(80);
  EXPECT_EQ(pictures::render(plot).pixelColor(4, 290), widgets::dark_theme().card);
  EXPECT_GT(curve_pixels(widgets::dark_theme().pass2), 80);
}

TEST_F(PlotTest, SwitchingToALogAxisAfterAZoomShowsTheData) {
  plot.set_series({line({0, 10, 100, 1000}, {0, 1, 2, 3})});
  show();
  plot.zoom_to({-50, 200}, {-1, 4});
  plot.set_view({true, true, 0, false});
  plot.render_now();
  EXPECT_TRUE(plot.following());
  EXPECT_GT(plot.x_range().low, 0);
  EXPECT_GT(curve_pixels(accent), 100);
}

TEST_F(PlotTest, SmoothingLeavesTheRawLineFaintBehind) {
  plot.set_series({pass_loss(2, 0, 600)});
  show();
  const widgets::Theme& theme = widgets::light_theme();
  const QColor faint = widgets::mix(theme.card, theme.pass2, 0.3);
  const int before = pictures::pixels_of(pictures::render(plot), faint, 20);
  plot.set_view({false, false, 0.95, false});
  plot.render_now();
  EXPECT_GT(pictures::pixels_of(pictures::render(plot), faint, 20), before + 200);
}

TEST_F(PlotTest, DotsThatWouldCoverEachOtherGiveWayToTheLineUntilOneZoomsIn) {
  Series data = pass_loss(2, 0, 2000);
  data.style.markers = true;
  plot.set_series({data});
  show();
  const QColor color = widgets::light_theme().pass2;
  const int dense = curve_pixels(color);
  plot.zoom_x_to({1000, 1100});
  plot.render_now();
  const int zoomed = curve_pixels(color);
  data.style.markers = false;
  plot.set_series({data});
  plot.render_now();
  EXPECT_GT(zoomed, curve_pixels(color) + 1000) << "a hundred points have room for their dots";
  plot.follow();
  plot.render_now();
  EXPECT_NEAR(dense, curve_pixels(color), 0.1 * dense);
}

TEST_F(PlotTest, TheRawLineOfOneRunDoesNotHideTheSmoothedOneOfAnother) {
  Series below = pass_loss(2, 200, 3000);
  plot.set_view({false, false, 0.99, false});
  plot.set_series({below});
  show();
  const QColor color = widgets::light_theme().pass2;
  const int alone = curve_pixels(color);
  plot.set_series({below, pass_loss(3, 200, 3000, 5)});
  plot.render_now();
  EXPECT_GT(curve_pixels(color), alone / 4) << "the later smoothed line may cross it, the later raw one not cover it";
}

TEST_F(PlotTest, RegionsLinesBandsAndCursorAreDrawn) {
  Series data = line({0, 1, 2, 3}, {1, 2, 1.5, 2.5}, "mean");
  data.low = {0.5, 1.5, 1.0, 2.0};
  data.high = {1.5, 2.5, 2.0, 3.0};
  data.spread = widgets::Spread::band;
  data.style.markers = true;
  plot.set_series({data});
  plot.set_regions({{0, 1, "exact"}});
  plot.set_reference_lines({{2.0, "chance"}});
  plot.set_cursor_line(2.0);
  show();
  const QImage image = pictures::keep(plot, "plot-spread");
  EXPECT_GT(pictures::pixels_of(image, widgets::light_theme().tint, 3), 10000);
  EXPECT_GT(pictures::pixels_of(image, widgets::light_theme().text, 10), 150);
  EXPECT_GT(plot.y_range().high, 3.0);  // the spread belongs to the range
}

TEST_F(PlotTest, AnEmptyPlotSaysWhatToDo) {
  show();
  EXPECT_GT(pictures::pixels_of(pictures::keep(plot, "plot-empty"), widgets::light_theme().secondary, 60), 100);
}

TEST(PlotLinkTest, ZoomCrosshairAndFollowGoToAll) {
  Plot first;
  auto second = std::make_unique<Plot>();
  widgets::PlotLink link;
  link.add(&first);
  link.add(second.get());
  for (Plot* plot : {&first, second.get()}) {
    plot->resize(400, 240);
    plot->set_series({pass_loss(1, 0, 300)});
    plot->show();
    plot->render_now();
  }
  first.zoom_x_to({100, 200});
  EXPECT_EQ(second->x_range(), (Range{100, 200}));
  EXPECT_FALSE(second->following());
  QTest::keyClick(second.get(), Qt::Key_Right);
  ASSERT_TRUE(second->crosshair());
  EXPECT_EQ(first.crosshair(), second->crosshair());
  second->follow();
  EXPECT_TRUE(first.following());
  second.reset();
  first.zoom_x_to({10, 20});
  EXPECT_EQ(first.x_range(), (Range{10, 20}));
}

TEST_F(PlotTest, TheGridDoesNotCutErrorBars) {
  Series bars = line({1, 2, 3}, {0, 0, 0});
  bars.low = {-5, -5, -5};
  bars.high = {5, 5, 5};
  bars.spread = widgets::Spread::bars;
  plot.set_series({bars});
  show();
  const QImage image = pictures::render(plot);
  int longest = 0;
  int gaps = 0;
  for (int column = 0; column < image.width(); ++column) {
    std::vector<int> rows;
    for (int row = 60; row < image.height() - 40; ++row) {
      if (bluish(image.pixelColor(column, row))) rows.push_back(row);
    }
    if (static_cast<int>(rows.size()) <= longest) continue;
    longest = static_cast<int>(rows.size());
    gaps = rows.back() - rows.front() + 1 - longest;
  }
  EXPECT_GT(longest, 100);
  EXPECT_EQ(gaps, 0) << "grid lines over the bar";
}

}  // namespace
