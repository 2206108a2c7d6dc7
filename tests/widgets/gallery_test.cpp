// Every widget in both themes: shown, painted, nothing cut; with FULLBAND_PICTURES=folder the pictures stay to be
// looked at (QT_SCALE_FACTOR=1.5 for the other scale).
#include <gtest/gtest.h>

#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>
#include <QVBoxLayout>
#include <cmath>
#include <random>

#include "pictures.h"
#include "widgets/banner.h"
#include "widgets/card.h"
#include "widgets/config_form.h"
#include "widgets/export_panel.h"
#include "widgets/heatmap.h"
#include "widgets/numbers.h"
#include "widgets/pass_schedule_strip.h"
#include "widgets/plot.h"
#include "widgets/run_list.h"
#include "widgets/run_table.h"
#include "widgets/stat_table.h"
#include "widgets/style.h"
#include "widgets/token_strip.h"

namespace {

using namespace widgets;

engine::Rollout rollout(engine::DecodeMode mode) {
  engine::Rollout result;
  result.request.mode = mode;
  result.prompt_bytes = {"13", "7", " /", " 5", "00", " ="};
  result.prompt_tokens = {13, 7, 40, 5, 42, 43};
  std::mt19937 random(static_cast<unsigned>(mode) + 3);
  std::exponential_distribution<float> surprise(1.3F);
  for (const char* piece : {" 0",   ".",  "step", " 2", " rem", " 370", "\n", "step", " 7",  " rem", " 200", "\n",
                            "step", " 4", " rem", " 0", "\n",   "ans",  " 0", ".",    "274", "\t",   "é",    ""}) {
    engine::RolloutToken token;
    token.id = piece[0] ? piece[0] : 63;
    token.bytes = piece;
    token.logprob = -surprise(random);
    token.entropy = surprise(random);
    token.milliseconds = 0.21;
    result.tokens.push_back(token);
  }
  return result;
}

std::vector<RunRow> runs() {
  return {{"a", "completion+memory", "done", "", 900, 900, 0},
          {"b", "two-pass only", "done", "", 700, 900, 1},
          {"c", "standard baseline", "failed", "metrics.jsonl line 12 is cut", 900, 900, 3},
          {"d", "a running sum mod 3 with a very long name", "training", "", 412, 900, 2}};
}

Series loss(int pass, int from) {
  std::mt19937 random(static_cast<unsigned>(pass));
  std::normal_distribution<double> noise(0, 0.05);
  Series series;
  series.label = "pass " + std::to_string(pass);
  series.style.role = Role::pass;
  series.style.pass = pass;
  for (int step = from; step < 900; ++step) {
    series.x.push_back(step);
    series.y.push_back((0.16 + 1.3 * std::exp(-(step - from) / 90.0)) * std::exp(noise(random)));
  }
  return series;
}

// A page like the training page.
std::unique_ptr<QWidget> training_page() {
  auto page = std::make_unique<QWidget>();
  page->setObjectName("page");
  auto* row = new QHBoxLayout(page.get());
  row->setContentsMargins(16, 16, 16, 16);
  row->setSpacing(12);
  auto* left = new QVBoxLayout;
  left->setSpacing(12);
  auto* banner = new Banner;
  banner->show_message(Severity::warning, "Step 412: blocks.2.attention.wq is not finite; lower the rate or go back.",
                       "Back to step 400", [] {});
  left->addWidget(banner);
  auto* loss_card = new Card;
  auto* plot = new Plot;
  plot->set_title("Training loss by pass");
  plot->set_axes("step", "loss (nats)");
  plot->set_series({loss(1, 0), loss(2, 140), loss(3, 540)});
  plot->set_view({false, true, 0.6, false});
  loss_card->body()->addWidget(plot);
  left->addWidget(loss_card, 3);
  auto* schedule = new Card("Passes per step");
  schedule->set_heading_style();
  auto* strip = new PassScheduleStrip;
  strip->set_schedule({{0.15, 1}, {0.45, 2}, {0.40, 3}}, 900);
  strip->set_step(558);
  schedule->body()->addWidget(strip);
  left->addWidget(schedule);
  auto* foot = new QHBoxLayout;
  foot->setSpacing(12);
  for (const char* title : {"Validation", "Learning rate"}) {
    auto* card = new Card;
    auto* small = new Plot;
    small->set_title(title);
    small->set_axes("step", title[0] == 'V' ? "loss (nats)" : "rate");
    small->set_empty_text("no data yet: start a training");
    Series series;
    if (title[0] == 'L') {
      series.x = {0, 50, 630, 900};
      series.y = {0, 2e-3, 2e-3, 4e-5};
      small->set_series({series});
    }
    card->body()->addWidget(small);
    foot->addWidget(card);
  }
  left->addLayout(foot, 2);
  row->addLayout(left, 1);
  auto* side = new Card("Recipe");
  side->set_heading_style();
  side->setFixedWidth(338);
  auto* form = new ConfigForm;
  side->body()->addWidget(form);
  static_cast<QLineEdit*>(form->input("model.heads"))->setText("5");
  auto* buttons = new QHBoxLayout;
  auto* start = new QPushButton("Start");
  set_kind(*start, "primary");
  buttons->addWidget(start);
  buttons->addWidget(new QPushButton("Step"));
  buttons->addWidget(new QPushButton("Stop…"));
  buttons->addStretch(1);
  side->body()->addLayout(buttons);
  auto* now = new QLabel("Now");
  set_kind(*now, "heading");
  side->body()->addWidget(now);
  auto* table = new StatTable;
  table->set_rows({{"step", "558 / 900", ""},
                   {"token-equivalents", count_text(3020000), ""},
                   {"loss, pass 1 / 2 / 3", "0.301 / 0.298 / –", ""},
                   {"gradient norm", "0.34", ""},
                   {"remaining", duration_text(72), ""}});
  side->body()->addWidget(table);
  side->body()->addStretch(1);
  row->addWidget(side);
  return page;
}

std::unique_ptr<QWidget> rollouts_page() {
  auto page = std::make_unique<QWidget>();
  auto* row = new QHBoxLayout(page.get());
  row->setContentsMargins(16, 16, 16, 16);
  row->setSpacing(12);
  const Theme& theme = theme_of(page->palette());
  for (const engine::DecodeMode mode :
       {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
    auto* card = new Card(mode_name(mode));
    card->set_marker(mode_color(theme, mode));
    card->set_caption("prefill 1 pass");
    auto* strip = new TokenStrip;
    strip->set_special_names({{63, "<eot>"}});
    strip->set_rollout(rollout(mode));
    if (mode != engine::DecodeMode::standard) strip->set_divergence(3);
    if (mode == engine::DecodeMode::fused) strip->set_current(9);
    card->body()->addWidget(strip, 1);
    auto* stats = new StatRow;
    stats->set_stats({{"tokens", "25", ""}, {"ms/token", "0.21", ""}, {"stop reason", "eot", ""}, {"answer", "✓", ""}});
    card->body()->addWidget(stats);
    row->addWidget(card, 1);
  }
  return page;
}

std::unique_ptr<QWidget> sidebar_page() {
  auto page = std::make_unique<QWidget>();
  auto* row = new QHBoxLayout(page.get());
  row->setContentsMargins(16, 16, 16, 16);
  row->setSpacing(12);
  auto* list = new RunList;
  list->setFixedWidth(248);
  list->set_runs(runs());
  list->select("a");
  row->addWidget(list);
  auto* table_card = new Card("Settings that differ");
  auto* table = new RunTable;
  nlohmann::json other = engine::to_json(engine::Recipe());
  other["train"]["rate"] = 1e-3;
  other["train"]["schedule"] = nlohmann::json::array();
  other["name"] = "two-pass only";
  table->table().set_runs({{"completion+memory", engine::to_json(engine::Recipe()), 0}, {"two-pass only", other, 1}});
  table_card->body()->addWidget(table);
  auto* export_card = new Card("Export figure");
  auto* panel = new ExportPanel;
  panel->set_figures({"Training loss by pass", "Validation"});
  export_card->body()->addWidget(panel);
  auto* middle = new QVBoxLayout;
  middle->addWidget(table_card, 1);
  middle->addWidget(export_card);
  row->addLayout(middle, 1);
  auto* heat_card = new Card;
  auto* heat = new Heatmap;
  heat->set_title("Update norm by position and pass");
  heat->set_axes("position t", "pass k", "‖Δh‖");
  Matrix matrix{12, 40, {}};
  for (int k = 0; k < 12; ++k) {
    for (int t = 0; t < 40; ++t)
      matrix.values.push_back(t < k + 1 ? 0.0 : std::exp(-0.5 * k) * (1 + 0.3 * std::sin(t)));
  }
  MatrixLine front;
  for (int t = 0; t < 40; ++t) front.push_back(t);
  heat->set_log(true);
  heat->set_matrix(matrix);
  heat->set_line(front, "exact up to here");
  heat_card->body()->addWidget(heat);
  row->addWidget(heat_card, 2);
  return page;
}

struct Page {
  const char* name;
  std::unique_ptr<QWidget> (*make)();
};

class Gallery : public ::testing::TestWithParam<Page> {};

TEST_P(Gallery, IsDrawnInBothThemes) {
  for (const Theme* theme : {&light_theme(), &dark_theme()}) {
    const pictures::UseTheme use(*theme);
    const auto page = GetParam().make();
    page->resize(1180, 800);
    page->show();
    QTest::qWait(60);
    const QImage image = pictures::keep(*page, std::string(GetParam().name) + (theme->dark ? "-dark" : "-light"));
    EXPECT_EQ(image.pixelColor(3, 3), theme->ground);
    EXPECT_GT(pictures::pixels_of(image, theme->card, 6), 100000);
    EXPECT_GT(pictures::pixels_of(image, theme->text, 60), 500);
  }
}

// Nothing sticks out of its parent, and no label is cut, from narrow to wide.
TEST_P(Gallery, NothingIsCut) {
  const auto page = GetParam().make();
  for (const QSize size : {QSize(1000, 660), QSize(1400, 900), QSize(2600, 1500)}) {
    page->resize(size);
    page->show();
    QTest::qWait(30);
    for (const QWidget* child : page->findChildren<QWidget*>()) {
      const QWidget* parent = child->parentWidget();
      if (!child->isVisible() || child->isWindow()) continue;
      const bool inside = parent->rect().adjusted(-1, -1, 1, 1).contains(child->geometry());
      const bool scrolled = parent->objectName() == QLatin1String("qt_scrollarea_viewport");
      EXPECT_TRUE(inside || scrolled) << child->metaObject()->className() << " in "
                                      << parent->metaObject()->className();
      const auto* label = qobject_cast<const QLabel*>(child);
      if (!label || label->wordWrap()) continue;
      EXPECT_GE(label->width(), label->sizeHint().width() - 1) << label->text().toStdString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, Gallery,
                         ::testing::Values(Page{"training", training_page}, Page{"rollouts", rollouts_page},
                                           Page{"sidebar", sidebar_page}),
                         [](const auto& page) { return std::string(page.param.name); });

}  // namespace
