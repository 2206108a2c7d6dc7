// Start, pause, step, stop and close through the window, with real key presses and clicks.
#include <QAbstractButton>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <fstream>
#include <random>

#include "app/recipe_panel.h"
#include "app/training_actions.h"
#include "app/training_page.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

using engine::TrainingEnd;
using engine::TrainingState;
using namespace std::chrono_literals;

class WindowTrainingTest : public WindowTest {
 protected:
  QAbstractButton* answer(const QString& text) {
    for (auto* box : window_->findChildren<QMessageBox*>()) {
      for (QAbstractButton* button : box->buttons()) {
        if (button->text() == text) return button;
      }
    }
    return nullptr;
  }
};

TEST_F(WindowTrainingTest, TheMainKeyStartsPausesAndResumes) {
  open();
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::running));
  EXPECT_EQ(action("Pause training")->isEnabled(), true);
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::paused));
  const auto before = log_->steps.load();
  press(Qt::Key_F10);
  ASSERT_TRUE(QTest::qWaitFor([&] { return log_->steps == before + 1; }));
  ASSERT_TRUE(reaches(TrainingState::paused));
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::running));
  press(Qt::Key_F6);
  ASSERT_TRUE(reaches(TrainingState::idle));
  EXPECT_EQ(window_->controller().now().end, TrainingEnd::stopped);
  EXPECT_EQ(log_->saved, 1);
}

TEST_F(WindowTrainingTest, TheButtonsMirrorTheState) {
  job_.save_time = 500ms;
  open();
  auto& actions = window_->training_page().training();
  EXPECT_TRUE(actions.main->isEnabled());
  EXPECT_FALSE(actions.stop_save->isEnabled());
  EXPECT_FALSE(actions.step->isEnabled());
  QTest::mouseClick(named<QPushButton>("Start training"), Qt::LeftButton);
  ASSERT_TRUE(reaches(TrainingState::running));
  EXPECT_TRUE(actions.stop_save->isEnabled());
  EXPECT_FALSE(actions.step->isEnabled()) << "a single step is for a paused training";
  actions.stop_save->trigger();
  ASSERT_TRUE(reaches(TrainingState::saving));
  EXPECT_FALSE(actions.main->isEnabled());
  EXPECT_TRUE(actions.stop_discard->isEnabled());
  ASSERT_TRUE(reaches(TrainingState::idle));
  EXPECT_TRUE(actions.main->isEnabled());
}

TEST_F(WindowTrainingTest, TwentyCyclesOneDuringASave) {
  job_.step_time = 200us;
  job_.save_time = 2ms;
  open();
  for (int cycle = 0; cycle < 20; ++cycle) {
    press(Qt::Key_F5);
    ASSERT_TRUE(reaches(TrainingState::running)) << cycle;
    press(Qt::Key_F6);
    if (cycle == 10) press(Qt::Key_F6);
    ASSERT_TRUE(reaches(TrainingState::idle)) << cycle;
  }
  EXPECT_EQ(log_->made, 20);
  EXPECT_EQ(log_->destroyed, 20);
}

TEST_F(WindowTrainingTest, AFieldThatCannotBeUsedIsSaidAndNothingStarts) {
  open();
  auto recipe = small_recipe();
  recipe.model.heads = 3;  // does not divide the width
  window_->training_page().set_recipe(recipe, 1);
  press(Qt::Key_F5);
  EXPECT_FALSE(window_->controller().busy());
  EXPECT_FALSE(window_->training_page().findChild<widgets::Banner*>()->message().isEmpty());
}

TEST_F(WindowTrainingTest, ChartsThatNobodySeesAreDrawnWhenTheyAreSeenAgain) {
  job_.step_time = 1ms;
  job_.total_steps = 100'000;
  open();
  press(Qt::Key_F5);
  const auto* loss = dynamic_cast<const widgets::Plot*>(window_->training_page().figures().front());
  ASSERT_NE(loss, nullptr);
  const auto points = [&] { return loss->series().empty() ? 0 : loss->series().front().x.size(); };
  ASSERT_TRUE(QTest::qWaitFor([&] { return points() > 50; }));
  const std::int64_t drawn = loss->replots();
  ASSERT_TRUE(QTest::qWaitFor([&] { return loss->replots() > drawn + 1; })) << "it moves while it is seen";
  window_->show_page("rollouts");
  const std::size_t before = points();
  const std::int64_t step = window_->controller().now().step;
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step > step + 200; }));
  EXPECT_EQ(points(), before);
  window_->show_page("training");
  EXPECT_GT(points(), before + 150);
  press(Qt::Key_F6, Qt::ShiftModifier);
  EXPECT_TRUE(reaches(TrainingState::idle));
}

