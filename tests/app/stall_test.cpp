// The window stays smooth while a real model trains at full speed behind it.
#include <QEventLoop>
#include <QTimer>
#include <ctime>

#include "app/training_page.h"
#include "tests/app/stall_watch.h"
#include "tests/app/window_fixture.h"

namespace app_tests {
namespace {

constexpr double kStall = 50;  // milliseconds of work that a person would notice

/// Real waiting for events, where QTest::qWait asks for them in between sleeps.
void run_loop(std::chrono::milliseconds time) {
  QEventLoop loop;
  QTimer::singleShot(time, &loop, &QEventLoop::quit);
  loop.exec();
}

class StallTest : public WindowTest {
 protected:
  void train() {
    app::WindowOptions real;
    real.session_file = folder() / "config" / "session.json";
    open(real);
    window_->controller().set_runs_folder(folder() / "runs");
    engine::Recipe recipe = small_recipe("smooth");
    recipe.train.steps = 1'000'000;
    recipe.train.validate_every = 200;
    recipe.train.checkpoint_every = 500;
    window_->training_page().set_recipe(recipe, 3);
    press(Qt::Key_F5);
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step >= 20; }, 60'000))
        << window_->controller().now().message;
  }
  void stop() {
    press(Qt::Key_F6, Qt::ShiftModifier);
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window_->controller().busy(); }, 60'000));
  }
};

TEST_F(StallTest, TheWatchSeesAStall) {
  StallWatch watch;
  const std::clock_t start = std::clock();
  QTimer::singleShot(20, [start] {
    while (std::clock() - start < CLOCKS_PER_SEC / 10) {
    }
  });
  run_loop(std::chrono::milliseconds(400));
  EXPECT_GT(watch.longest(), kStall);
}

TEST_F(StallTest, TheLoopIsNeverBusyForLongWhileTraining) {
  train();
  const std::int64_t first = window_->controller().now().step;
  StallWatch watch;
  run_loop(std::chrono::milliseconds(4000));
  RecordProperty("longest_milliseconds", std::to_string(watch.longest()));
  EXPECT_LT(watch.longest(), kStall);
  EXPECT_GT(watch.ticks(), 20);
  EXPECT_GT(window_->controller().now().step, first + 50) << "nothing was trained meanwhile";
  stop();
}

TEST_F(StallTest, NorWhilePagesChange) {
  train();
  for (const char* page : {"rollouts", "reachability", "probes", "stability", "channel", "training"}) {
    window_->show_page(page);  // made for the first time: what follows must be quick
    run_loop(std::chrono::milliseconds(150));
  }
  StallWatch watch;
  for (const char* page : {"rollouts", "reachability", "probes", "stability", "channel", "training"}) {
    QTimer::singleShot(0, window_.get(), [&] { window_->show_page(page); });
    run_loop(std::chrono::milliseconds(150));
  }
  RecordProperty("longest_milliseconds", std::to_string(watch.longest()));
  EXPECT_LT(watch.longest(), kStall);
  stop();
}

}  // namespace
}  // namespace app_tests
