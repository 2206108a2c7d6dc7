#include "app/cache_page.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>
#include <limits>
#include <memory>
#include <utility>

#include "app/card_grid.h"
#include "widgets/card.h"
#include "widgets/palette.h"
#include "widgets/plot.h"

namespace app {

namespace {

constexpr int kMostRows = 4096;
constexpr int kMostTokens = 100'000;
constexpr int kMostPasses = 10'000;
constexpr int kNumbersWidth = 150;

}  // namespace

CachePage::CachePage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open),
                   {"cache", tr("Cache and likelihood"), tr("Measure cache and likelihood"),
                    tr("Cancel cache and likelihood"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_7)},
                   parent) {
  add_controls();
  build();
  show_empty(empty_text());
  connect(&strip(), &AnalysisStrip::finished, this, [this] {
    if (!result_) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void CachePage::add_controls() {
  source_ = make_choice(this, tr("Rollouts of held-out prompts, or a finished one"));
  source_->addItem(tr("held-out prompts"));
  connect(source_, &QComboBox::activated, this, &CachePage::source_chosen);
  rows_ = make_count(this, tr("Prompts"), tr("prompts "), 1, kMostRows, 16);
  prompt_tokens_ = make_count(this, tr("Tokens that each prompt is cut to, so that the model writes the rest"),
                              tr("cut to "), 0, kMostTokens, 4);
  prompt_tokens_->setSpecialValueText(tr("whole prompts"));
  max_tokens_ = make_count(this, tr("Most tokens to generate"), tr("max "), 2, kMostTokens, 64);
  temperature_ = make_number(this, tr("Temperature; 0 takes the most likely token"), tr("temp. "), 0, 10, 0);
  temperature_->setSpecialValueText(tr("greedy"));
  seed_ =
      make_count(this, tr("Seed of prompts and random numbers"), tr("seed "), 0, std::numeric_limits<int>::max(), 1);
  seed_->setMaximumWidth(110);
  numbers_ = new QLineEdit(QStringLiteral("1, 2, 3, 4, 8, 16, 32"), this);
  numbers_->setFixedWidth(kNumbersWidth);
  numbers_->setAccessibleName(tr("Numbers of parallel passes"));
  numbers_->setToolTip(tr("Numbers of parallel passes, with commas between; 1 is one ordinary pass"));
  numbers_->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9, ]*")), numbers_));
  connect(numbers_, &QLineEdit::returnPressed, strip().action(), &QAction::trigger);
  for (QWidget* control : std::initializer_list<QWidget*>{source_, rows_, prompt_tokens_}) strip().add_control(control);
  auto* label = new QLabel(tr("passes"), this);
  label->setBuddy(numbers_);
  add_controls_line({max_tokens_, temperature_, seed_, label, numbers_});
  settings().add("rows", rows_);
  settings().add("prompt_tokens", prompt_tokens_);
  settings().add("max_tokens", max_tokens_);
  settings().add("temperature", temperature_);
  settings().add("seed", seed_);
  settings().add("passes", numbers_);
}

widgets::Plot* CachePage::add_plot(const QString& title, const QString& y_title, bool log_y) {
  auto* plot = new widgets::Plot(this);
  plot->set_title(title);
  plot->setAccessibleName(title);
  plot->set_axes(tr("parallel passes"), y_title);
  widgets::PlotView view;
  view.log_x = true;
  view.log_y = log_y;
  plot->set_view(view);
  plots_.push_back(plot);
  return plot;
}

void CachePage::build() {
  errors_ = add_plot(tr("Rebuilt cache"), tr("relative error"), true);
  agreement_ = add_plot(tr("Same most likely token"), tr("positions (%)"), false);
  likelihood_ = add_plot(tr("Likelihood of the rollouts"), tr("nats a token"), false);
  miss_ = add_plot(tr("Miss of the likelihood"), tr("nats a token"), true);
  positions_ = new widgets::NumberTable(this);
  positions_->set_title(tr("Positions of the first rollout"));
  reading_ = make_reading_card(this);
  auto* grid = new CardGrid(this);
  auto* positions = new widgets::Card({}, grid);
  positions->body()->addWidget(scroll_area(positions_, positions), 1);
  for (QWidget* card :
       std::initializer_list<QWidget*>{card_with(errors_, grid), card_with(agreement_, grid), reading_.card,
                                       card_with(likelihood_, grid), card_with(miss_, grid), positions}) {
    grid->add(card);
  }
  content()->addWidget(grid, 1);
}

void CachePage::show_rollout(const engine::Rollout& rollout) {
  given_.name = tr("%1, %2 tokens").arg(widgets::mode_name(rollout.request.mode)).arg(rollout.tokens.size());
  given_.prompt = rollout.prompt_tokens;
  given_.generated.clear();
  for (const engine::RolloutToken& token : rollout.tokens) given_.generated.push_back(token.id);
  if (source_->count() < 2) source_->addItem({});
  source_->setItemText(1, given_.name);
  source_->setCurrentIndex(1);
  source_chosen();
}

// Given tokens leave nothing to choose but the passes.
void CachePage::source_chosen() {
  const bool held_out = source_->currentIndex() == 0;
  for (QWidget* control : std::initializer_list<QWidget*>{rows_, prompt_tokens_, max_tokens_, temperature_, seed_}) {
    control->setEnabled(held_out);
  }
  if (!runs().empty()) measure();
}

std::optional<CacheRequest> CachePage::request() {
  CacheRequest request;
  request.rows = rows_->value();
  request.prompt_tokens = prompt_tokens_->value();
  request.max_tokens = max_tokens_->value();
  request.temperature = static_cast<float>(temperature_->value());
  request.seed = static_cast<std::uint64_t>(seed_->value());
  if (source_->currentIndex() > 0) request.given = given_;
  const auto passes = whole_numbers(numbers_->text(), kMostPasses);
  if (!passes || passes->empty() || *passes->begin() < 1) {
    show_error(tr("Passes are whole numbers from 1 to 10000 with commas between, such as 1, 2, 4."));
    return std::nullopt;
  }
  request.passes.assign(passes->begin(), passes->end());
  return request;
}

void CachePage::measure() {
  const auto wanted = request();
  if (!wanted) return;
  start({{runs().front().key, [this, wanted = *wanted](AnalysisModel& model, const AnalysisControl& control) {
            auto result = std::make_shared<CacheResult>(measure_cache(model, wanted, control));
            return [this, result] { take(std::move(*result)); };
          }}});
  if (!result_) show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

void CachePage::take(CacheResult result) {
  result_ = std::move(result);
  const CacheResult& now = *result_;
  errors_->set_series(rebuild_series(now));
  errors_->set_reference_lines(rebuild_floor(now));
  agreement_->set_series(agreement_series(now));
  likelihood_->set_series(likelihood_series(now));
  likelihood_->set_reference_lines(sequential_line(now));
  miss_->set_series(miss_series(now));
  miss_->set_reference_lines(miss_floor(now));
  for (widgets::Plot* plot : plots_) {
    plot->set_empty_text(tr("no rollout went past its first token"));
    plot->follow();
  }
  positions_->set_data(position_columns(), position_rows(now));
  positions_->setMinimumHeight(positions_->sizeHint().height());  // rows keep their height; the card scrolls
  reading_.text->setText(cache_reading(now));
  reading_.stats->set_rows(cache_stats(now));
  set_metadata(cache_metadata(now));
}

// A rollout belongs to the model that made it.
void CachePage::clear() {
  result_.reset();
  if (source_->count() > 1) {
    source_->setCurrentIndex(0);
    source_->removeItem(1);
    for (QWidget* control : std::initializer_list<QWidget*>{rows_, prompt_tokens_, max_tokens_, temperature_, seed_}) {
      control->setEnabled(true);
    }
  }
  for (widgets::Plot* plot : plots_) {
    plot->set_series({});
    plot->set_reference_lines({});
  }
  positions_->set_data({}, {});
  positions_->setMinimumHeight(0);
  reading_.stats->set_rows({});
  show_empty(empty_text());
}

void CachePage::show_empty(const QString& text) {
  for (widgets::Plot* plot : plots_) plot->set_empty_text(text);
  positions_->set_empty_text(text);
  reading_.text->setText(tr(
      "Decoding in Soft leaves a cache that the tokens alone do not give back at once: parallel passes over them come "
      "closer with each pass, down to what rounding leaves when the recorded states are fed in."));
}

std::vector<const widgets::FigureSource*> CachePage::figures() const {
  return {errors_, agreement_, likelihood_, miss_, positions_};
}

}  // namespace app