TEST_F(WindowTrainingTest, ANonFiniteLossPausesAndOffersTheLastCheckpoint) {
  job_.non_finite_at = 9;
  open();
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::paused));
  auto* banner = window_->training_page().findChild<widgets::Banner*>();
  EXPECT_TRUE(banner->message().contains("step 9"));
  EXPECT_TRUE(banner->message().contains("pass 2"));
  EXPECT_FALSE(window_->training_page().training().main->isEnabled()) << "resuming makes no sense";
  for (auto* button : banner->findChildren<QPushButton*>()) {
    if (button->isVisible()) QTest::mouseClick(button, Qt::LeftButton);
  }
  ASSERT_TRUE(reaches(TrainingState::idle));
  EXPECT_EQ(log_->saved, 0);
}

TEST_F(WindowTrainingTest, ClosingWhileTrainingAsksThenSavesAndCloses) {
  open();
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::running));
  window_->close();
  EXPECT_TRUE(window_->isVisible()) << "it asks first";
  EXPECT_TRUE(window_->controller().busy()) << "and goes on training meanwhile";
  QTest::mouseClick(answer("Go on training"), Qt::LeftButton);
  EXPECT_TRUE(window_->isVisible());
  EXPECT_TRUE(window_->controller().busy());
  window_->close();
  QTest::mouseClick(answer("Save and close"), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_->isVisible(); }));
  EXPECT_EQ(log_->saved, 1);
  EXPECT_EQ(log_->destroyed, 1);
}

TEST_F(WindowTrainingTest, DiscardAndCloseRemovesTheRun) {
  open();
  press(Qt::Key_F5);
  ASSERT_TRUE(reaches(TrainingState::running));
  window_->close();
  QTest::mouseClick(answer("Discard and close"), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !window_->isVisible(); }));
  EXPECT_EQ(log_->discarded, 1);
}

TEST_F(WindowTrainingTest, WindowsGoAtRandomTimes) {
  std::mt19937 random(5);
  token_time_ = 1ms;
  for (int i = 0; i < 20; ++i) {
    job_.start_time = std::chrono::milliseconds(random() % 3);
    job_.step_time = std::chrono::microseconds(random() % 400);
    open();
    press(Qt::Key_F5);
    QTest::qWait(static_cast<int>(random() % 20));
    if (i % 3 == 1) press(Qt::Key_F5);
    if (i % 3 == 2) press(Qt::Key_F6);
    window_.reset();
  }
  EXPECT_EQ(log_->made, log_->destroyed);
}

TEST_F(WindowTrainingTest, WhatWasTypedComesBack) {
  open();
  auto recipe = small_recipe("half an idea");
  recipe.train.rate = 3.5e-3;
  window_->training_page().set_recipe(recipe, 42);
  QTest::keyClick(window_.get(), Qt::Key_5, Qt::ControlModifier);
  auto* prompt = named<QPlainTextEdit>("Prompt");
  prompt->setFocus();
  QTest::keyClicks(prompt, "state = 1");
  QTest::keyClick(prompt, Qt::Key_Return);
  window_->close();
  open();
  EXPECT_EQ(window_->training_page().recipe_panel().recipe(), recipe);
  EXPECT_EQ(window_->training_page().recipe_panel().seed(), 42U);
  EXPECT_EQ(window_->rollouts_page().form().prompt, "state = 1\n");
  EXPECT_TRUE(window_->rollouts_page().isVisible()) << "the page comes back, too";
}

TEST_F(WindowTrainingTest, ABrokenSessionIsSaidInOneSentence) {
  std::filesystem::create_directories(options().session_file.parent_path());
  std::ofstream(options().session_file) << R"({"theme": )";
  open();
  bool said = false;
  for (auto* banner : window_->findChildren<widgets::Banner*>()) said |= banner->message().contains("session.json.bad");
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace app_tests
