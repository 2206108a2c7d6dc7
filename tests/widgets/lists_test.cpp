// Run list, run table, schedule strip, tables of numbers, banner, heat map, export panel; and what all widgets share.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <cmath>

#include "cpu_timer.h"
#include "pictures.h"
#include "widgets/banner.h"
#include "widgets/card.h"
#include "widgets/config_form.h"
#include "widgets/export_panel.h"
#include "widgets/heatmap.h"
#include "widgets/pass_schedule_strip.h"
#include "widgets/plot.h"
#include "widgets/run_list.h"
#include "widgets/run_table.h"
#include "widgets/stat_table.h"
#include "widgets/token_strip.h"

namespace {

using namespace widgets;

std::vector<RunRow> many_runs(int count) {
  std::vector<RunRow> runs;
  for (int i = 0; i < count; ++i) {
    runs.push_back({QStringLiteral("/runs/%1").arg(i), QStringLiteral("run %1").arg(i), "done", "", i, 1000, i});
  }
  return runs;
}

TEST(RunListTest, TheModelKeepsItsPromises) {
  RunListModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_runs(many_runs(3));
  model.set_runs(many_runs(5));
  auto changed = many_runs(5);
  changed[2].step = 77;
  QSignalSpy spy(&model, &RunListModel::dataChanged);
  model.set_runs(changed);
  EXPECT_EQ(spy.count(), 1);
  model.set_runs(many_runs(2));
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.data(model.index(1), RunListModel::kCaption).toString(), QString::fromUtf8("step 1 · done"));
}

TEST(RunListTest, SelectionSurvivesUpdatesAndResets) {
  RunList list;
  list.set_runs(many_runs(10));
  list.show();
  list.select("/runs/4");
  EXPECT_EQ(list.current_folder(), "/runs/4");
  auto shuffled = many_runs(10);
  std::rotate(shuffled.begin(), shuffled.begin() + 3, shuffled.end());
  list.set_runs(shuffled);
  EXPECT_EQ(list.current_folder(), "/runs/4");
  EXPECT_EQ(list.selected_folders(), QStringList{"/runs/4"});
}

TEST(RunListTest, KeysMoveAndSelectSeveral) {
  RunList list;
  list.resize(248, 400);
  list.set_runs(many_runs(10));
  list.show();
  list.select("/runs/0");
  QSignalSpy current(&list, &RunList::current_run_changed);
  QTest::keyClick(&list, Qt::Key_Down);
  EXPECT_EQ(list.current_folder(), "/runs/1");
  EXPECT_EQ(current.count(), 1);
  QTest::keyClick(&list, Qt::Key_Down, Qt::ShiftModifier);
  EXPECT_EQ(list.selected_folders(), (QStringList{"/runs/1", "/runs/2"}));
}

TEST(RunListTest, ThreeHundredRunsAreNothing) {
  RunList list;
  list.resize(248, 700);
  list.show();
  CpuTimer timer;
  for (int i = 0; i < 20; ++i) {
    auto runs = many_runs(300);
    runs[5].step = i;
    list.set_runs(runs);
    pictures::render(list);
  }
  EXPECT_LT(timer.elapsed() / 20, 100);
}

TEST(RunTableTest, ShowsOnlyWhatDiffers) {
  RunTable table;
  QAbstractItemModelTester tester(&table.table(), QAbstractItemModelTester::FailureReportingMode::Fatal);
  nlohmann::json first = {{"train", {{"rate", 0.002}, {"steps", 900}}}, {"model", {{"dim", 64}}}};
  nlohmann::json second = first;
  second["train"]["rate"] = 0.001;
  second["extra"] = true;
  table.table().set_runs({{"a", first, 0}, {"b", second, 1}});
  ASSERT_EQ(table.table().rowCount(), 2);
  EXPECT_EQ(table.table().headerData(0, Qt::Vertical, Qt::DisplayRole), "extra");
  EXPECT_EQ(table.table().index(0, 0).data().toString(), QString::fromUtf8("–"));
  EXPECT_EQ(table.table().headerData(1, Qt::Vertical, Qt::DisplayRole), "train.rate");
  EXPECT_EQ(table.table().index(1, 1).data().toString(), "0.001");
  table.table().set_only_differences(false);
  EXPECT_EQ(table.table().rowCount(), 4);
  EXPECT_EQ(table.to_table().rows.size(), 4U);
}

TEST(ScheduleStripTest, SegmentsAreAsWideAsTheirShares) {
  PassScheduleStrip strip;
  strip.resize(400, 30);
  strip.set_schedule({{0.15, 1}, {0.45, 2}, {0.40, 3}}, 900);
  EXPECT_EQ(strip.stage_at({58, 15}), 0);
  EXPECT_EQ(strip.stage_at({62, 15}), 1);
  EXPECT_EQ(strip.stage_at({238, 15}), 1);
  EXPECT_EQ(strip.stage_at({242, 15}), 2);
  EXPECT_TRUE(strip.accessibleDescription().contains("K = 2: 45 %"));
}

TEST(ScheduleStripTest, TheCursorStandsAtTheStep) {
  PassScheduleStrip strip;
  strip.resize(400, 30);
  strip.set_schedule({{1, 1}}, 1000);
  strip.set_step(500);
  strip.show();
  const QImage image = pictures::render(strip);
  int at = -1;
  for (int x = 0; x < 400; ++x) {
    if (image.pixelColor(x, 3) == light_theme().text) at = x;
  }
  EXPECT_NEAR(at, 200, 2);
}

