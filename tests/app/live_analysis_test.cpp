// Measuring a run while it is in training: a copy of the present model, which does not hold the training up.
#include <QCheckBox>
#include <QSpinBox>

#include "app/channel_page.h"
#include "app/stability_page.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"

namespace app_tests {
namespace {

class LiveAnalysisTest : public WindowTest {
 protected:
  void SetUp() override {
    auto chosen = options();
    chosen.make_job = app::real_jobs();
    chosen.open_decoder = nullptr;  // the real one
    open(chosen);
    window_->controller().set_runs_folder(folder() / "runs");
  }
  void TearDown() override {
    window_->controller().stop_and_discard();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !window_->controller().busy(); }, 20'000));
  }
  /// Trains as long as the test wants, without a checkpoint.
  void train() {
    engine::Recipe recipe = small_recipe();
    recipe.train.steps = 1'000'000;
    recipe.train.checkpoint_every = 0;
    recipe.train.validate_every = 0;
    ASSERT_TRUE(window_->controller().start(recipe, 1));
    ASSERT_TRUE(reaches(engine::TrainingState::running));
    ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step > 20; }, 20'000));
  }
  app::StabilityPage& stability() { return *window_->findChild<app::StabilityPage*>(); }
  [[nodiscard]] QString message() { return stability().findChild<widgets::Banner*>()->message(); }
};

TEST_F(LiveAnalysisTest, ACopyOfThePresentModelIsMeasured) {
  train();
  stability().settings().set_values({{"passes", "10"}, {"rows", 4}});
  window_->show_page("stability");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !stability().busy(); }, 20'000));
  ASSERT_EQ(stability().results().size(), 1U) << message().toStdString();
  const std::int64_t measured = stability().results().front().step;
  EXPECT_GT(measured, 20) << "no checkpoint has been written: it is the model in training";
  EXPECT_EQ(window_->controller().now().state, engine::TrainingState::running);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step > measured; }, 20'000)) << "it goes on";

  press(Qt::Key_4, Qt::ControlModifier | Qt::AltModifier);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !stability().busy(); }, 20'000));
  EXPECT_GT(stability().results().front().step, measured) << "each measurement takes a copy of its own";
}

TEST_F(LiveAnalysisTest, APageFollowsTheTrainingWhenAsked) {
  train();
  stability().settings().set_values({{"passes", "10"}, {"rows", 4}});
  window_->show_page("stability");
  ASSERT_TRUE(QTest::qWaitFor([&] { return stability().results().size() == 1 && !stability().busy(); }, 20'000));
  const std::int64_t first = stability().results().front().step;
  QCheckBox* follow = nullptr;
  for (auto* box : stability().findChildren<QCheckBox*>()) {
    if (box->text() == "follow training") follow = box;
  }
  ASSERT_TRUE(follow != nullptr && follow->isVisible());
  QTest::keyClick(follow, Qt::Key_Space);
  EXPECT_TRUE(QTest::qWaitFor([&] { return stability().results().front().step > first; }, 30'000));
  picture("stability-live");
}

TEST_F(LiveAnalysisTest, ARolloutIsOfThePresentModel) {
  train();
  app::RolloutsPage& page = window_->rollouts_page();
  const auto run = [&] {
    page.run_example();
    return QTest::qWaitFor([&] { return !page.busy() && page.finished().size() == 3; }, 20'000);
  };
  ASSERT_TRUE(run());
  const std::int64_t first = page.model().step;
  EXPECT_GT(first, 0);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step > first; }, 20'000));
  ASSERT_TRUE(run());
  EXPECT_GT(page.model().step, first) << "each Run takes a copy of its own";
}

TEST_F(LiveAnalysisTest, AFollowerIsOfferedOnlyForARunInTraining) {
  write_run(folder() / "runs" / "bare", 20);
  ASSERT_TRUE(window_->open_run((folder() / "runs" / "bare").string()));
  window_->show_page("stability");
  for (auto* box : stability().findChildren<QCheckBox*>()) {
    EXPECT_FALSE(box->text() == "follow training" && box->isVisible());
  }
}

TEST_F(LiveAnalysisTest, TheResidualStreamIsFollowedOverTheTraining) {
  train();
  auto& channel = *window_->findChild<app::ChannelPage*>();
  channel.settings().set_values({{"rows", 4}});
  window_->show_page("channel");
  ASSERT_TRUE(QTest::qWaitFor([&] { return channel.measurement() != nullptr && !channel.busy(); }, 20'000));
  const std::int64_t first = channel.measurement()->step;
  app::LadderHistory history;
  history.add(*channel.measurement());
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->controller().now().step > first; }, 20'000));
  press(Qt::Key_6, Qt::ControlModifier | Qt::AltModifier);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !channel.busy(); }, 20'000));
  history.add(*channel.measurement());
  const auto series = history.series(channel.measurement()->key, 1);
  ASSERT_EQ(series.size(), 2U);
  ASSERT_EQ(series[0].x.size(), 2U);
  EXPECT_EQ(series[0].x[0], static_cast<double>(first));
  EXPECT_GT(series[0].y[1], 0);
}

}  // namespace
}  // namespace app_tests
