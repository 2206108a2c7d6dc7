// The Channel page through the window: on the shipped model, on a model of noise, and without a run.
#include "app/channel_page.h"

#include <QComboBox>
#include <QSpinBox>
#include <cmath>

#include "app/run_library.h"
#include "tests/app/sample_model.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

class ChannelPageTest : public WindowTest {
 protected:
  app::ChannelPage& page() { return *window_->findChild<app::ChannelPage*>(); }
  bool rests() {
    return QTest::qWaitFor([&] { return !page().busy(); }, 60'000);
  }
  [[nodiscard]] QString message() { return page().findChild<widgets::Banner*>()->message(); }
  void open_noise() {
    write_run(folder() / "runs" / "noise", 20);
    auto chosen = options();
    chosen.run = (folder() / "runs" / "noise").string();
    chosen.open_analysis = sample_model;
    open(chosen);
  }
};

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
  ASSERT_EQ(figures.size(), 8U);
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
