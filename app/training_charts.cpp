#include "app/training_charts.h"

#include <QGridLayout>
#include <QResizeEvent>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/chart_series.h"
#include "app/thread_clock.h"
#include "widgets/card.h"
#include "widgets/pass_schedule_strip.h"
#include "widgets/plot.h"

namespace app {

namespace {

constexpr int kGap = 12;
constexpr int kShortestWait = 170;  // ms between two drawings of live values
constexpr int kLongestWait = 2000;
constexpr double kDrawingShare = 0.03;  // of a core, which the training wants for itself
constexpr int kFourColumns = 1100;      // px from which the small charts stand in one row
constexpr int kTwoColumns = 540;        // and in two
constexpr int kNarrowest = 260;

/// Adds each curve to the one of its name and meaning; false when there is none.
bool append_to(widgets::Plot& plot, const std::vector<widgets::Series>& curves) {
  for (const widgets::Series& curve : curves) {
    if (curve.x.empty()) continue;
    const auto& known = plot.series();
    const auto same = std::find_if(known.begin(), known.end(), [&](const widgets::Series& series) {
      return series.label == curve.label && series.style == curve.style;
    });
    if (same == known.end()) return false;
    plot.append(static_cast<std::size_t>(same - known.begin()), curve.x, curve.y);
  }
  return true;
}

}  // namespace

TrainingCharts::TrainingCharts(QWidget* parent)
    : QWidget(parent),
      strip_(new widgets::PassScheduleStrip(this)),
      link_(new widgets::PlotLink(this)),
      grid_(new QGridLayout) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kGap);

  auto* loss_card = new widgets::Card({}, this);
  loss_ = add_plot(tr("Training loss by pass"), tr("loss (nats)"));
  loss_->setMinimumHeight(200);
  loss_->setToolTip(tr("The second pass starts above the first and must fall below it."));
  loss_card->body()->addWidget(loss_);
  layout->addWidget(loss_card, 5);

  auto* strip_card = new widgets::Card(tr("Passes per step"), this);
  strip_card->set_heading_style();
  strip_card->body()->addWidget(strip_);
  layout->addWidget(strip_card);

  validation_ = add_plot(tr("Validation"), tr("loss (nats)"));
  rate_ = add_plot(tr("Learning rate"), tr("rate"));
  gradient_ = add_plot(tr("Gradient norm"), tr("norm"));
  speed_ = add_plot(tr("Speed"), tr("tokens/s"));
  validation_->set_empty_text(tr("no validation yet"));
  gradient_->setToolTip(tr("Before clipping"));
  for (widgets::Plot* plot : {validation_, rate_, gradient_, speed_}) {
    auto* card = new widgets::Card({}, this);
    card->body()->addWidget(plot);
    small_cards_.push_back(card);
  }
  grid_->setSpacing(kGap);
  layout->addLayout(grid_, 6);
  arrange(2);

  soon_.setSingleShot(true);
  connect(&soon_, &QTimer::timeout, this, &TrainingCharts::draw_values);
  connect(loss_, &widgets::Plot::following_changed, this, &TrainingCharts::following_changed);
}

widgets::Plot* TrainingCharts::add_plot(const QString& title, const QString& y_title) {
  auto* plot = new widgets::Plot(this);
  plot->set_title(title);
  plot->set_empty_text(tr("no data yet: start a training, or select a run"));
  plot->setAccessibleName(title);
  link_->add(plot);
  plots_.push_back(plot);
  y_titles_.push_back(y_title);
  return plot;
}

void TrainingCharts::arrange(int columns) {
  if (columns == columns_) return;
  columns_ = columns;
  for (widgets::Card* card : small_cards_) grid_->removeWidget(card);
  for (int column = 0; column < 4; ++column) grid_->setColumnStretch(column, column < columns ? 1 : 0);
  for (std::size_t i = 0; i < small_cards_.size(); ++i) {
    const int index = static_cast<int>(i);
    grid_->addWidget(small_cards_[i], index / columns, index % columns);
  }
}

// The width of the present columns must not keep the page from becoming narrower: fewer columns will do then.
QSize TrainingCharts::minimumSizeHint() const { return {kNarrowest, QWidget::minimumSizeHint().height()}; }

void TrainingCharts::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  const int width = event->size().width();
  arrange(width >= kFourColumns ? 4 : width >= kTwoColumns ? 2 : 1);
}

