// Batches of rollouts through the window: the numbers against the engine's own, files, modes, and what a batch refuses.
#include "app/batch_page.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <fstream>

#include "app/batch_series.h"
#include "app/question_set.h"
#include "app/run_library.h"
#include "tests/app/analysis_page_fixture.h"
#include "widgets/number_table.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

class BatchPageTest : public AnalysisPageTest<app::BatchPage> {
 protected:
  /// A spin box of the page: other pages have ones of the same name.
  void type(const QString& name, const QString& value) {
    for (auto* box : page().findChildren<QSpinBox*>()) {
      if (box->accessibleName() != name) continue;
      box->setFocus();
      box->selectAll();
      QTest::keyClicks(box, value);
      return QTest::keyClick(box, Qt::Key_Tab);
    }
    ADD_FAILURE() << name.toStdString();
  }
  void measure() {
    press(Qt::Key_5, Qt::ControlModifier | Qt::AltModifier);
    ASSERT_TRUE(rests());
  }
};

TEST_F(BatchPageTest, TheShippedModelIsMeasuredWhenThePartIsLookedAt) {
  auto chosen = options();
  chosen.run = "demo";
  open(chosen);
  if (!window_->library().has_demo()) return;  // a build without the shipped model has nothing to check here
  press(Qt::Key_5, Qt::ControlModifier);
  EXPECT_FALSE(page().busy()) << "one prompt comes first; nothing is computed for a part that is not shown";
  QTest::mouseClick(named<QPushButton>("Batch of rollouts"), Qt::LeftButton);
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  EXPECT_EQ(page().result()->source, "completion");
  for (const app::ModeResult& mode : page().result()->modes) {
    EXPECT_EQ(mode.summary.rows, 256);
    EXPECT_GT(mode.summary.accuracy, 0.9) << to_string(mode.mode);
  }
  picture("batch");
  for (const widgets::FigureSource* figure : page().figures()) {
    EXPECT_FALSE(widgets::render_figure(*figure, {}).isEmpty()) << figure->figure_title().toStdString();
  }
  press(Qt::Key_4, Qt::ControlModifier);
  press(Qt::Key_5, Qt::ControlModifier);
  EXPECT_TRUE(page().isVisible()) << "Rollouts comes back with the part that was shown last";
}

TEST_F(BatchPageTest, TheNumbersAreTheEnginesOwn) {
  open_noise();
  window_->show_page("batch");
  ASSERT_TRUE(rests());
  type("Prompts", "12");
  type("Answers to each prompt, for pass@k", "4");
  type("Most tokens of an answer", "6");
  type("Seed of prompts and random numbers", "3");
  page().settings().set_values({{"temperature", 1.0}});
  measure();
  ASSERT_TRUE(page().result()) << message().toStdString();
  const app::BatchResult& result = *page().result();

  const auto model = sample_model((folder() / "runs" / "noise").string());
  const app::QuestionSet set = app::find_questions(model->recipe->data, {}, 3, 12);
  for (const app::ModeResult& mode : result.modes) {
    engine::EvaluationSettings settings = result.request.settings;
    EXPECT_EQ(settings.samples, 4);
    settings.mode = mode.mode;
    const auto answers = engine::answer_questions(model->model, set.questions, settings);
    EXPECT_EQ(mode.summary.accuracy, engine::summarize(answers, 4).accuracy);
    EXPECT_EQ(mode.summary.tokens_median, engine::summarize(answers, 4).tokens_median);
    EXPECT_EQ(mode.summary.capped, engine::summarize(answers, 4).capped);
    EXPECT_EQ(mode.pass_at_k.size(), 3U) << "k = 1, 2, 4";
  }
  ASSERT_EQ(result.pairs.size(), 3U);
  for (const app::PairResult& pair : result.pairs) {
    EXPECT_EQ(pair.counts.both + pair.counts.only_first + pair.counts.only_second + pair.counts.neither, 12);
  }
  EXPECT_EQ(std::count(result.answers.begin(), result.answers.end(), '\n'), 3 * 12 * 4) << "one line an answer";
  EXPECT_EQ(page().metadata().front(), (std::pair<QString, QString>("step", "60")));
}

