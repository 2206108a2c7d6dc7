// The Channel page through the window: on the shipped model, on a model of noise, and without a run.
#include "app/channel_page.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QSpinBox>
#include <cmath>

#include "app/run_library.h"
#include "tests/app/analysis_page_fixture.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

using ChannelPageTest = AnalysisPageTest<app::ChannelPage>;

TEST_F(ChannelPageTest, MeasuresTheShippedModelWhenItIsLookedAt) {
  auto chosen = options();
  chosen.run = "demo";
  open(chosen);
  if (!window_->library().has_demo()) return;  // a build without the shipped model has nothing to check here
  EXPECT_FALSE(page().busy()) << "nothing is computed for a page that is not shown";
  press(Qt::Key_6, Qt::ControlModifier);
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().measurement()) << message().toStdString();
  const auto& report = page().measurement()->report;
  const auto& shuffled = report.interventions.results.front();
  EXPECT_GT(shuffled.cost.value, 2 * shuffled.cost.error) << "the model uses its states";
  picture("channel");

  const auto figures = page().figures();
  ASSERT_EQ(figures.size(), 9U);
  for (const widgets::FigureSource* figure : figures) {
    EXPECT_FALSE(figure->figure_table().rows.empty()) << figure->figure_title().toStdString();
    EXPECT_FALSE(widgets::render_figure(*figure, {}).isEmpty());
  }
}

TEST_F(ChannelPageTest, AChosenTokenIsLaidOverAll) {
  open_noise();
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().measurement()) << message().toStdString();
  const auto* gates = dynamic_cast<const widgets::Plot*>(page().figures()[1]);
  ASSERT_NE(gates, nullptr);
  ASSERT_EQ(gates->series().size(), 1U);
  double sum = 0;
  for (const double share : gates->series()[0].y) sum += share;
  EXPECT_NEAR(sum, 200, 1e-9) << "all channels, and two points a bin";
  auto* token = named<QComboBox>("Token whose gates are shown");
  token->setFocus();
  QTest::keyClick(token, Qt::Key_Down);
  ASSERT_EQ(gates->series().size(), 2U);
  EXPECT_NE(gates->series()[0].y, gates->series()[1].y);
}

TEST_F(ChannelPageTest, RowsArePartOfTheRequest) {
  open_noise();
  auto* rows = named<QSpinBox>("Held-out rows");
  rows->setFocus();
  rows->selectAll();
  QTest::keyClicks(rows, "5");
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().measurement()) << message().toStdString();
  EXPECT_EQ(page().measurement()->report.rows, 5);
  EXPECT_FALSE(page().measurement()->report.boundary.empty());
}

TEST_F(ChannelPageTest, ChangesAreChosenWithTheirStrength) {
  open_noise();
  page().settings().set_values({{"rows", 6}});
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().measurement()) << message().toStdString();
  EXPECT_EQ(page().measurement()->report.interventions.results.size(), 2U) << "shuffled states and constant gates";
  const auto* before = page().measurement()->report.states.data();
  auto* temperature = named<QDoubleSpinBox>("Gate temperature");
  EXPECT_FALSE(temperature->isEnabled());
  for (QAction* action : page().findChildren<QAction*>()) {
    if (action->text() == "Gate temperature") action->trigger();
  }
  ASSERT_TRUE(rests());
  ASSERT_EQ(page().measurement()->report.interventions.results.size(), 3U);
  EXPECT_EQ(page().measurement()->report.interventions.results[2].amount, 2);
  EXPECT_EQ(page().measurement()->report.states.data(), before) << "nothing else is measured again";
  const double weak = page().measurement()->report.interventions.results[2].cost.value;
  temperature->setFocus();
  temperature->selectAll();
  QTest::keyClicks(temperature, "10");
  QTest::keyClick(temperature, Qt::Key_Return);
  ASSERT_TRUE(rests());
  EXPECT_EQ(page().measurement()->report.interventions.results[2].amount, 10);
  EXPECT_NE(page().measurement()->report.interventions.results[2].cost.value, weak);
  EXPECT_EQ(page().settings().values().at("changes"),
            nlohmann::json({"shuffled state", "constant gate", "gate temperature"}));
}

TEST_F(ChannelPageTest, SeveralRunsAreLaidOverEachOther) {
  open_noise();
  write_run(folder() / "runs" / "other", 20);
  page().settings().set_values({{"rows", 6}});
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  const std::string noise = (folder() / "runs" / "noise").string();
  const std::string other = (folder() / "runs" / "other").string();
  page().show_runs({{noise, 0}, {other, 3}});
  ASSERT_TRUE(rests());
  ASSERT_EQ(page().measurements().size(), 2U) << message().toStdString();
  const auto* rms = dynamic_cast<const widgets::Plot*>(page().figures()[4]);
  ASSERT_NE(rms, nullptr);
  ASSERT_EQ(rms->series().size(), 4U);
  EXPECT_EQ(rms->series()[0].label, "model of noise, plain");
  EXPECT_EQ(rms->series()[3].label, "model of other, fused");
  EXPECT_EQ(rms->series()[3].style.run, 3) << "the colour of the run list";
  EXPECT_EQ(rms->series()[3].style.pass, 2) << "dashed as the other run's";
  const auto* costs = dynamic_cast<const widgets::DotChart*>(page().figures()[0]);
  ASSERT_FALSE(costs->rows().empty());
  EXPECT_EQ(costs->rows()[0].values.size(), 2U) << "a dot a run";
  QTest::qWait(150);  // the plots' own timers
  picture("channel-two");
}

TEST_F(ChannelPageTest, FiguresSayWhatTheyWereMeasuredOn) {
  open_noise();
  page().settings().set_values({{"rows", 6}, {"seed", 9}});
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  const widgets::FigureMetadata expected = {
      {"step", "60"}, {"rows", "6"}, {"feedback passes", "1"}, {"measuring seed", "9"}};
  EXPECT_EQ(page().metadata(), expected);
}

TEST_F(ChannelPageTest, ARunWithoutACheckpointSaysSo) {
  write_run(folder() / "runs" / "bare", 20);
  auto chosen = options();
  chosen.run = (folder() / "runs" / "bare").string();
  open(chosen);
  window_->show_page("channel");
  ASSERT_TRUE(rests());
  EXPECT_FALSE(page().measurement());
  EXPECT_FALSE(message().isEmpty());
}

}  // namespace
}  // namespace app_tests
