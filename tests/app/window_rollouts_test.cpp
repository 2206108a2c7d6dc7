// Rollouts through the window, and what holds for the whole window: layout, themes, keyboard, names.
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QLabel>
#include <QLocale>
#include <QPlainTextEdit>
#include <QScrollArea>
#include <set>

#include "app/command_palette.h"
#include "app/help_panel.h"
#include "app/rollout_column.h"
#include "app/training_charts.h"
#include "app/training_page.h"
#include "tests/app/window_fixture.h"
#include "widgets/banner.h"
#include "widgets/plot.h"

namespace app_tests {
namespace {

using namespace std::chrono_literals;

class WindowRolloutsTest : public WindowTest {
 protected:
  std::filesystem::path run_ = {};
  void open_with_run(std::int64_t steps = 40, std::int64_t nan_every = 0) {
    run_ = folder() / "runs" / "模型 ünï";
    write_run(run_, steps, nan_every);
    auto chosen = options();
    chosen.run = run_.string();
    open(chosen);
  }
  void run_prompt(const QString& text) {
    window_->show_page("rollouts");
    auto* prompt = named<QPlainTextEdit>("Prompt");
    prompt->setFocus();
    prompt->clear();
    QTest::keyClicks(prompt, text);
    QTest::keyClick(prompt, Qt::Key_Return, Qt::ControlModifier);
  }
  bool rests() {
    return QTest::qWaitFor([&] { return !window_->rollouts_page().busy(); }, 5000);
  }
};

TEST_F(WindowRolloutsTest, ThreeColumnsStreamAndPart) {
  open_with_run();
  run_prompt("state = 1");
  ASSERT_TRUE(rests());
  const auto finished = window_->rollouts_page().finished();
  ASSERT_EQ(finished.size(), 3U);
  EXPECT_EQ(finished[0].request.mode, engine::DecodeMode::standard);
  EXPECT_EQ(finished[2].tokens.size(), 64U);
  bool said = false;
  for (auto* label : window_->findChildren<QLabel*>()) said |= label->text() == "First divergence at token 4";
  EXPECT_TRUE(said);
}

TEST_F(WindowRolloutsTest, AnEmptyPromptIsAnErrorInThePage) {
  open_with_run();
  run_prompt("");
  ASSERT_TRUE(rests());
  EXPECT_TRUE(window_->rollouts_page().findChild<widgets::Banner*>()->message().contains("is empty"));
}

TEST_F(WindowRolloutsTest, RunBecomesCancelWhileDecoding) {
  token_time_ = 2ms;
  open_with_run();
  run_prompt("state");
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->rollouts_page().run_action()->text().startsWith("Cancel"); }));
  QTest::qWait(30);
  window_->rollouts_page().run_action()->trigger();
  ASSERT_TRUE(rests());
  ASSERT_FALSE(window_->rollouts_page().finished().empty());
  EXPECT_EQ(window_->rollouts_page().finished().front().stop, engine::StopReason::cancelled);
}

TEST_F(WindowRolloutsTest, AMissingRunIsASentence) {
  auto chosen = options();
  chosen.run = (folder() / "nowhere").string();
  open(chosen);
  bool said = false;
  for (auto* banner : window_->findChildren<widgets::Banner*>()) said |= banner->message().contains("nowhere");
  EXPECT_TRUE(said);
}

TEST_F(WindowRolloutsTest, NonFiniteLossesBreakTheCurveAndAreCounted) {
  open_with_run(60, 5);
  auto* charts = window_->findChild<app::TrainingCharts*>();
  charts->update_now();
  EXPECT_EQ(charts->plots().front()->counts().non_finite, 12);
}

