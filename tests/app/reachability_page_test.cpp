#include "app/reachability_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSlider>

#include "tests/app/sample_model.h"
#include "tests/app/window_fixture.h"
#include "widgets/heatmap.h"
#include "widgets/reach_grid.h"

namespace app_tests {
namespace {

using engine::Cell;

class ReachabilityPageTest : public WindowTest {
 protected:
  void open_page() {
    write_run(folder() / "runs" / "one", 20);
    app::WindowOptions fake = options();
    fake.open_analysis = sample_model;
    fake.run = (folder() / "runs" / "one").string();
    open(fake);
    page_ = window_->findChild<app::ReachabilityPage*>();
    press(Qt::Key_2, Qt::ControlModifier);
    ASSERT_TRUE(page_->isVisible());
    ASSERT_TRUE(QTest::qWaitFor([&] { return page_->result().has_value() && !page_->busy(); }, 60'000));
  }
  bool measured_at(Cell cell) {
    return QTest::qWaitFor([&] { return !page_->busy() && page_->result()->cell == cell; }, 60'000);
  }
  QString words() { return named<QLabel>("What you see")->text(); }

  app::ReachabilityPage* page_ = nullptr;
};

TEST_F(ReachabilityPageTest, OpensWithTheModelsOwnGridAndAMeasurement) {
  open_page();
  const auto& grid = page_->clock().grid();
  EXPECT_EQ(grid.layers, 2);
  EXPECT_GT(grid.positions, 4);
  EXPECT_EQ(page_->clock().cell(), page_->result()->cell);
  EXPECT_EQ(page_->figures().size(), 3U);
  EXPECT_TRUE(words().contains("exactly 0"));
  picture("reachability");
}

TEST_F(ReachabilityPageTest, WhatTheoryPutsOutOfReachIsMeasuredAsExactlyZero) {
  open_page();
  auto* mode = named<QComboBox>("Decoding mode that is measured");
  for (const int choice : {0, 1}) {
    mode->setCurrentIndex(choice);
    const auto wanted = static_cast<engine::DecodeMode>(mode->currentData().toInt());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !page_->busy() && page_->result()->mode == wanted; }, 60'000));
    const app::ReachResult& result = *page_->result();
    const auto clock = choice == 0 ? engine::Clock::inference : engine::Clock::latent_feedback;
    const engine::ReachGrid grid{result.map.positions, result.map.layers};
    for (std::int64_t position = 0; position < grid.positions; ++position) {
      for (std::int64_t depth = 0; depth <= grid.layers; ++depth) {
        const auto state = engine::cell_state(clock, grid, result.cell, {position, depth});
        const bool read = state == engine::CellState::direct || state == engine::CellState::reachable;
        EXPECT_EQ(result.map.at({position, depth}) != 0, read) << "t " << position << ", depth " << depth;
      }
    }
    EXPECT_EQ(app::tally(result).zeros > 0, choice == 0) << "only Standard leaves cells unread";
  }
}

TEST_F(ReachabilityPageTest, TheArrowKeysMoveBothGridsAndTheMeasurementFollows) {
  open_page();
  const Cell before = page_->clock().cell();
  auto* standard = named<widgets::ReachGrid>("Standard");
  auto* latent = named<widgets::ReachGrid>("Latent feedback");
  standard->setFocus();
  QTest::keyClick(standard, Qt::Key_Left);
  const Cell after{before.position - 1, before.depth};
  EXPECT_EQ(standard->cell(), after);
  EXPECT_EQ(latent->cell(), after);
  ASSERT_TRUE(measured_at(after)) << "a cell that is stayed at is measured";
}

TEST_F(ReachabilityPageTest, StepScrubAndPlayShareOneClock) {
  open_page();
  auto* scrub = named<QSlider>("Instant");
  const int before = scrub->value();
  action("One instant back")->trigger();
  EXPECT_EQ(scrub->value(), before - 1);
  action("One instant on")->trigger();
  EXPECT_EQ(scrub->value(), before);
  scrub->setValue(0);
  EXPECT_EQ(page_->clock().cell(), (Cell{0, 0}));
  action("Play the order")->trigger();
  EXPECT_TRUE(page_->playing());
  ASSERT_TRUE(QTest::qWaitFor([&] { return scrub->value() >= 3; }, 10'000));
  action("Pause the order")->trigger();
  EXPECT_FALSE(page_->playing());
  EXPECT_EQ(page_->clock().cell(), (Cell{scrub->value() / 3, scrub->value() % 3})) << "three depths a token";
}

TEST_F(ReachabilityPageTest, TrainingGoesByDepthsAndByPasses) {
  open_page();
  auto* scrub = named<QSlider>("Instant");
  action("Next order of computing")->trigger();
  EXPECT_EQ(scrub->maximum(), 2) << "a depth at a time";
  action("Next order of computing")->trigger();
  EXPECT_EQ(scrub->maximum(), page_->clock().grid().positions - 1) << "a position a pass";
  scrub->setValue(scrub->maximum());
  EXPECT_TRUE(named<widgets::ReachGrid>("Latent feedback, in training")->counts().contains("still moving 0"));
  picture("reachability-passes");
}

TEST_F(ReachabilityPageTest, WithoutARunItSaysWhatToDo) {
  open_page();
  page_->show_runs({});
  EXPECT_TRUE(words().contains("select one at the left"));
  EXPECT_FALSE(action("Play the order")->isEnabled());
  action("Next order of computing")->trigger();
  picture("reachability-empty");
}

}  // namespace
}  // namespace app_tests
