// The window on the real engine: a small model is trained, stopped, continued, and decoded.
#include "app/run_library.h"
#include "app/training_page.h"
#include "tests/app/window_fixture.h"

namespace app_tests {
namespace {

using engine::TrainingEnd;
using engine::TrainingState;

class WindowRealTest : public WindowTest {
 protected:
  void open_real(bool shipped = false) {
    app::WindowOptions real;
    real.session_file = folder() / "config" / "session.json";
    if (shipped) real.run = "demo";
    open(real);
    window_->controller().set_runs_folder(folder() / "runs");
  }
  bool rests() {
    return QTest::qWaitFor([&] { return !window_->controller().busy() && !window_->rollouts_page().busy(); }, 60'000);
  }
};

TEST_F(WindowRealTest, TrainsStopsContinuesAndDecodes) {
  open_real();
  engine::Recipe recipe = small_recipe("real");
  recipe.train.steps = 800;  // so many that the key comes before the end
  window_->training_page().set_recipe(recipe, 3);
  press(Qt::Key_F5);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step >= 5; }, 60'000))
      << window_->controller().now().message;
  press(Qt::Key_F6);
  ASSERT_TRUE(rests());
  ASSERT_EQ(window_->controller().now().end, TrainingEnd::stopped) << window_->controller().now().message;
  const auto stopped_at = window_->controller().now().step;
  ASSERT_LT(stopped_at, recipe.train.steps);
  const double first_loss = window_->controller().live()->steps.front().pass_loss.at(0);

  action("Continue the selected run")->trigger();
  ASSERT_TRUE(rests());
  ASSERT_EQ(window_->controller().now().end, TrainingEnd::done) << window_->controller().now().message;
  const auto& steps = window_->controller().live()->steps;
  ASSERT_EQ(steps.size(), 800U) << "no step twice, none missing";
  EXPECT_FALSE(window_->controller().live()->validations.empty());

  action("Rewind: same seed")->trigger();
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step >= 1; }, 60'000));
  ASSERT_TRUE(rests());
  EXPECT_EQ(window_->controller().live()->steps.front().pass_loss.at(0), first_loss) << "same initial weights";

  EXPECT_EQ(window_->rollouts_page().model().step, recipe.train.steps);
  window_->rollouts_page().run_example();
  ASSERT_TRUE(rests());
  const auto rollouts = window_->rollouts_page().finished();
  ASSERT_EQ(rollouts.size(), 3U);
  EXPECT_EQ(rollouts[0].tokens.at(0).id, rollouts[1].tokens.at(0).id) << "Soft's first token is Standard's";
}

TEST_F(WindowRealTest, TheShippedModelAnswersAtOnce) {
  open_real(true);
  if (!window_->library().has_demo()) return;  // a build without the shipped model has nothing to check here
  EXPECT_EQ(window_->rollouts_page().model().key, "demo");
  EXPECT_FALSE(window_->rollouts_page().model().examples.empty());
  window_->rollouts_page().run_example();
  ASSERT_TRUE(rests());
  EXPECT_EQ(window_->rollouts_page().finished().size(), 3U);
}

TEST_F(WindowRealTest, ClosesInTheMiddleOfAStep) {
  for (int i = 0; i < 5; ++i) {
    open_real();
    window_->training_page().set_recipe(small_recipe("closing"), 3);
    press(Qt::Key_F5);
    QTest::qWait(15 * i);
    window_.reset();
  }
}

TEST_F(WindowRealTest, ADiscardedRunLeavesNothing) {
  open_real();
  engine::Recipe recipe = small_recipe("gone");
  recipe.train.steps = 1'000'000;  // it must not be done before it is discarded
  window_->training_page().set_recipe(recipe, 3);
  press(Qt::Key_F5);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step >= 2; }, 60'000));
  const auto run = window_->controller().now().run_folder;
  EXPECT_TRUE(std::filesystem::exists(run));
  press(Qt::Key_F6, Qt::ShiftModifier);
  ASSERT_TRUE(rests());
  EXPECT_FALSE(std::filesystem::exists(run));
  for (const auto& entry : window_->library().entries()) EXPECT_NE(entry.key, run.string());
}

}  // namespace
}  // namespace app_tests
