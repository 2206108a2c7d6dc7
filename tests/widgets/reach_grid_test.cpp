#include "widgets/reach_grid.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <set>

namespace {

using engine::Cell;
using engine::Clock;
using widgets::ReachGrid;

class ReachGridTest : public ::testing::Test {
 protected:
  ReachGridTest() {
    grid_.resize(420, 360);
    grid_.set_title("Standard");
    grid_.set_grid({8, 6});
    grid_.set_instant(Clock::inference, {6, 2});
    QObject::connect(&grid_, &ReachGrid::cell_chosen, &grid_, [this](Cell cell) {
      chosen_.push_back(cell);
      grid_.set_instant(Clock::inference, cell);
    });
  }
  /// Number of colours in the middle of a cell: an empty one has one, a symbol makes more.
  int colors_in(Cell cell) {
    const QImage picture = grid_.grab().toImage();
    const QRect area = grid_.cell_rect(cell).adjusted(8, 8, -8, -8).toRect();
    std::set<QRgb> seen;
    for (int y = area.top(); y < area.bottom(); ++y) {
      for (int x = area.left(); x < area.right(); ++x) seen.insert(picture.pixel(x, y));
    }
    return static_cast<int>(seen.size());
  }

  ReachGrid grid_;
  std::vector<Cell> chosen_;
};

TEST_F(ReachGridTest, CountsWhatTheoryCounts) {
  EXPECT_TRUE(grid_.counts().contains("reachable 14,")) << grid_.counts().toStdString();
  EXPECT_TRUE(grid_.counts().contains("out of reach 30"));
  grid_.set_instant(Clock::latent_feedback, {6, 2});
  EXPECT_TRUE(grid_.counts().contains("reachable 44,")) << grid_.counts().toStdString();
  EXPECT_TRUE(grid_.counts().contains("out of reach 0"));
}

TEST_F(ReachGridTest, ArrowKeysMoveTheCellAndStopAtTheEdges) {
  QTest::keyClick(&grid_, Qt::Key_Right);
  QTest::keyClick(&grid_, Qt::Key_Right);
  QTest::keyClick(&grid_, Qt::Key_Up);
  QTest::keyClick(&grid_, Qt::Key_Down);
  EXPECT_EQ(chosen_, (std::vector<Cell>{{7, 2}, {7, 3}, {7, 2}}));
}

TEST_F(ReachGridTest, TheCellUnderThePointerIsChosen) {
  for (const Cell cell : {Cell{0, 0}, Cell{7, 6}, Cell{3, 5}}) {
    EXPECT_EQ(grid_.cell_at(grid_.cell_rect(cell).center()), cell);
    QTest::mouseClick(&grid_, Qt::LeftButton, {}, grid_.cell_rect(cell).center().toPoint());
    EXPECT_EQ(grid_.cell(), cell);
  }
  EXPECT_FALSE(grid_.cell_at({1, 1}).has_value());
}

TEST_F(ReachGridTest, SymbolsTellTheStatesApartWithoutColour) {
  EXPECT_EQ(colors_in({7, 3}), 1) << "not computed: empty";
  EXPECT_GT(colors_in({2, 0}), 1) << "reachable: a dot";
  EXPECT_GT(colors_in({2, 4}), 1) << "out of reach: a cross";
}

TEST_F(ReachGridTest, TheStaircaseGrowsByOnePosition) {
  grid_.set_staircase(0, false);
  EXPECT_TRUE(grid_.counts().contains("exact positions 1"));
  grid_.set_staircase(3, false);
  EXPECT_TRUE(grid_.counts().contains("exact positions 4"));
  EXPECT_TRUE(grid_.describe({3, 0}).contains("exact since this pass"));
  EXPECT_TRUE(grid_.describe({4, 6}).contains("still moving"));
  grid_.set_staircase(3, true);
  EXPECT_TRUE(grid_.counts().contains("exact positions 3"));
}

TEST_F(ReachGridTest, ExportsACellALine) {
  const auto table = grid_.figure_table();
  EXPECT_EQ(table.rows.size(), 56U);
  EXPECT_EQ(table.rows.at(0).at(0), "1") << "positions count from 1";
}

TEST_F(ReachGridTest, WithoutAGridItSaysWhy) {
  grid_.set_grid({});
  grid_.set_empty_text("no run");
  QTest::keyClick(&grid_, Qt::Key_Right);
  EXPECT_TRUE(chosen_.empty());
  EXPECT_FALSE(grid_.grab().isNull());
}

}  // namespace
