#include "app/stability_page.h"

#include <QComboBox>
#include <QSpinBox>

#include "engine/error.h"
#include "tests/app/sample_model.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"
#include "widgets/heatmap.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

class StabilityPageTest : public WindowTest {
 protected:
  app::StabilityPage& open_page(const std::vector<std::string>& runs = {"one"}) {
    std::vector<std::string> keys;
    for (const std::string& run : runs) {
      const std::filesystem::path place = folder() / "runs" / run;
      write_run(place, 20, 0, run);
      keys.push_back(place.string());
    }
    app::WindowOptions fake = options();
    fake.open_analysis = opener_;
    if (!keys.empty()) fake.run = keys.front();
    open(fake);
    page_ = window_->findChild<app::StabilityPage*>();
    press(Qt::Key_4, Qt::ControlModifier);
    EXPECT_TRUE(page_->isVisible());
    return *page_;
  }
  bool measured() {
    return QTest::qWaitFor([&] { return !page_->busy(); }, 60'000);
  }
  widgets::Plot* plot(const QString& name) { return named<widgets::Plot>(name); }
  QString error() { return page_->findChild<widgets::Banner*>()->message(); }

  app::AnalysisWorker::Opener opener_ = sample_model;
  app::StabilityPage* page_ = nullptr;
};

TEST_F(StabilityPageTest, MeasuresByItselfWhenItIsLookedAt) {
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  ASSERT_EQ(page.results().size(), 1U) << error().toStdString();
  const engine::StabilityCurves& curves = page.results().front().curves;
  EXPECT_EQ(curves.rows, 64);
  EXPECT_EQ(curves.passes, 30);
  EXPECT_FALSE(page.verdict().isEmpty());
  EXPECT_EQ(plot("Loss after each pass")->series().front().x.size(), 31U);
  EXPECT_EQ(plot("Update norm")->series().size(), 2U) << "movable and blended";
  picture("stability");
}

TEST_F(StabilityPageTest, TheMatrixIsExactlyZeroAboveTheWavefrontAndNowhereBelow) {
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  ASSERT_EQ(page.results().size(), 1U);
  const widgets::Matrix matrix = app::update_matrix(page.results().front());
  const widgets::MatrixLine line = app::wavefront(page.results().front());
  ASSERT_GT(matrix.columns, 10U);
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::size_t column = 0; column < matrix.columns; ++column) {
      const double value = matrix.at(row, column);
      if (std::isnan(value)) continue;
      const bool above = static_cast<double>(row) > line[column];
      EXPECT_EQ(value == 0, above) << "pass " << row + 1 << ", position " << column;
    }
  }
}

TEST_F(StabilityPageTest, AThousandPassesOnALogAxisDrawOnlyWhatCanMove) {
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  auto* passes = named<QComboBox>("Feedback passes");
  passes->setCurrentIndex(passes->findData(1000));
  ASSERT_TRUE(measured());
  ASSERT_EQ(page.results().front().curves.passes, 1000);
  EXPECT_TRUE(plot("Update norm")->view().log_x);
  EXPECT_EQ(plot("Loss after each pass")->series().front().x.front(), 1) << "a log axis has no 0";
  const auto& movable = plot("Update norm")->series().at(0);
  EXPECT_LT(movable.x.size(), 100U) << "where nothing can move nothing was measured";
  EXPECT_EQ(plot("Update norm")->series().at(1).y.back(), 0) << "the blended mean is 0 there";
  action("Logarithmic pass axis")->trigger();
  EXPECT_FALSE(plot("Update norm")->view().log_x);
  EXPECT_EQ(plot("Loss after each pass")->series().front().x.front(), 0);
}

