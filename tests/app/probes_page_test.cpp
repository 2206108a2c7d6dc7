// The Probes page through the window, on the shipped model and on runs that cannot be measured.
#include "app/probes_page.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>

#include "app/analysis_model.h"
#include "app/run_library.h"
#include "tests/app/analysis_page_fixture.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

class ProbesPageTest : public AnalysisPageTest<app::ProbesPage> {
 protected:
  /// False in a build without the shipped model.
  bool open_demo() {
    auto chosen = options();
    chosen.run = "demo";
    open(chosen);
    return window_->library().has_demo();
  }
  void use_few_distractors() { QTest::keyClicks(named<QLineEdit>("Distractors of the sweep"), "0, 2"); }
  /// As the user does: the arrow keys open nothing and choose at once.
  void choose(const QString& name, int index) {
    auto* box = named<QComboBox>(name);
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Home);
    for (int i = 0; i < index; ++i) QTest::keyClick(box, Qt::Key_Down);
    ASSERT_EQ(box->currentIndex(), index);
  }
};

TEST_F(ProbesPageTest, MeasuresTheShippedModelWhenItIsLookedAt) {
  if (!open_demo()) return;
  EXPECT_FALSE(page().busy()) << "nothing is computed for a page that is not shown";
  use_few_distractors();
  press(Qt::Key_3, Qt::ControlModifier);
  EXPECT_TRUE(page().busy());
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().measurement()) << message().toStdString();
  const auto& report = page().measurement()->report;
  ASSERT_EQ(report.curves.size(), 5U);
  EXPECT_EQ(report.curves.front().by_depth.front().accuracy, report.chance) << "Standard's depth 0 is exactly chance";
  EXPECT_GT(report.curves[1].by_depth.front().accuracy, 0.9) << "one recurrent step";
  picture("probes");

  const auto figures = page().figures();
  ASSERT_EQ(figures.size(), 4U);
  for (const widgets::FigureSource* figure : figures) {
    EXPECT_FALSE(figure->figure_table().rows.empty()) << figure->figure_title().toStdString();
    EXPECT_FALSE(widgets::render_figure(*figure, {}).isEmpty());
  }
  const auto answers = figures[2]->figure_table();
  ASSERT_EQ(answers.rows.size(), 5U);
  EXPECT_EQ(answers.rows[0][0], "Standard");
  EXPECT_EQ(answers.rows[0][3], "NaN") << "Standard carries no state that could be exchanged";

  const auto* sweep = dynamic_cast<const widgets::Plot*>(figures[1]);
  ASSERT_NE(sweep, nullptr);
  EXPECT_EQ(sweep->series().front().x, (std::vector<double>{0, 2}));
  EXPECT_EQ(sweep->series().front().y.front(), 100 * report.chance);
  choose("Depth of the sweep", 4);
  EXPECT_GT(sweep->series().front().y.front(), 90) << "Standard knows it at the top";

  choose("Task of the prompts", 2);  // registers, which the model has no words for
  ASSERT_TRUE(rests());
  EXPECT_FALSE(named<QLineEdit>("Distractors of the sweep")->isEnabled());
  EXPECT_FALSE(message().isEmpty());
  EXPECT_EQ(page().measurement()->request.task, "completion") << "what was measured stays";
}

TEST_F(ProbesPageTest, IsCancelledByItsButton) {
  if (!open_demo()) return;
  window_->show_page("probes");
  ASSERT_TRUE(page().busy());
  press(Qt::Key_3, Qt::ControlModifier | Qt::AltModifier);
  ASSERT_TRUE(rests());
  EXPECT_FALSE(page().measurement());
  EXPECT_TRUE(message().isEmpty()) << "a cancelled measurement is no error";
}

TEST_F(ProbesPageTest, WrongDistractorsAreASentence) {
  if (!open_demo()) return;
  QTest::keyClicks(named<QLineEdit>("Distractors of the sweep"), "0, 99999");
  window_->show_page("probes");
  EXPECT_FALSE(page().busy());
  EXPECT_TRUE(message().contains("0 to 4096")) << message().toStdString();
}

TEST_F(ProbesPageTest, ARunWithoutACheckpointSaysSo) {
  write_run(folder() / "runs" / "bare", 20);
  auto chosen = options();
  chosen.run = (folder() / "runs" / "bare").string();
  open(chosen);
  window_->show_page("probes");
  ASSERT_TRUE(rests());
  EXPECT_FALSE(page().measurement());
  EXPECT_FALSE(message().isEmpty());
  picture("probes-error");
}

TEST_F(ProbesPageTest, SeveralRunsShowOneWayOfReading) {
  for (const char* name : {"noise", "other"}) write_run(folder() / "runs" / name, 20);
  auto chosen = options();
  chosen.run = (folder() / "runs" / "noise").string();
  chosen.open_analysis = sample_model;
  open(chosen);
  page().settings().set_values({{"lengths", "0"}});
  window_->show_page("probes");
  ASSERT_TRUE(rests());
  auto* condition = named<QComboBox>("Way of reading, when several runs are shown");
  EXPECT_FALSE(condition->isVisible());
  page().show_runs({{(folder() / "runs" / "noise").string(), 0}, {(folder() / "runs" / "other").string(), 2}});
  ASSERT_TRUE(rests());
  ASSERT_EQ(page().measurements().size(), 2U) << message().toStdString();
  EXPECT_TRUE(condition->isVisible());
  const auto* depths = dynamic_cast<const widgets::Plot*>(page().figures()[0]);
  ASSERT_EQ(depths->series().size(), 2U);
  EXPECT_EQ(depths->series()[1].label, "model of other");
  EXPECT_EQ(depths->series()[1].style.run, 2);
  const auto one_step = depths->series()[1].y;
  EXPECT_EQ(one_step.front(), 100 * page().measurements()[1].report.curves[1].by_depth.front().accuracy);
  choose("Way of reading, when several runs are shown", 0);
  EXPECT_EQ(depths->series()[1].y.front(), 100 * page().measurements()[1].report.chance) << "Standard at depth 0";
  QTest::qWait(150);  // the plots' own timers
  picture("probes-two");
}

}  // namespace
}  // namespace app_tests