TEST_F(WindowRolloutsTest, ViewChangesAreUndoneAndRedone) {
  open_with_run();
  action("Logarithmic y axis")->trigger();
  QTest::qWait(600);  // a change is remembered when it has settled
  EXPECT_FALSE(window_->training_page().view().log_y);
  press(Qt::Key_Z, Qt::ControlModifier);
  EXPECT_TRUE(window_->training_page().view().log_y);
  press(Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  EXPECT_FALSE(window_->training_page().view().log_y);
}

TEST_F(WindowRolloutsTest, EveryActionHasAShortcutAndNoTwoShareOne) {
  open();
  std::set<QString> seen;
  for (const QAction* action : window_->actions_of_window()) {
    const QString keys = action->shortcut().toString();
    EXPECT_FALSE(keys.isEmpty()) << action->text().toStdString();
    EXPECT_TRUE(seen.insert(keys).second) << keys.toStdString() << ": " << action->text().toStdString();
  }
}

TEST_F(WindowRolloutsTest, ThePaletteRunsAnActionByName) {
  open_with_run();
  press(Qt::Key_K, Qt::ControlModifier);
  auto* palette = window_->findChild<app::CommandPalette*>();
  ASSERT_TRUE(palette->isVisible());
  QTest::keyClicks(QApplication::focusWidget(), "log y axis");
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
  EXPECT_FALSE(palette->isVisible());
  EXPECT_FALSE(window_->training_page().view().log_y);
  press(Qt::Key_K, Qt::ControlModifier);
  QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
  EXPECT_FALSE(palette->isVisible());
}

TEST_F(WindowRolloutsTest, EveryControlHasAName) {
  open_with_run();
  for (const char* page :
       {"training", "reachability", "probes", "stability", "rollouts", "batch", "cache", "channel"}) {
    window_->show_page(page);
    for (QWidget* widget : window_->findChildren<QWidget*>()) {
      if (!widget->isVisible() || widget->focusPolicy() == Qt::NoFocus) continue;
      if (widget->objectName().startsWith("qt_")) continue;  // parts of Qt's own widgets
      const auto* button = qobject_cast<QAbstractButton*>(widget);
      EXPECT_FALSE(widget->accessibleName().isEmpty() && (button == nullptr || button->text().isEmpty()))
          << page << ": " << widget->metaObject()->className() << " " << widget->objectName().toStdString();
    }
  }
}

TEST_F(WindowRolloutsTest, TheKeyboardReachesEveryControl) {
  open_with_run();
  window_->show_page("rollouts");
  window_->activateWindow();
  std::set<QWidget*> reached;
  for (int i = 0; i < 200; ++i) {
    QTest::keyClick(QApplication::focusWidget() != nullptr ? QApplication::focusWidget() : window_.get(), Qt::Key_Tab);
    reached.insert(QApplication::focusWidget());
  }
  EXPECT_TRUE(reached.contains(named<QPlainTextEdit>("Prompt")));
  EXPECT_TRUE(reached.contains(named<QComboBox>("Sampler")));
  EXPECT_TRUE(reached.contains(named<QPushButton>("Run the rollouts")));
  EXPECT_TRUE(reached.contains(named<QPushButton>("Menu")));
}

// ---- layout ---------------------------------------------------------------------------------------------------------

bool in_scroll_area(const QWidget* widget) {
  for (const QWidget* parent = widget->parentWidget(); parent != nullptr; parent = parent->parentWidget()) {
    if (qobject_cast<const QAbstractScrollArea*>(parent) != nullptr) return true;
  }
  return false;
}

/// Labels cut off, and widgets that stick out of what holds them.
void expect_nothing_clipped(const QWidget& window, const std::string& where) {
  for (const QWidget* widget : window.findChildren<QWidget*>()) {
    if (!widget->isVisible() || widget->isWindow()) continue;
    const QString name = QString("%1 '%2'").arg(widget->metaObject()->className(), widget->accessibleName());
    const auto* label = qobject_cast<const QLabel*>(widget);
    if (label != nullptr && !label->wordWrap()) {
      EXPECT_GE(label->width() + 1, label->sizeHint().width()) << where << ": " << label->text().toStdString();
    }
    const auto* button = qobject_cast<const QPushButton*>(widget);
    if (button != nullptr) {
      EXPECT_GE(button->width() + 1, button->minimumSizeHint().width())
          << where << ": " << button->text().toStdString();
    }
    const auto* area = qobject_cast<const QScrollArea*>(widget);
    if (area != nullptr && area->widget() != nullptr) {
      EXPECT_LE(area->widget()->width(), area->viewport()->width()) << where << ": " << name.toStdString();
    }
    if (in_scroll_area(widget)) continue;
    EXPECT_TRUE(widget->parentWidget()->rect().adjusted(-1, -1, 1, 1).contains(widget->geometry()))
        << where << ": " << name.toStdString() << " leaves its parent";
  }
}

class WindowSizes : public WindowRolloutsTest, public ::testing::WithParamInterface<std::pair<int, int>> {};

TEST_P(WindowSizes, ClipNothing) {
  open_with_run();
  run_prompt("state = 1");
  ASSERT_TRUE(rests());
  window_->resize(GetParam().first, GetParam().second);
  for (const char* page :
       {"training", "reachability", "probes", "stability", "rollouts", "batch", "cache", "channel"}) {
    window_->show_page(page);
    QTest::qWait(50);
    EXPECT_EQ(window_->width(), GetParam().first) << "the content must not push the window wider";
    expect_nothing_clipped(*window_, page);
    picture(page + std::to_string(window_->width()));
  }
}

INSTANTIATE_TEST_SUITE_P(From1024To4K, WindowSizes,
                         ::testing::Values(std::pair(1024, 700), std::pair(1440, 900), std::pair(1920, 1080),
                                           std::pair(3840, 2160)));

TEST_F(WindowRolloutsTest, TheThemeChangesLiveAndEverywhere) {
  open_with_run();
  for (const bool dark : {true, false}) {
    action(dark ? "Dark theme" : "Light theme")->trigger();
    QTest::qWait(100);
    for (const char* page :
         {"training", "reachability", "probes", "stability", "rollouts", "batch", "cache", "channel"}) {
      window_->show_page(page);
      window_->training_page().update_now();
      const QImage picture = window_->grab().toImage();
      int light = 0;
      for (int y = 0; y < picture.height(); y += 7) {
        for (int x = 0; x < picture.width(); x += 7) light += picture.pixelColor(x, y).lightness() > 128 ? 1 : 0;
      }
      const double share = 49.0 * light / (picture.width() * picture.height());
      EXPECT_TRUE(dark ? share < 0.1 : share > 0.85) << page << (dark ? " dark " : " light ") << share;
    }
  }
}

TEST_F(WindowRolloutsTest, AGermanLocaleLeavesNumbersAlone) {
  QLocale::setDefault(QLocale(QLocale::German));
  open_with_run();
  window_->show_page("rollouts");
  for (auto* box : window_->findChildren<QAbstractSpinBox*>()) {
    EXPECT_FALSE(box->text().contains(',')) << box->text().toStdString();
  }
  QLocale::setDefault(QLocale::c());
}

TEST_F(WindowRolloutsTest, HelpOpensOnTheRightPage) {
  open();
  window_->show_page("rollouts");
  press(Qt::Key_F1);
  auto* help = window_->findChild<app::HelpPanel*>();
  EXPECT_TRUE(help->isVisible());
  EXPECT_EQ(help->page(), "rollouts");
  press(Qt::Key_F1);
  EXPECT_FALSE(help->isVisible());
}

}  // namespace
}  // namespace app_tests
