#include "app/channel_page.h"

#include <QComboBox>
#include <QLabel>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

#include "app/card_grid.h"
#include "app/run_overlay.h"
#include "widgets/card.h"
#include "widgets/plot.h"

namespace app {

namespace {

constexpr int kMostRows = 4096;
constexpr int kMostPasses = 1000;

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
    if (measurements_.empty()) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void ChannelPage::add_controls() {
  rows_ = make_count(this, tr("Held-out rows"), tr("rows "), 2, kMostRows, 64);
  passes_ = make_count(this, tr("Feedback passes; the last one is looked into"), tr("passes "), 1, kMostPasses, 1);
  seed_ = make_count(this, tr("Seed of exchanged states and plain lengths"), tr("seed "), 0,
                     std::numeric_limits<int>::max(), 1);
  for (QWidget* control : std::initializer_list<QWidget*>{rows_, passes_, seed_}) strip().add_control(control);
  settings().add("rows", rows_);
  settings().add("passes", passes_);
  settings().add("seed", seed_);
  changes_ = new InterventionChooser(this);
  changes_->remember(settings());
  connect(changes_, &InterventionChooser::chosen, this, &ChannelPage::measure_changes_alone);
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
  auto* grid = new CardGrid(this);
  reading_ = make_reading_card(this);
  grid->add(make_costs());
  grid->add(make_gates());
  grid->add(reading_.card);
  boundary_ = add_plot(tr("Loss past the boundary"), tr("tokens since the last plain one"), tr("loss (nats)"));
  exposure_ = add_plot(tr("Exposure in training"), tr("position in the document"), tr("fused (%)"));
  exposure_->set_y_limits(widgets::Range{0, 100});
  for (widgets::Plot* plot : {boundary_, exposure_}) grid->add(card_with(plot, grid));
  grid->add(make_rms());
  change_ = add_plot(tr("Change by block"), tr("block"), tr("‖Δx‖ / ‖x‖"));
  weights_ = add_plot(tr("Fusion's matrices"), tr("rank"), tr("singular value"), true);
  states_ = add_plot(tr("States"), tr("rank"), tr("variance"), true);
  for (widgets::Plot* plot : {change_, weights_, states_}) grid->add(card_with(plot, grid));
  content()->addWidget(grid, 1);
}

QWidget* ChannelPage::make_costs() {
  costs_ = new widgets::DotChart(this);
  costs_->set_title(tr("What a change costs"));
  costs_->set_axis(tr("nats a token (* out of distribution)"));
  costs_->set_reference(0.0);
  costs_->set_values_shown(true);
  costs_->setToolTip(tr("* far outside what training saw: a large cost says nothing about use"));
  widgets::Card* card = card_with(costs_, this);
  card->body()->addWidget(changes_);
  return card;
}

QWidget* ChannelPage::make_rms() {
  rms_ = add_plot(tr("Residual stream"), tr("depth (0: input)"), tr("RMS"), true);
  rms_over_ = make_choice(this, tr("Residual stream by depth, or over the training at one depth"));
  rms_over_->addItem(tr("by depth"), -1);
  connect(rms_over_, &QComboBox::activated, this, &ChannelPage::show_rms);
  widgets::Card* card = card_with(rms_, this);
  card->body()->addWidget(rms_over_, 0, Qt::AlignRight);
  return card;
}

QWidget* ChannelPage::make_gates() {
  gates_ = add_plot(tr("Gates"), tr("gate"), tr("channels (%)"));
  token_ = make_choice(this, tr("Token whose gates are shown"));
  token_->addItem(tr("all tokens"));
  connect(token_, &QComboBox::activated, this, &ChannelPage::show_gates);
  widgets::Card* card = card_with(gates_, this);
  card->body()->addWidget(token_, 0, Qt::AlignRight);
  return card;
}

ChannelRequest ChannelPage::request() const {
  ChannelRequest request;
  request.rows = rows_->value();
  request.feedback_passes = passes_->value();
  request.seed = static_cast<std::uint64_t>(seed_->value());
  request.choices = changes_->choices();
  return request;
}

// The runs come in one after the other; what an earlier measurement left goes when the first new one is there.
void ChannelPage::measure() {
  std::vector<AnalysisWorker::Job> jobs;
  fresh_ = true;
  for (const MeasuredRun& run : runs()) {
    jobs.push_back(
        {run.key, [this, color = run.color, wanted = request()](AnalysisModel& model, const AnalysisControl& control) {
           auto result = std::make_shared<ChannelMeasurement>(measure_channel(model, wanted, control));
           result->color = color;
           return [this, result] { take(std::move(*result)); };
         }});
  }
  start(std::move(jobs));
  if (measurements_.empty())
    show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

// Another change on the same rows leaves everything else as it is.
void ChannelPage::measure_changes_alone() {
  if (runs().empty() || strip().busy()) return;
  const ChannelRequest wanted = request();
  const auto fits = [&](const ChannelMeasurement& one) {
    return one.request.rows == wanted.rows && one.request.feedback_passes == wanted.feedback_passes &&
           one.request.seed == wanted.seed;
  };
  if (measurements_.size() != runs().size() || !std::all_of(measurements_.begin(), measurements_.end(), fits))
    return measure();
  std::vector<AnalysisWorker::Job> jobs;
  for (const MeasuredRun& run : runs()) {
    jobs.push_back({run.key, [this, key = run.key, wanted](AnalysisModel& model, const AnalysisControl&) {
                      auto changes = std::make_shared<engine::InterventionReport>(measure_changes(model, wanted));
                      return [this, key, changes] { take_changes(key, *changes); };
                    }});
  }
  start(std::move(jobs));
}

void ChannelPage::take(ChannelMeasurement measurement) {
  if (fresh_) measurements_.clear();
  fresh_ = false;
  history_.add(measurement);
  measurements_.push_back(std::move(measurement));
  draw();
}

void ChannelPage::take_changes(const std::string& key, const engine::InterventionReport& changes) {
  for (ChannelMeasurement& one : measurements_) {
    if (one.key == key) one.report.interventions = changes;
  }
  draw_words();
}

void ChannelPage::show_curves(widgets::Plot* plot,
                              const std::function<std::vector<widgets::Series>(const ChannelMeasurement&)>& of) {
  std::vector<RunCurves> runs;
  for (const ChannelMeasurement& one : measurements_) runs.push_back({one.name, one.color, of(one)});
  plot->set_series(overlay(runs));
}

void ChannelPage::draw() {
  show_curves(boundary_, boundary_series);
  show_curves(exposure_, exposure_series);
  show_curves(change_, change_series);
  const bool counted = measurements_.size() == 1;  // the legends of several runs have no room for it
  show_curves(weights_, [&](const ChannelMeasurement& one) { return spectrum_series(one.report.weights, counted); });
  show_curves(states_, [&](const ChannelMeasurement& one) { return spectrum_series(one.report.states, counted); });
  fill_tokens();
  fill_depths();
  show_gates();
  show_rms();
  for (widgets::Plot* plot : plots_) plot->follow();
  draw_words();
}

void ChannelPage::draw_words() {
  costs_->set_values_shown(measurements_.size() == 1);
  costs_->set_data(cost_measurements(measurements_), cost_rows(measurements_), cost_styles(measurements_));
  reading_.text->setText(channel_reading(measurements_));
  reading_.stats->set_rows(channel_stats(measurements_));
  set_metadata(channel_metadata(measurements_));
}

// The same token stays chosen where the other run has it.
void ChannelPage::fill_tokens() {
  const QVariant chosen = token_->currentData();
  const ChannelMeasurement& first = measurements_.front();
  token_->clear();
  token_->addItem(tr("all tokens"));
  if (!first.report.gates) return gates_->set_empty_text(tr("the fusion of this model has no gate"));
  for (const engine::TokenGates& token : first.report.gates->tokens) {
    token_->addItem(tr("token %1").arg(QString::fromStdString(first.labels.at(token.token))), token.token);
  }
  token_->setCurrentIndex(std::max(0, chosen.isValid() ? token_->findData(chosen) : 0));
}

void ChannelPage::fill_depths() {
  const QVariant chosen = rms_over_->currentData();
  rms_over_->clear();
  rms_over_->addItem(tr("by depth"), -1);
  for (const engine::LadderRung& rung : measurements_.front().report.ladder) {
    const auto depth = static_cast<int>(rung.depth);
    rms_over_->addItem(tr("over training, depth %1").arg(depth), depth);
  }
  rms_over_->setCurrentIndex(std::max(0, rms_over_->findData(chosen)));
}

void ChannelPage::show_gates() {
  if (measurements_.empty()) return;
  std::optional<std::int32_t> token;
  if (token_->currentData().isValid()) token = token_->currentData().toInt();
  show_curves(gates_, [&](const ChannelMeasurement& one) { return gate_series(one, token); });
}

void ChannelPage::show_rms() {
  if (measurements_.empty()) return;
  const int depth = rms_over_->currentData().toInt();
  rms_->set_axes(depth < 0 ? tr("depth (0: input)") : tr("step"), tr("RMS"));
  show_curves(rms_, [&](const ChannelMeasurement& one) {
    return depth < 0 ? rms_series(one) : history_.series(one.key, depth);
  });
  rms_->follow();
}

void ChannelPage::clear() {
  measurements_.clear();
  history_.clear();
  for (widgets::Plot* plot : plots_) plot->set_series({});
  costs_->set_data({}, {});
  reading_.stats->set_rows({});
  show_empty(empty_text());
}

void ChannelPage::show_empty(const QString& text) {
  for (widgets::Plot* plot : plots_) plot->set_empty_text(text);
  costs_->set_empty_text(text);
  reading_.text->setText(
      tr("What the state that is carried from token to token and the gate in front of it are worth, and "
         "what passes through them."));
}

std::vector<const widgets::FigureSource*> ChannelPage::figures() const {
  return {costs_, gates_, boundary_, exposure_, rms_, change_, weights_, states_, reading_.stats};
}

}  // namespace app
