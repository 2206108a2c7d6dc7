#include "widgets/plot.h"

#include <gtest/gtest.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>
#include <cmath>
#include <limits>
#include <random>

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

[[maybe_unused]] Series line(std::vector<double> x, std::vector<double> y, const char* label = "") {
  Series series;
  series.label = label;
  series.x = std::move(x);
  series.y = std::move(y);
  return series;
}

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

}  // namespace
