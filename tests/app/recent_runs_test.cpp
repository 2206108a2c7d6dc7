// Runs that were opened lately, in the menu; and what an exported figure says of its measurement.
#include <QFile>
#include <QMenu>
#include <QSpinBox>

#include "app/channel_page.h"
#include "app/export_menu.h"
#include "tests/app/sample_model.h"
#include "tests/app/window_fixture.h"

namespace app_tests {
namespace {

class RecentRunsTest : public WindowTest {
 protected:
  QMenu* menu(const QString& title) {
    for (auto* candidate : window_->findChildren<QMenu*>()) {
      if (candidate->title() == title) return candidate;
    }
    return nullptr;
  }
  [[nodiscard]] std::string run(const std::string& name) const { return (folder() / "runs" / name).string(); }
};

TEST_F(RecentRunsTest, TheNewestIsFirstAndOpensAgain) {
  open();
  QMenu* recent = menu("Recent runs");
  ASSERT_NE(recent, nullptr);
  emit recent->aboutToShow();
  ASSERT_EQ(recent->actions().size(), 1);
  EXPECT_FALSE(recent->actions()[0]->isEnabled()) << "none yet";
  for (const char* name : {"first", "模型 ünï"}) {
    write_run(run(name), 10);
    ASSERT_TRUE(window_->open_run(run(name)));
  }
  emit recent->aboutToShow();
  ASSERT_EQ(recent->actions().size(), 2);
  EXPECT_EQ(recent->actions()[0]->text(), "模型 ünï");
  recent->actions()[1]->trigger();
  EXPECT_EQ(window_->current_run(), run("first"));
}

TEST_F(RecentRunsTest, AnExportedFigureSaysWhatItWasMeasuredOn) {
  write_run(run("noise"), 20);
  auto chosen = options();
  chosen.run = run("noise");
  chosen.open_analysis = sample_model;
  open(chosen);
  auto& page = *window_->findChild<app::ChannelPage*>();
  page.settings().set_values({{"rows", 6}, {"seed", 9}});
  window_->show_page("channel");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !page.busy() && page.measurement() != nullptr; }, 60'000));
  const QString file = dir_.filePath("costs.csv");
  window_->findChild<app::ExportMenu*>()->write(*page.figures().front(), widgets::FigureFormat::csv, file);
  QFile csv(file);
  ASSERT_TRUE(csv.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(csv.readAll());
  for (const char* line : {"# step: 60", "# rows: 6", "# measuring seed: 9", "# run: ab12", "# seed: 7"}) {
    EXPECT_TRUE(text.contains(line)) << line << " in\n" << text.toStdString();
  }
}

}  // namespace
}  // namespace app_tests