void TrainingCharts::set_runs(std::vector<ShownRun> runs) {
  runs_ = std::move(runs);
  given_.clear();
  update_now();
}

void TrainingCharts::set_view(const ChartView& view) {
  const bool other_x = view.x != view_.x;
  view_ = view;
  widgets::PlotView plot_view;
  plot_view.log_x = view.log_x;
  plot_view.smoothing = view.smoothing;
  plot_view.outliers_out = view.clip_outliers;
  for (widgets::Plot* plot : plots_) {
    plot_view.log_y = view.log_y && plot != rate_ && plot != speed_;
    plot->set_view(plot_view);
  }
  if (!other_x) return;
  given_.clear();
  update_now();
  follow();  // the old range means nothing in the new unit
}

void TrainingCharts::values_changed() {
  if (!isVisible()) {
    behind_ = true;
    return;
  }
  if (soon_.isActive()) return;
  const std::int64_t left = drawn_.isValid() ? wait_ - drawn_.elapsed() : 0;
  left > 0 ? soon_.start(static_cast<int>(left)) : draw_values();
}

void TrainingCharts::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (std::exchange(behind_, false)) update_now();
}

void TrainingCharts::set_live(bool live) {
  for (widgets::Plot* plot : plots_) plot->set_live(live);
}

// What takes longer to draw is drawn less often: the training keeps its share of the machine.
void TrainingCharts::draw_values() {
  const double before = thread_milliseconds();
  update_now();
  for (widgets::Plot* plot : plots_) plot->render_if_needed();
  const double cost = (thread_milliseconds() - before) / kDrawingShare;
  wait_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(cost), kShortestWait, kLongestWait);
  drawn_.start();
}

ChartInput TrainingCharts::chart_input() const {
  ChartInput input;
  input.x = view_.x;
  for (const ShownRun& run : runs_) {
    input.runs.push_back(run.data.get());
    input.colors.push_back(run.color);
  }
  return input;
}

void TrainingCharts::update_now() {
  const ChartInput input = chart_input();
  if (!only_grown() || !give_new_points(input)) give_all(input);
  remember_given();
  update_strip();
}

void TrainingCharts::give_all(const ChartInput& input) {
  const QString x_title = QString::fromStdString(title(view_.x));
  for (std::size_t i = 0; i < plots_.size(); ++i) plots_[i]->set_axes(x_title, y_titles_[i]);
  for (const Chart& chart : charts()) chart.plot->set_series(chart.curves(input));
  validation_->set_series(validation_series(input));
}

std::vector<TrainingCharts::Chart> TrainingCharts::charts() const {
  return {{loss_, loss_series}, {rate_, rate_series}, {gradient_, gradient_series}, {speed_, speed_series}};
}

bool TrainingCharts::only_grown() const {
  if (given_.size() != runs_.size()) return false;
  return std::equal(given_.begin(), given_.end(), runs_.begin(), [](const Given& given, const ShownRun& run) {
    const RunData& now = *run.data;
    return now.rewrites == given.rewrites && now.total_steps == given.total_steps && now.steps.size() >= given.steps;
  });
}

// Validations are few: they are given whole when there is a new one. False when a curve is new.
bool TrainingCharts::give_new_points(ChartInput input) {
  bool validated = false;
  for (std::size_t i = 0; i < given_.size(); ++i) {
    input.from.push_back(given_[i].steps);
    validated = validated || given_[i].validations != runs_[i].data->validations.size();
  }
  for (const Chart& chart : charts()) {
    if (!append_to(*chart.plot, chart.curves(input))) return false;
  }
  if (validated) validation_->set_series(validation_series(input));
  return true;
}

void TrainingCharts::remember_given() {
  given_.clear();
  for (const ShownRun& run : runs_) {
    const RunData& now = *run.data;
    given_.push_back({now.steps.size(), now.validations.size(), now.total_steps, now.rewrites});
  }
}

void TrainingCharts::update_strip() {
  const RunData* run = runs_.empty() ? nullptr : runs_.front().data.get();
  if (run == nullptr || !run->recipe) {
    strip_->set_schedule({}, 0);
    strip_->set_step(-1);
    return;
  }
  const engine::TrainConfig& train = run->recipe->train;
  strip_->set_schedule(train.schedule, train.steps, train.interleaved);
  strip_->set_step(run->step());
}

void TrainingCharts::follow() {
  for (widgets::Plot* plot : plots_) plot->follow();
}

bool TrainingCharts::following() const { return loss_->following(); }

}  // namespace app
