// Caches and likelihoods of rollouts through the window: held-out prompts, a finished rollout, and numbers of passes.
#include "app/cache_page.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>

#include "app/analysis_model.h"
#include "app/run_library.h"
#include "tests/app/analysis_page_fixture.h"
#include "widgets/number_table.h"

namespace app_tests {
namespace {

class CachePageTest : public AnalysisPageTest<app::CachePage> {
 protected:
  void type_passes(const QString& text) {
    auto* line = named<QLineEdit>("Numbers of parallel passes");
    line->setFocus();
    line->clear();
    QTest::keyClicks(line, text);
  }
};

TEST_F(CachePageTest, MorePassesComeNearerUntilRoundingIsLeft) {
  open_noise();
  page().settings().set_values({{"rows", 3}, {"max_tokens", 10}, {"passes", "1, 2, 12"}});
  press(Qt::Key_9, Qt::ControlModifier);
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  const app::CacheResult& result = *page().result();
  ASSERT_EQ(result.rebuild.passes, (std::vector<int>{1, 2, 12}));
  EXPECT_LT(result.rebuild.key_error[1].value, result.rebuild.key_error[0].value);
  EXPECT_LT(result.rebuild.key_error[2].value, 1e-5) << "as many passes as positions are exact";
  EXPECT_LT(result.likelihood.absolute_error[2].value, 1e-4);
  EXPECT_GT(result.likelihood.absolute_error[0].value, 1e-4);
  picture("cache");
  for (const widgets::FigureSource* figure : page().figures()) {
    EXPECT_FALSE(figure->figure_table().rows.empty()) << figure->figure_title().toStdString();
    EXPECT_FALSE(widgets::render_figure(*figure, {}).isEmpty());
  }
}

TEST_F(CachePageTest, TheLastTokenHasNoCacheEntry) {
  open_noise();
  page().settings().set_values({{"rows", 1}, {"max_tokens", 5}, {"passes", "1"}});
  window_->show_page("cache");
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  const auto rows = app::position_rows(*page().result());
  ASSERT_GT(rows.size(), 5U);
  EXPECT_EQ(rows.back().cells[2].text, "no");
  EXPECT_EQ(rows.back().cells[3].text, "–");
  EXPECT_EQ(rows[rows.size() - 2].cells[2].text, "yes");
  EXPECT_EQ(rows.front().cells[1].text, "prompt");
}

TEST_F(CachePageTest, AFinishedRolloutIsMeasured) {
  auto chosen = options();
  chosen.run = "demo";
  chosen.open_decoder = nullptr;  // the real one
  open(chosen);
  if (!window_->library().has_demo()) return;  // a build without the shipped model has nothing to check here
  window_->show_page("rollouts");
  window_->rollouts_page().run_example();
  ASSERT_TRUE(QTest::qWaitFor([&] { return window_->rollouts_page().finished().size() == 3; }, 10'000));
  auto* button = named<QPushButton>("Rebuild the cache of a finished rollout");
  ASSERT_NE(button, nullptr);
  ASSERT_TRUE(button->isEnabled());
  emit button->menu()->aboutToShow();
  ASSERT_EQ(button->menu()->actions().size(), 3);
  button->menu()->actions()[1]->trigger();  // Soft
  EXPECT_TRUE(page().isVisible());
  ASSERT_TRUE(rests());
  ASSERT_TRUE(page().result()) << message().toStdString();
  const engine::Rollout soft = window_->rollouts_page().finished()[1];
  EXPECT_EQ(page().result()->rebuild.response_positions, static_cast<std::int64_t>(soft.tokens.size()) - 1);
  double sum = 0;
  for (const engine::RolloutToken& token : soft.tokens) sum += token.logprob;
  EXPECT_NEAR(page().result()->likelihood.sequential.value, sum / static_cast<double>(soft.tokens.size()), 1e-4);
}

TEST_F(CachePageTest, PassesThatAreNoneAreASentence) {
  open_noise();
  page().settings().set_values({{"rows", 1}});
  window_->show_page("cache");
  ASSERT_TRUE(rests());
  type_passes("0, 2");
  press(Qt::Key_7, Qt::ControlModifier | Qt::AltModifier);
  EXPECT_TRUE(message().contains("whole numbers from 1")) << message().toStdString();
}

}  // namespace
}  // namespace app_tests