TEST_F(BatchPageTest, CutAnswersStandApart) {
  open_noise();
  type("Prompts", "40");
  type("Most tokens of an answer", "3");
  window_->show_page("batch");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  const app::BatchResult& result = *page().result();
  ASSERT_GT(result.modes.front().summary.capped, 0) << "noise seldom ends in three tokens";
  double marked = 0;
  double finished = 0;
  for (const widgets::Series& series : app::length_series(result)) {
    if (series.label == "Standard, cut") marked += series.y.front();
    if (series.label != "Standard") continue;
    for (std::size_t i = 2; i < series.y.size(); i += 4) finished += series.y[i];
  }
  EXPECT_NEAR(marked, 100.0 * static_cast<double>(result.modes.front().summary.capped) / 40, 1e-9);
  EXPECT_NEAR(marked + finished, 100, 1e-9) << "every answer is a bar or a mark";
  EXPECT_TRUE(app::batch_reading(result).contains("lengths of cut answers say nothing"));
}

TEST_F(BatchPageTest, AFileIsASourceToo) {
  const auto file = folder() / "prompts.jsonl";
  std::ofstream(file) << R"({"prompt": "required = 3\ncompleted = 0\n", "answer": "more"})"
                      << "\n"
                      << R"({"prompt": "required = 3\n", "answer": "done"})"
                      << "\n";
  open_noise();
  page().set_file(QString::fromStdString(file.string()));
  window_->show_page("batch");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  EXPECT_EQ(page().result()->source, "prompts.jsonl");
  EXPECT_EQ(page().result()->modes.front().summary.rows, 2);
}

TEST_F(BatchPageTest, ModesAreChosen) {
  open_noise();
  window_->show_page("batch");
  ASSERT_TRUE(rests());
  for (const char* name : {"Measure Soft", "Measure Fused"}) QTest::keyClick(named<QCheckBox>(name), Qt::Key_Space);
  measure();
  EXPECT_EQ(page().result()->modes.size(), 1U);
  EXPECT_TRUE(page().result()->pairs.empty());
  QTest::keyClick(named<QCheckBox>("Measure Standard"), Qt::Key_Space);
  measure();
  EXPECT_TRUE(message().contains("No mode is chosen")) << message().toStdString();
}

TEST_F(BatchPageTest, TheControlsComeBackWithTheSession) {
  open_noise();
  type("Prompts", "17");
  QTest::keyClick(named<QCheckBox>("Measure Fused"), Qt::Key_Space);
  window_->show_page("batch");
  window_->save_session_now();
  auto again = options();
  again.open_analysis = sample_model;
  open(again);
  EXPECT_EQ(page().settings().values().at("rows"), 17);
  EXPECT_EQ(page().settings().values().at("fused"), false);
  EXPECT_TRUE(page().isVisible()) << "also the part that was shown";
}

TEST_F(BatchPageTest, ARunWithoutACheckpointLeadsToTraining) {
  write_run(folder() / "runs" / "bare", 20);
  auto chosen = options();
  chosen.run = (folder() / "runs" / "bare").string();
  open(chosen);
  window_->show_page("batch");
  ASSERT_TRUE(rests());
  EXPECT_FALSE(page().result());
  EXPECT_TRUE(message().contains("no checkpoint yet")) << message().toStdString();
  for (auto* button : page().findChildren<QPushButton*>()) {
    if (button->text() == "Go to Training") QTest::mouseClick(button, Qt::LeftButton);
  }
  EXPECT_FALSE(page().isVisible());
  EXPECT_TRUE(QTest::qWaitFor([&] { return named<QPushButton>("Training")->isChecked(); }));
}

}  // namespace
}  // namespace app_tests
