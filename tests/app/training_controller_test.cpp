#include "app/training_controller.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <thread>

#include "app/arguments.h"
#include "app/recipes.h"
#include "engine/data/task.h"
#include "engine/error.h"
#include "tests/app/run_folders.h"
#include "tests/support/fake_job.h"

namespace {

using app::TrainingController;
using engine::TrainingEnd;
using engine::TrainingState;
using namespace std::chrono_literals;

class TrainingControllerTest : public ::testing::Test {
 protected:
  app::JobMaker jobs(support::FakeOptions options = {}) {
    return [this, options](const app::TrainingRequest& request) {
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request);
      }
      support::FakeOptions mine = options;
      mine.folder = request.folder;
      return std::make_unique<support::FakeJob>(mine, log_);
    };
  }
  std::filesystem::path runs() const { return dir_.path().toStdString(); }

  QTemporaryDir dir_;
  std::mutex mutex_;
  std::vector<app::TrainingRequest> requests_;
  std::shared_ptr<support::FakeLog> log_ = std::make_shared<support::FakeLog>();
};

TEST_F(TrainingControllerTest, TrainsToTheEndAndKeepsEveryStep) {
  support::FakeOptions options;
  options.total_steps = 50;
  TrainingController controller(jobs(options));
  controller.set_runs_folder(runs());
  ASSERT_TRUE(controller.start(app_tests::small_recipe(), 5));
  EXPECT_FALSE(controller.start(app_tests::small_recipe(), 5)) << "one at a time";
  ASSERT_TRUE(QTest::qWaitFor([&] { return !controller.busy() && controller.now().state == TrainingState::idle; }));
  EXPECT_EQ(controller.now().end, TrainingEnd::done);
  EXPECT_EQ(controller.live()->steps.size(), 50U);
  EXPECT_EQ(requests_.at(0).seed, 5U);
}

TEST_F(TrainingControllerTest, ARecipeThatCannotBeUsedNeverStarts) {
  TrainingController controller(jobs());
  auto recipe = app_tests::small_recipe();
  recipe.train.rows = 0;
  EXPECT_THROW(controller.start(recipe, 1), engine::ConfigError);
  EXPECT_FALSE(controller.busy());
}

TEST_F(TrainingControllerTest, RewindKeepsTheSeedAndNewSeedDoesNot) {
  TrainingController controller(jobs());
  controller.set_runs_folder(runs());
  controller.start(app_tests::small_recipe(), 11);
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.now().step > 2; }));
  controller.rewind();
  ASSERT_TRUE(QTest::qWaitFor([&] { return log_->made == 2 && controller.now().state == TrainingState::running; }));
  EXPECT_EQ(log_->saved, 1) << "what was trained is kept";
  EXPECT_EQ(requests_.at(1).seed, 11U);
  controller.stop_and_save();
  ASSERT_TRUE(QTest::qWaitFor([&] { return controller.now().state == TrainingState::idle; }));
  controller.rewind_with_new_seed();
  ASSERT_TRUE(QTest::qWaitFor([&] { return log_->made == 3; }));
  EXPECT_NE(requests_.at(2).seed, 11U);
}

TEST_F(TrainingControllerTest, NewRunsNeverShareAFolder) {
  TrainingController controller(jobs());
  controller.set_runs_folder(runs());
  std::filesystem::create_directories(runs() / "a-b-seed1");
  controller.start(app_tests::small_recipe("a/b"), 1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return log_->made == 1; }));
  EXPECT_EQ(requests_.at(0).folder.filename(), "a-b-seed1-2");
}