TEST(BannerTest, TheActionRunsOnceAndClosesIt) {
  Banner banner;
  int ran = 0;
  banner.show_message(Severity::error, "The run could not be saved.", "Try again", [&] { ++ran; });
  EXPECT_TRUE(banner.isVisible());
  EXPECT_TRUE(banner.accessibleName().startsWith("Error"));
  auto* button = banner.findChild<QPushButton*>();
  QTest::mouseClick(button, Qt::LeftButton);
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(banner.isVisible());
}

TEST(BannerTest, AnActionMayShowTheNextMessage) {
  Banner banner;
  banner.show_message(Severity::warning, "first", "Go", [&] { banner.show_message(Severity::information, "second"); });
  QTest::mouseClick(banner.findChild<QPushButton*>(), Qt::LeftButton);
  EXPECT_TRUE(banner.isVisible());
  EXPECT_EQ(banner.message(), "second");
  QTest::keyClick(&banner, Qt::Key_Escape);
  EXPECT_FALSE(banner.isVisible());
}

class HeatmapTest : public ::testing::Test {
 protected:
  HeatmapTest() {
    map.resize(420, 280);
    map.set_title("Update norm");
    map.set_axes("position t", "pass k", "norm");
    map.set_matrix({2, 4, {1e-4, 1e-2, 1, 100, 0, 0, std::nan(""), 1}});
    map.show();
  }
  QColor color(int column, int row) {
    return pictures::render(map).pixelColor(map.cell_rect({column, row}).center().toPoint());
  }
  Heatmap map;
};

TEST_F(HeatmapTest, LargerIsStrongerAndRowZeroIsAtTheBottom) {
  map.set_log(true);
  for (int column = 1; column < 4; ++column) {
    EXPECT_GT(contrast(color(column, 0), light_theme().card), contrast(color(column - 1, 0), light_theme().card));
  }
  EXPECT_GT(map.cell_rect({0, 0}).top(), map.cell_rect({0, 1}).top());
}

TEST_F(HeatmapTest, ExactZerosAreHatchedOnALogScaleAndMissingCellsEmpty) {
  map.set_log(true);
  const QImage image = pictures::render(map);
  const auto hatched = [&](const QPoint& cell) {
    return pictures::pixels_of(image.copy(map.cell_rect(cell).toRect().adjusted(3, 3, -3, -3)),
                               light_theme().secondary);
  };
  EXPECT_GT(hatched({0, 1}), 50);
  EXPECT_EQ(hatched({2, 1}), 0);
  EXPECT_EQ(color(2, 1), light_theme().ground);  // nothing is painted there
}

TEST_F(HeatmapTest, KeysMoveTheCellAndItsValueIsTold) {
  map.set_origin(1, 1);
  QTest::keyClick(&map, Qt::Key_Right);
  EXPECT_EQ(*map.current(), QPoint(0, 0));
  QTest::keyClick(&map, Qt::Key_Right);
  QTest::keyClick(&map, Qt::Key_Up);
  EXPECT_EQ(*map.current(), QPoint(1, 1));
  EXPECT_TRUE(map.accessibleDescription().contains("exactly 0"));
  EXPECT_TRUE(map.accessibleDescription().contains("position t 2"));
  QTest::keyClick(&map, Qt::Key_Escape);
  EXPECT_FALSE(map.current());
}

TEST_F(HeatmapTest, HoverFindsTheCell) {
  EXPECT_EQ(*map.cell_at(map.cell_rect({3, 1}).center()), QPoint(3, 1));
  EXPECT_FALSE(map.cell_at({1, 1}));
}

TEST(ExportPanelTest, TellsFormatSizeAndMetadata) {
  ExportPanel panel;
  panel.set_figures({"Loss", "Rate"});
  panel.set_metadata({{"run", "a"}});
  QSignalSpy wanted(&panel, &ExportPanel::export_requested);
  const QList<QComboBox*> boxes = panel.findChildren<QComboBox*>();
  boxes[0]->setCurrentIndex(1);
  boxes[1]->setCurrentIndex(2);
  boxes[2]->setCurrentIndex(1);
  EXPECT_EQ(panel.figure(), 1);
  EXPECT_EQ(panel.options().format, FigureFormat::png);
  EXPECT_EQ(panel.options().width_mm, 85);
  EXPECT_EQ(panel.options().metadata.size(), 1U);
  boxes[1]->setCurrentIndex(3);
  EXPECT_FALSE(boxes[2]->isEnabled());  // a table has no size
  QTest::mouseClick(panel.findChildren<QPushButton*>()[0], Qt::LeftButton);
  EXPECT_EQ(wanted.count(), 1);
}

// Every control can be reached by Tab and has a name for screen readers.
TEST(Accessibility, ControlsHaveNamesAndTakeTheKeyboard) {
  QWidget page;
  auto* plot = new Plot(&page);
  plot->set_title("Loss");
  auto* map = new Heatmap(&page);
  map->set_title("Norm");
  auto* banner = new Banner(&page);
  banner->show_message(Severity::warning, "sentence", "Act", [] {});
  new TokenStrip(&page);
  (new RunList(&page))->set_runs(many_runs(2));
  new RunTable(&page);
  new ExportPanel(&page);
  (new ConfigForm(&page))->set_expanded(true);
  page.show();
  int controls = 0;
  for (const QWidget* widget : page.findChildren<QWidget*>()) {
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
    const bool inner = widget->objectName().startsWith("qt_") || widget->inherits("QScrollBar") ||
                       widget->inherits("QHeaderView") || widget->inherits("QTableCornerButton") ||
                       widget->inherits("QComboBoxPrivateContainer");
    if (inner || widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) continue;
    ++controls;
    EXPECT_TRUE(named) << widget->metaObject()->className() << " " << widget->objectName().toStdString();
    EXPECT_TRUE(widget->focusPolicy() & Qt::TabFocus) << widget->metaObject()->className();
  }
  EXPECT_GT(controls, 60);
}

}  // namespace
