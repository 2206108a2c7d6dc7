// Charts of a run that grows: what is appended piece by piece is what the whole run would give.
#include "app/training_charts.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/app/run_folders.h"
#include "widgets/plot.h"

namespace {

using app::ChartInput;
using app::RunData;
using app::TrainingCharts;
using app::XAxis;

void expect_same(const std::vector<widgets::Series>& shown, const std::vector<widgets::Series>& wanted) {
  ASSERT_EQ(shown.size(), wanted.size());
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(shown[i].label, wanted[i].label);
    EXPECT_EQ(shown[i].style, wanted[i].style);
    EXPECT_EQ(shown[i].x, wanted[i].x) << wanted[i].label;
    EXPECT_EQ(shown[i].y, wanted[i].y) << wanted[i].label;
    EXPECT_EQ(shown[i].low, wanted[i].low);
  }
}

class TrainingChartsTest : public ::testing::Test {
 protected:
  TrainingChartsTest() {
    live->name = "live";
    live->total_steps = 1000;
    other->name = "other";
    other->total_steps = 1000;
    for (int step = 1; step <= 30; ++step) other->steps.push_back(app_tests::metrics_at(step, 2));
  }
  void grow(int steps, int passes) {
    for (int i = 0; i < steps; ++i) {
      auto metrics = app_tests::metrics_at(live->step() + 1, passes);
      metrics.gradient_norm = noise(random);
      metrics.tokens_per_second = 100 * noise(random);
      metrics.pass_loss[0] = noise(random);
      live->steps.push_back(metrics);
    }
  }
  void validate(int passes) {
    engine::ValidationMetrics metrics;
    metrics.step = live->step();
    for (int pass = 0; pass < passes; ++pass) metrics.pass_loss.push_back(noise(random));
    metrics.pass_error.assign(metrics.pass_loss.size(), 0.1);
    live->validations.push_back(metrics);
  }
  void expect_whole(XAxis x = XAxis::step) {
    charts.update_now();
    const ChartInput input{{live.get(), other.get()}, {0, 1}, x};
    const auto& plots = charts.plots();
    expect_same(plots[0]->series(), app::loss_series(input));
    expect_same(plots[1]->series(), app::validation_series(input));
    expect_same(plots[2]->series(), app::rate_series(input));
    expect_same(plots[3]->series(), app::gradient_series(input));
    expect_same(plots[4]->series(), app::speed_series(input));
  }

  std::mt19937 random{5};
  std::normal_distribution<double> noise{3, 1};
  std::shared_ptr<RunData> live = std::make_shared<RunData>();
  std::shared_ptr<RunData> other = std::make_shared<RunData>();
  TrainingCharts charts;
};

TEST_F(TrainingChartsTest, AGrowingRunIsShownAsIfItWereGivenWhole) {
  charts.set_runs({{live, 0}, {other, 1}});
  expect_whole();
  for (const int passes : {1, 1, 2, 1, 3}) {
    grow(7, passes);
    expect_whole();
    validate(passes);
    expect_whole();
  }
}

TEST_F(TrainingChartsTest, NewPointsAloneAreAddedWhileNothingElseChanges) {
  grow(20, 1);
  charts.set_runs({{live, 0}, {other, 1}});
  live->steps.front().gradient_norm = 1e6;  // a value that only a fresh look at the whole run would bring
  grow(5, 1);
  charts.update_now();
  const auto& shown = charts.plots()[3]->series().front().y;
  EXPECT_EQ(shown.size(), 25U);
  EXPECT_NE(shown.front(), 1e6);
  charts.set_runs({{live, 0}, {other, 1}});
  EXPECT_EQ(charts.plots()[3]->series().front().y.front(), 1e6);
}

TEST_F(TrainingChartsTest, ReplacedStepsAndAnotherAxisGiveAllAnew) {
  grow(20, 2);
  charts.set_runs({{live, 0}, {other, 1}});
  live->steps.erase(live->steps.begin() + 5, live->steps.end());
  ++live->rewrites;
  grow(40, 1);
  expect_whole();
  app::ChartView view;
  view.x = XAxis::relative;
  charts.set_view(view);
  grow(3, 1);
  expect_whole(XAxis::relative);
  live->total_steps = 2000;
  grow(3, 1);
  expect_whole(XAxis::relative);
}

}  // namespace