TEST_F(TrainingControllerTest, AWindowBlockedForTenSecondsReadsTheFileAgain) {
  support::FakeOptions options;
  options.step_time = 0us;
  options.total_steps = 20'000;  // ten seconds of 2,000 steps a second
  TrainingController controller([&](const app::TrainingRequest& request) {
    app_tests::write_run(request.folder, 6000);
    return jobs(options)(request);
  });
  controller.set_runs_folder(runs());
  controller.start(app_tests::small_recipe(), 1);
  while (log_->destroyed == 0) std::this_thread::sleep_for(1ms);  // the window is blocked: no event is handled
  std::this_thread::sleep_for(20ms);
  controller.poll();
  EXPECT_TRUE(controller.now().overflowed);
  EXPECT_LT(controller.live()->steps.size(), 6000U);
  QSignalSpy progressed(&controller, &TrainingController::progressed);
  ASSERT_TRUE(progressed.wait(10'000)) << "the file's steps come in";
  const auto& steps = controller.live()->steps;
  EXPECT_EQ(steps.front().step, 1);
  EXPECT_EQ(steps.back().step, 20'000);
  for (std::size_t i = 1; i < steps.size(); ++i) ASSERT_LT(steps[i - 1].step, steps[i].step);
}

TEST_F(TrainingControllerTest, FastStepsAreToldAFewTimesASecondAndTheLastOneAlways) {
  support::FakeOptions options;
  options.step_time = 100us;
  options.total_steps = 10'000;
  TrainingController controller(jobs(options));
  controller.set_runs_folder(runs());
  QSignalSpy progressed(&controller, &TrainingController::progressed);
  std::int64_t told = 0;
  QObject::connect(&controller, &TrainingController::progressed, [&] { told = controller.live()->step(); });
  QElapsedTimer timer;
  timer.start();
  controller.start(app_tests::small_recipe(), 1);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !controller.busy(); }, 60'000));
  EXPECT_EQ(told, 10'000) << "what came last is told, too";
  EXPECT_GE(progressed.count(), 2);
  EXPECT_LE(progressed.count(), timer.elapsed() / 150 + 2);
}

TEST_F(TrainingControllerTest, TimeLeftCountsThePassesToCome) {
  engine::Recipe recipe = app_tests::small_recipe();
  recipe.train.schedule = {{0.5, 1}, {0.5, 3}};
  std::vector<engine::StepMetrics> recent;
  for (int step = 1; step <= 50; ++step) recent.push_back(app_tests::metrics_at(step, 1));  // 0.1 s a step of one pass
  EXPECT_NEAR(app::seconds_left(recipe, 50, 100, recent), 50 * 3 * 0.1, 1e-6);
  EXPECT_NEAR(app::seconds_left(recipe, 0, 100, recent), 50 * 0.1 + 50 * 0.3, 1e-6);
  EXPECT_EQ(app::seconds_left(recipe, 100, 100, recent), 0);
  EXPECT_EQ(app::seconds_left(recipe, 0, 100, {}), 0);
}

TEST(Recipes, AllThatShipCanBeTrained) {
  const QStringList names = app::recipe_names();
  ASSERT_GE(names.size(), 5);
  EXPECT_EQ(names.first(), "demo");
  for (const QString& name : names) {
    const engine::Recipe recipe = app::shipped_recipe(name);
    EXPECT_NO_THROW(recipe.validate()) << name.toStdString();
    EXPECT_EQ(recipe.name, name.toStdString());
    EXPECT_FALSE(recipe.claim.empty());
    for (const auto& task : recipe.data.tasks) {
      EXPECT_NO_THROW(engine::data::make_task(task, recipe.data.validation_share)) << name.toStdString();
    }
  }
}

TEST(Arguments, BadOnesAreOneSentence) {
  using Action = app::Arguments::Action;
  const auto parse = [](const QStringList& list) { return app::parse_arguments(QStringList{"fullband"} + list); };
  EXPECT_EQ(parse({}).action, Action::run);
  EXPECT_EQ(parse({"--help"}).action, Action::help);
  EXPECT_TRUE(parse({"--help"}).message.startsWith("Usage: fullband [options]\n"))
      << qPrintable(parse({"--help"}).message);
  EXPECT_EQ(parse({"--report", "out", "--run", "demo"}).run, "demo");
  EXPECT_EQ(parse({"--version"}).action, Action::version);
  EXPECT_EQ(parse({"--screenshots", "out", "--scale", "1.5"}).scale, 1.5);
  for (const QStringList& list : {QStringList{"--nonsense"},
                                  {"--scale", "9", "--screenshots", "x"},
                                  {"--scale", "2"},
                                  {"--theme", "pink"},
                                  {"stray"},
                                  {"--run"},
                                  {"--run", ""},
                                  {"--screenshots", ""},
                                  {"--scale", "nan", "--screenshots", "x"}}) {
    const auto arguments = parse(list);
    EXPECT_EQ(arguments.action, Action::bad) << list.join(' ').toStdString();
    EXPECT_FALSE(arguments.message.isEmpty());
    EXPECT_FALSE(arguments.message.contains('\n'));
  }
}

}  // namespace