TEST_F(StabilityPageTest, SeveralRunsLieOverEachOtherInTheirColours) {
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  write_run(folder() / "runs" / "two", 20, 0, "two");
  const std::string one = (folder() / "runs" / "one").string();
  const std::string two = (folder() / "runs" / "two").string();
  page_->show_runs({{one, 0}, {two, 1}});
  ASSERT_TRUE(measured());
  ASSERT_EQ(page.results().size(), 2U) << error().toStdString();
  const auto& series = plot("Loss after each pass")->series();
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].label, "model of one");
  EXPECT_EQ(series[1].label, "model of two");
  EXPECT_EQ(series[1].style.role, widgets::Role::run);
  EXPECT_EQ(series[1].style.run, 1);
  EXPECT_NE(series[0].y, series[1].y);
  EXPECT_TRUE(page.verdict().contains("model of two"));
  picture("stability-two");
}

TEST_F(StabilityPageTest, RepeatsShowTheirSpread) {
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  EXPECT_TRUE(page.results().front().loss_spread.empty());
  for (auto* spin : page_->findChildren<QSpinBox*>()) spin->setValue(spin->accessibleName() == "Held-out rows" ? 8 : 3);
  QTest::keyClick(window_.get(), Qt::Key_4, Qt::ControlModifier | Qt::AltModifier);
  ASSERT_TRUE(measured());
  EXPECT_EQ(page.results().front().curves.rows, 24);
  ASSERT_EQ(page.results().front().loss_spread.size(), 31U);
  EXPECT_GT(page.results().front().loss_spread.front(), 0);
}

TEST_F(StabilityPageTest, ExportsEveryPlotAsNumbers) {
  open_page();
  ASSERT_TRUE(measured());
  const auto figures = page_->figures();
  ASSERT_EQ(figures.size(), 4U);
  for (const widgets::FigureSource* figure : figures) {
    EXPECT_GT(figure->figure_table().rows.size(), 29U) << figure->figure_title().toStdString();
  }
}

TEST_F(StabilityPageTest, AnErrorIsASentenceAndMeasuringAgainWorks) {
  bool broken = true;
  opener_ = [&](const std::string& key) {
    if (broken) throw engine::ConfigError("run", "there is no checkpoint yet; wait for the first one");
    return sample_model(key);
  };
  const app::StabilityPage& page = open_page();
  ASSERT_TRUE(measured());
  EXPECT_TRUE(error().contains("no checkpoint yet"));
  EXPECT_TRUE(page.results().empty());
  broken = false;
  action("Measure the stability")->trigger();
  ASSERT_TRUE(measured());
  EXPECT_EQ(page.results().size(), 1U);
  EXPECT_TRUE(page_->findChild<widgets::Banner*>()->isHidden()) << "the old error is taken away";
}

TEST_F(StabilityPageTest, CancelLeavesTheWindowAtRest) {
  open_page();
  auto* passes = named<QComboBox>("Feedback passes");
  passes->setCurrentIndex(passes->findData(1000));
  ASSERT_TRUE(page_->busy());
  EXPECT_TRUE(named<QPushButton>("Cancel the stability measurement")->isVisible());
  action("Cancel the stability measurement")->trigger();
  EXPECT_TRUE(measured());
  EXPECT_EQ(action("Measure the stability")->iconText(), "Measure");
}

TEST_F(StabilityPageTest, WithoutARunItSaysWhatToDo) {
  open_page();
  ASSERT_TRUE(measured());
  page_->show_runs({});
  EXPECT_TRUE(page_->results().empty());
  EXPECT_TRUE(page_->verdict().contains("select one at the left"));
  EXPECT_FALSE(action("Measure the stability")->isEnabled());
  picture("stability-empty");
}

TEST_F(StabilityPageTest, TheMatrixIsReadByTheArrowKeys) {
  open_page();
  ASSERT_TRUE(measured());
  auto* matrix = page_->findChild<widgets::Heatmap*>();
  matrix->setFocus();
  QTest::keyClick(matrix, Qt::Key_Right);
  QTest::keyClick(matrix, Qt::Key_Up);
  ASSERT_TRUE(matrix->current().has_value());
  EXPECT_EQ(*matrix->current(), QPoint(0, 1));
  EXPECT_TRUE(matrix->accessibleDescription().contains("exactly 0")) << "the first position is exact from the start";
}

}  // namespace
}  // namespace app_tests
