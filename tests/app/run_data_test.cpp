// From run folders to curves: what is read, what breaks a curve, what is never dropped.
#include "app/run_data.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <fstream>

#include "app/chart_series.h"
#include "app/run_library.h"
#include "tests/app/run_folders.h"

namespace {

using app::ChartInput;
using app::RunData;

class RunDataTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path folder(const std::string& name) const {
    return std::filesystem::path(dir_.path().toStdString()) / name;
  }
  QTemporaryDir dir_;
};

TEST_F(RunDataTest, ReadsARunInAFolderWithAForeignName) {
  app_tests::write_run(folder("模型 ünï"), 40);
  const RunData run = app::load_run_folder(folder("模型 ünï"));
  EXPECT_EQ(run.problem, "");
  EXPECT_EQ(run.name, "small");
  EXPECT_EQ(run.seed, 7U);
  ASSERT_EQ(run.steps.size(), 40U);
  EXPECT_EQ(run.step(), 40);
  EXPECT_EQ(run.steps[30].pass_loss.size(), 2U);
  EXPECT_EQ(run.first_non_finite(), -1);
}

TEST_F(RunDataTest, NonFiniteLossesStayInTheCurve) {
  app_tests::write_run(folder("nan"), 40, 5);
  const RunData run = app::load_run_folder(folder("nan"));
  EXPECT_EQ(run.first_non_finite(), 4);
  const auto series = app::loss_series({{&run}, {0}, app::XAxis::step});
  ASSERT_FALSE(series.empty());
  ASSERT_EQ(series[0].y.size(), 40U) << "no step is dropped";
  EXPECT_TRUE(std::isnan(series[0].y[4]));
  EXPECT_TRUE(std::isfinite(series[0].y[5]));
}

TEST_F(RunDataTest, TheListSaysOfTheDemoWhatItsWholeFileSays) {
  const app::RunLibrary library;
  ASSERT_TRUE(library.has_demo());
  const RunData demo = app::load_demo();
  const auto entries = library.entries();
  ASSERT_FALSE(entries.empty());
  EXPECT_GT(demo.step(), 0);
  EXPECT_EQ(entries.front().step, demo.step());
  EXPECT_EQ(entries.front().total_steps, demo.total_steps);
  EXPECT_EQ(entries.front().name, demo.name);
}

TEST_F(RunDataTest, AFolderThatIsNoRunSaysSo) {
  std::filesystem::create_directories(folder("empty"));
  const RunData run = app::load_run_folder(folder("empty"));
  EXPECT_FALSE(run.problem.empty());
  EXPECT_TRUE(run.steps.empty());
}

TEST_F(RunDataTest, ACutLastLineIsPassedOver) {
  app_tests::write_run(folder("cut"), 10);
  std::ofstream(folder("cut") / "metrics.jsonl", std::ios::app) << R"({"step": 11, "train/lo)";
  EXPECT_EQ(app::load_run_folder(folder("cut")).steps.size(), 10U);
}

TEST_F(RunDataTest, CurvesByPassAndAxis) {
  app_tests::write_run(folder("one"), 40);
  app_tests::write_run(folder("two"), 40, 0, "other");
  const RunData one = app::load_run_folder(folder("one"));
  const RunData two = app::load_run_folder(folder("two"));
  auto series = app::loss_series({{&one}, {3}, app::XAxis::tokens});
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].label, "pass 1");
  EXPECT_EQ(series[1].label, "pass 2");
  EXPECT_EQ(series[1].style.role, widgets::Role::pass);
  EXPECT_EQ(series[1].style.pass, 2);
  EXPECT_EQ(series[1].x.size(), 20U) << "steps with one pass say nothing about the second";
  EXPECT_EQ(series[0].x[9], 28160);
  series = app::loss_series({{&one, &two}, {0, 1}, app::XAxis::relative});
  ASSERT_EQ(series.size(), 4U);
  EXPECT_EQ(series[2].label, "other, pass 1");
  EXPECT_EQ(series[2].style.role, widgets::Role::run);
  EXPECT_EQ(series[2].style.run, 1);
  EXPECT_NEAR(series[0].x[29], 0.5, 1e-12);
  EXPECT_EQ(app::rate_series({{&one}, {0}, app::XAxis::wall})[0].y[3], 2e-3);
}

TEST_F(RunDataTest, ThreeHundredRunsAreListedWithoutWaiting) {
  for (int i = 0; i < 300; ++i) app_tests::write_run(folder("runs/run-" + std::to_string(i)), 2);
  app::RunLibrary library;
  const auto begin = std::chrono::steady_clock::now();
  library.set_folder(folder("runs"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(100)) << "listing is not done here";
  QSignalSpy listed(&library, &app::RunLibrary::listed);
  const auto count = [&] { return library.entries().size() - (library.has_demo() ? 1 : 0); };
  for (int i = 0; i < 100 && count() < 300; ++i) listed.wait(100);
  EXPECT_EQ(count(), 300U);
  EXPECT_GT(listed.count(), 1) << "the list fills in batches";
}

TEST_F(RunDataTest, MetricsAreReadWhenFirstAskedFor) {
  app_tests::write_run(folder("runs/a"), 12);
  app::RunLibrary library;
  library.set_folder(folder("runs"));
  QSignalSpy loaded(&library, &app::RunLibrary::loaded);
  const std::string key = folder("runs/a").string();
  EXPECT_EQ(library.data(key), nullptr);
  EXPECT_EQ(library.data(key), nullptr) << "asked for once";
  ASSERT_TRUE(loaded.wait(3000));
  ASSERT_NE(library.data(key), nullptr);
  EXPECT_EQ(library.data(key)->steps.size(), 12U);
  EXPECT_FALSE(loaded.wait(50));
}

TEST_F(RunDataTest, OpeningAFolderThatIsNoRunIsRefused) {
  app::RunLibrary library;
  std::filesystem::create_directories(folder("not a run"));
  QString problem;
  EXPECT_FALSE(library.add(folder("not a run"), problem));
  EXPECT_FALSE(problem.isEmpty());
  EXPECT_FALSE(library.add(folder("missing"), problem));
}

}  // namespace
