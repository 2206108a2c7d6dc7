#include "app/channel_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QResizeEvent>
#include <QScrollArea>
#include <QSpinBox>
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "widgets/card.h"
#include "widgets/plot.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kGap = 12;
constexpr int kThreeColumns = 1000;  // px from which three cards stand in a row
constexpr int kLeastCard = 220;
constexpr int kMostRows = 4096;
constexpr int kMostPasses = 1000;

QSpinBox* make_count(QWidget* parent, const QString& name, const QString& prefix, int least, int most, int value) {
  auto* box = new QSpinBox(parent);
  box->setPrefix(prefix);
  box->setRange(least, most);
  box->setValue(value);
  box->setAccessibleName(name);
  box->setToolTip(name);
  box->setLocale(QLocale::c());
  box->setGroupSeparatorShown(false);
  box->setMaximumWidth(140);
  return box;
}

QScrollArea* scroll_area(QWidget* content, QWidget* parent) {
  auto* area = new QScrollArea(parent);
  area->setWidget(content);
  area->setWidgetResizable(true);
  area->setFrameShape(QFrame::NoFrame);
  area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  area->setFocusPolicy(Qt::NoFocus);
  return area;
}

}  // namespace

ChannelPage::ChannelPage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open),
                   {"channel", tr("Channel"), tr("Measure the channel"), tr("Cancel the channel"),
                    QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_6)},
                   parent) {
  add_controls();
  build();
  show_empty(empty_text());
  connect(&strip(), &AnalysisStrip::finished, this, [this] {
    if (!measurement_) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void ChannelPage::add_controls() {
  rows_ = make_count(this, tr("Held-out rows"), tr("rows "), 2, kMostRows, 64);
  passes_ = make_count(this, tr("Feedback passes; the last one is looked into"), tr("passes "), 1, kMostPasses, 1);
  seed_ = make_count(this, tr("Seed of exchanged states and plain lengths"), tr("seed "), 0,
                     std::numeric_limits<int>::max(), 1);
  for (QWidget* control : std::initializer_list<QWidget*>{rows_, passes_, seed_}) strip().add_control(control);
}

widgets::Plot* ChannelPage::add_plot(const QString& title, const QString& x_title, const QString& y_title, bool log_y) {
  auto* plot = new widgets::Plot(this);
  plot->set_title(title);
  plot->setAccessibleName(title);
  plot->set_axes(x_title, y_title);
  widgets::PlotView view;
  view.log_y = log_y;
  plot->set_view(view);
  plots_.push_back(plot);
  return plot;
}

void ChannelPage::build() {
  costs_ = new widgets::DotChart(this);
  costs_->set_title(tr("What a change costs"));
  costs_->set_axis(tr("nats a token (* out of distribution)"));
  costs_->set_reference(0.0);
  costs_->set_values_shown(true);
  costs_->setToolTip(tr("* far outside what training saw: a large cost says nothing about use"));
  auto* page = new QWidget(this);
  grid_ = new QGridLayout(page);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setSpacing(kGap);
  const auto add_card = [&](QWidget* content) {
    auto* card = new widgets::Card({}, page);
    content->setSizePolicy(QSizePolicy::Expanding,
                           QSizePolicy::Ignored);  // three rows fit where there is room for them
    card->body()->addWidget(content, 1);
    cards_.push_back(card);
  };
  add_card(costs_);
  cards_.push_back(make_gates());
  cards_.push_back(make_reading());
  boundary_ = add_plot(tr("Loss past the boundary"), tr("tokens since the last plain one"), tr("loss (nats)"));
  exposure_ = add_plot(tr("Exposure in training"), tr("position in the document"), tr("fused (%)"));
  rms_ = add_plot(tr("Residual stream"), tr("depth (0: input)"), tr("RMS"), true);
  change_ = add_plot(tr("Change by block"), tr("block"), tr("‖Δx‖ / ‖x‖"));
  weights_ = add_plot(tr("Fusion's matrices"), tr("rank"), tr("singular value"), true);
  states_ = add_plot(tr("States"), tr("rank"), tr("variance"), true);
  exposure_->set_y_limits(widgets::Range{0, 100});
  for (widgets::Plot* plot : {boundary_, exposure_, rms_, change_, weights_, states_}) add_card(plot);
  arrange(3);
  content()->addWidget(scroll_area(page, this), 1);
}

QWidget* ChannelPage::make_gates() {
  gates_ = add_plot(tr("Gates"), tr("gate"), tr("channels (%)"));
  token_ = new QComboBox(this);
  token_->setAccessibleName(tr("Token whose gates are shown"));
  token_->setToolTip(tr("Token whose gates are laid over those of all"));
  token_->addItem(tr("all tokens"));
  connect(token_, &QComboBox::activated, this, &ChannelPage::show_gates);
  auto* card = new widgets::Card({}, this);
  gates_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  card->body()->addWidget(gates_, 1);
  card->body()->addWidget(token_, 0, Qt::AlignRight);
  return card;
}

QWidget* ChannelPage::make_reading() {
  auto* card = new widgets::Card(tr("What you see"), this);
  card->set_heading_style();
  reading_ = new QLabel(card);
  reading_->setTextFormat(Qt::PlainText);
  reading_->setWordWrap(true);
  reading_->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  stats_ = new widgets::StatTable(card);
  stats_->setAccessibleName(tr("What was measured"));
  card->body()->addWidget(reading_);
  card->body()->addWidget(stats_);
  card->body()->addStretch(1);
  return card;
}

void ChannelPage::arrange(int columns) {
  if (columns == columns_) return;
  columns_ = columns;
  for (QWidget* card : cards_) grid_->removeWidget(card);
  for (int column = 0; column < 3; ++column) grid_->setColumnStretch(column, column < columns ? 1 : 0);
  const int count = static_cast<int>(cards_.size());
  for (int i = 0; i < count; ++i) {
    cards_[static_cast<std::size_t>(i)]->setMinimumHeight(kLeastCard);
    cards_[static_cast<std::size_t>(i)]->setMinimumWidth(0);
    grid_->addWidget(cards_[static_cast<std::size_t>(i)], i / columns, i % columns);
  }
  for (int row = 0; row < count; ++row) grid_->setRowStretch(row, row * columns < count ? 1 : 0);
}

void ChannelPage::resizeEvent(QResizeEvent* event) {
  AnalysisPage::resizeEvent(event);
  arrange(event->size().width() >= kThreeColumns ? 3 : 2);
}

void ChannelPage::measure() {
  ChannelRequest wanted;
  wanted.rows = rows_->value();
  wanted.feedback_passes = passes_->value();
  wanted.seed = static_cast<std::uint64_t>(seed_->value());
  const auto work = [this, wanted](AnalysisModel& model, const AnalysisControl& control) -> std::function<void()> {
    auto result = std::make_shared<ChannelMeasurement>(measure_channel(model, wanted, control));
    return [this, result] { take(std::move(*result)); };
  };
  start({{runs().front().key, work}});
  if (!measurement_) show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

void ChannelPage::take(ChannelMeasurement measurement) {
  measurement_ = std::move(measurement);
  const ChannelMeasurement& now = *measurement_;
  costs_->set_data(cost_measurements(), cost_rows(now));
  boundary_->set_series(boundary_series(now));
  exposure_->set_series(exposure_series(now));
  rms_->set_series(rms_series(now));
  change_->set_series(change_series(now));
  weights_->set_series(spectrum_series(now.report.weights));
  states_->set_series(spectrum_series(now.report.states));
  for (widgets::Plot* plot : plots_) plot->follow();
  reading_->setText(channel_reading(now));
  stats_->set_rows(channel_stats(now));
  fill_tokens();
  show_gates();
}

// The same token stays chosen where the other run has it.
void ChannelPage::fill_tokens() {
  const QVariant chosen = token_->currentData();
  token_->clear();
  token_->addItem(tr("all tokens"));
  if (!measurement_->report.gates) return gates_->set_empty_text(tr("the fusion of this model has no gate"));
  for (const engine::TokenGates& token : measurement_->report.gates->tokens) {
    const QString label = QString::fromStdString(measurement_->labels.at(token.token));
    token_->addItem(tr("token %1").arg(label), token.token);
  }
  token_->setCurrentIndex(std::max(0, chosen.isValid() ? token_->findData(chosen) : 0));
}

void ChannelPage::show_gates() {
  if (measurement_) gates_->set_series(gate_series(*measurement_, token_->currentIndex() - 1));
}

void ChannelPage::clear() {
  measurement_.reset();
  for (widgets::Plot* plot : plots_) plot->set_series({});
  costs_->set_data({}, {});
  stats_->set_rows({});
  show_empty(empty_text());
}

void ChannelPage::show_empty(const QString& text) {
  for (widgets::Plot* plot : plots_) plot->set_empty_text(text);
  costs_->set_empty_text(text);
  reading_->setText(
      tr("What the state that is carried from token to token and the gate in front of it are worth, and "
         "what passes through them."));
}

std::vector<const widgets::FigureSource*> ChannelPage::figures() const {
  return {costs_, gates_, boundary_, exposure_, rms_, change_, weights_, states_};
}

}  // namespace app
