#include "app/probes_page.h"

#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
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

constexpr int kLengthsWidth = 150;
constexpr int kMostDistractors = 4096;
constexpr int kRowHeights[] = {240, 230};  // least heights of the two rows of cards

widgets::Plot* make_plot(QWidget* parent, const QString& title) {
  auto* plot = new widgets::Plot(parent);
  plot->set_title(title);
  plot->setAccessibleName(title);
  plot->set_y_limits(widgets::Range{40, 102});
  return plot;
}

}  // namespace

ProbesPage::ProbesPage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open),
                   {"probes", tr("Probes"), tr("Measure the probes"), tr("Cancel the probes"),
                    QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_3)},
                   parent) {
  add_controls();
  build();
  show_empty(empty_text());
  connect(&strip(), &AnalysisStrip::finished, this, [this] {
    if (measurements_.empty()) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void ProbesPage::add_controls() {
  task_ = make_choice(this, tr("Task of the prompts"));
  for (const std::string& name : engine::probe_task_names()) task_->addItem(QString::fromStdString(name));
  lengths_ = new QLineEdit(this);
  lengths_->setFixedWidth(kLengthsWidth);
  lengths_->setPlaceholderText(tr("distractors that fit"));
  lengths_->setAccessibleName(tr("Distractors of the sweep"));
  lengths_->setToolTip(
      tr("How many distractors stand before the question, such as 0, 8, 32; empty: those that fit the "
         "rows of training"));
  lengths_->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9, ]*")), lengths_));
  seed_ =
      make_count(this, tr("Seed of folds and exchanged states"), tr("seed "), 0, std::numeric_limits<int>::max(), 1);
  condition_ = make_choice(this, tr("Way of reading, when several runs are shown"));
  for (const engine::PrefillCondition& condition : engine::prefill_conditions()) {
    condition_->addItem(condition_name(condition), QString::fromStdString(condition.name));
  }
  condition_->setCurrentIndex(1);
  condition_->hide();
  connect(condition_, &QComboBox::currentIndexChanged, this, &ProbesPage::draw);
  for (QWidget* control : std::initializer_list<QWidget*>{task_, lengths_, seed_, condition_})
    strip().add_control(control);
  settings().add("task", task_);
  settings().add("lengths", lengths_);
  settings().add("seed", seed_);
  settings().add("condition", condition_);
  connect(task_, &QComboBox::currentIndexChanged, this, &ProbesPage::task_changed);
  connect(lengths_, &QLineEdit::returnPressed, strip().action(), &QAction::trigger);
}

void ProbesPage::build() {
  depths_ = make_plot(this, tr("Accuracy by depth"));
  depths_->set_axes(tr("depth (0: input)"), tr("accuracy (%)"));
  answers_ = new widgets::DotChart(this);
  answers_->set_title(tr("Does the answer follow the state?"));
  answers_->set_axis(tr("answers (%)"));
  answers_->set_limits({{0, 100}});

  auto* page = new QWidget(this);
  auto* grid = new QGridLayout(page);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setSpacing(kCardGap);
  grid->addWidget(card_with(depths_, page), 0, 0);
  grid->addWidget(card_with(answers_, page), 0, 1);
  grid->addWidget(make_sweep(), 1, 0);
  reading_ = make_reading_card(page);
  grid->addWidget(reading_.card, 1, 1);
  grid->setColumnStretch(0, 3);
  grid->setColumnStretch(1, 2);
  for (int row = 0; row < 2; ++row) {
    grid->setRowMinimumHeight(row, kRowHeights[row]);
    grid->setRowStretch(row, 6 - row);
  }
  content()->addWidget(scroll_area(page, this), 1);
}

QWidget* ProbesPage::make_sweep() {
  slices_ = make_plot(this, tr("Accuracy by distractors"));
  slices_->set_axes(tr("distractors before the question"), tr("accuracy (%)"));
  depth_ = make_choice(this, tr("Depth of the sweep"));
  depth_->addItem(tr("at depth 0"));
  connect(depth_, &QComboBox::activated, this, &ProbesPage::show_slices);
  auto* card = new widgets::Card({}, this);
  slices_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);
  card->body()->addWidget(slices_, 1);
  auto* bars = new QLabel(tr("bars: standard deviation between folds"), card);
  widgets::set_kind(*bars, "caption");
  auto* foot = new QHBoxLayout;
  foot->addWidget(bars);
  foot->addStretch(1);
  foot->addWidget(depth_);
  card->body()->addLayout(foot);
  return card;
}

// Registers and overwrites have sweeps of their own.
void ProbesPage::task_changed() {
  lengths_->setEnabled(task_->currentText() == "completion" || task_->currentText() == "memory");
  if (!runs().empty()) measure();
}

std::optional<engine::ProbeRequest> ProbesPage::request() {
  engine::ProbeRequest request;
  request.task = task_->currentText().toStdString();
  request.seed = static_cast<std::uint64_t>(seed_->value());
  if (!lengths_->isEnabled()) return request;
  const auto lengths = whole_numbers(lengths_->text(), kMostDistractors);
  if (!lengths) {
    show_error(tr("Distractors are whole numbers from 0 to 4096 with commas between, such as 0, 8, 32."));
    return std::nullopt;
  }
  request.lengths.assign(lengths->begin(), lengths->end());
  return request;
}

// The runs come in one after the other; what an earlier measurement left goes when the first new one is there.
void ProbesPage::measure() {
  const auto wanted = request();
  if (!wanted) return;
  std::vector<AnalysisWorker::Job> jobs;
  fresh_ = true;
  for (const MeasuredRun& run : runs()) {
    jobs.push_back(
        {run.key, [this, color = run.color, wanted = *wanted](AnalysisModel& model, const AnalysisControl& control) {
           auto result = std::make_shared<ProbeMeasurement>(measure_probes(model, wanted, control));
           result->color = color;
           return [this, result] { take(std::move(*result)); };
         }});
  }
  start(std::move(jobs));
  if (measurements_.empty())
    show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

void ProbesPage::take(ProbeMeasurement measurement) {
  if (fresh_) measurements_.clear();
  fresh_ = false;
  measurements_.push_back(std::move(measurement));
  const auto& curves = measurements_.front().report.curves;
  const int depths = curves.empty() ? 0 : static_cast<int>(curves.front().by_depth.size());
  const int shown = std::min(depth_->currentIndex(), depths - 1);
  depth_->clear();
  for (int depth = 0; depth < depths; ++depth) depth_->addItem(tr("at depth %1").arg(depth));
  depth_->setCurrentIndex(std::max(0, shown));
  draw();
}

std::size_t ProbesPage::condition() const { return static_cast<std::size_t>(std::max(0, condition_->currentIndex())); }

void ProbesPage::draw() {
  condition_->setVisible(measurements_.size() > 1);
  if (measurements_.empty()) return;
  for (widgets::Plot* plot : {depths_, slices_}) {
    plot->set_reference_lines({{100 * measurements_.front().report.chance, tr("chance")}});
    plot->follow();
  }
  depths_->set_series(depth_curves(measurements_, condition()));
  answers_->set_data(answer_measurements(), answer_rows(measurements_, condition()));
  reading_.stats->set_rows(probe_stats(measurements_));
  reading_.text->setText(probe_reading(measurements_));
  set_metadata(probe_metadata(measurements_));
  show_slices();
}

void ProbesPage::show_slices() {
  if (measurements_.empty()) return;
  const ProbeMeasurement& first = measurements_.front();
  slices_->set_title(tr("Accuracy by %1").arg(QString::fromStdString(first.slice_title)));
  slices_->set_axes(slice_axis(first), tr("accuracy (%)"));
  slices_->set_series(
      slice_curves(measurements_, static_cast<std::size_t>(std::max(0, depth_->currentIndex())), condition()));
}

void ProbesPage::clear() {
  measurements_.clear();
  condition_->hide();
  for (widgets::Plot* plot : {depths_, slices_}) {
    plot->set_series({});
    plot->set_reference_lines({});
  }
  answers_->set_data({}, {});
  reading_.stats->set_rows({});
  show_empty(empty_text());
}

void ProbesPage::show_empty(const QString& text) {
  for (widgets::Plot* plot : {depths_, slices_}) plot->set_empty_text(text);
  answers_->set_empty_text(text);
  reading_.text->setText(
      tr("How well a linear classifier reads the answer from the residual at a prompt's last position, "
         "and whether the model uses the state that is carried there."));
}

std::vector<const widgets::FigureSource*> ProbesPage::figures() const {
  return {depths_, slices_, answers_, reading_.stats};
}

}  // namespace app
