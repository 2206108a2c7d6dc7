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
#include <set>
#include <utility>

#include "widgets/card.h"
#include "widgets/plot.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kGap = 12;
constexpr int kLengthsWidth = 150;
constexpr int kMostDistractors = 4096;
constexpr int kRowHeights[] = {240, 230};  // least heights of the two rows of cards

widgets::Card* card_with(QWidget* content, QWidget* parent) {
  auto* card = new widgets::Card({}, parent);
  content->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Ignored);  // both rows fit where there is room for them
  card->body()->addWidget(content, 1);
  return card;
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
    if (!measurement_) show_empty(empty_text());  // cancelled, or a problem that the banner tells
  });
}

void ProbesPage::add_controls() {
  task_ = new QComboBox(this);
  for (const std::string& name : engine::probe_task_names()) task_->addItem(QString::fromStdString(name));
  task_->setAccessibleName(tr("Task of the prompts"));
  task_->setToolTip(tr("What the prompts ask"));
  lengths_ = new QLineEdit(this);
  lengths_->setFixedWidth(kLengthsWidth);
  lengths_->setPlaceholderText(tr("distractors that fit"));
  lengths_->setAccessibleName(tr("Distractors of the sweep"));
  lengths_->setToolTip(
      tr("How many distractors stand before the question, such as 0, 8, 32; empty: those that fit the "
         "rows of training"));
  lengths_->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9, ]*")), lengths_));
  seed_ = new QSpinBox(this);
  seed_->setPrefix(tr("seed "));
  seed_->setRange(0, std::numeric_limits<int>::max());
  seed_->setValue(1);
  seed_->setLocale(QLocale::c());
  seed_->setGroupSeparatorShown(false);
  seed_->setAccessibleName(tr("Seed of folds and exchanged states"));
  seed_->setToolTip(seed_->accessibleName());
  seed_->setMaximumWidth(kLengthsWidth);
  for (QWidget* control : std::initializer_list<QWidget*>{task_, lengths_, seed_}) strip().add_control(control);
  connect(task_, &QComboBox::activated, this, &ProbesPage::task_changed);
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
  grid->setSpacing(kGap);
  grid->addWidget(card_with(depths_, page), 0, 0);
  grid->addWidget(card_with(answers_, page), 0, 1);
  grid->addWidget(make_sweep(), 1, 0);
  grid->addWidget(make_reading(), 1, 1);
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
  depth_ = new QComboBox(this);
  depth_->setAccessibleName(tr("Depth of the sweep"));
  depth_->setToolTip(tr("Depth at which the sweep reads"));
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

QWidget* ProbesPage::make_reading() {
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
  std::set<std::int64_t> lengths;
  for (const QString& part : lengths_->text().split(',', Qt::SkipEmptyParts)) {
    if (part.trimmed().isEmpty()) continue;
    bool number = false;
    const int length = part.trimmed().toInt(&number);
    if (!number || length > kMostDistractors) {
      show_error(tr("Distractors are whole numbers from 0 to 4096 with commas between, such as 0, 8, 32."));
      return std::nullopt;
    }
    lengths.insert(length);
  }
  request.lengths.assign(lengths.begin(), lengths.end());
  return request;
}

void ProbesPage::measure() {
  const auto wanted = request();
  if (!wanted) return;
  const auto work = [this, wanted = *wanted](AnalysisModel& model,
                                             const AnalysisControl& control) -> std::function<void()> {
    auto result = std::make_shared<ProbeMeasurement>(measure_probes(model, wanted, control));
    return [this, result] { take(std::move(*result)); };
  };
  start({{runs().front().key, work}});
  if (!measurement_) show_empty(strip().busy() ? tr("measuring…") : empty_text());  // it may have failed at once
}

void ProbesPage::take(ProbeMeasurement measurement) {
  measurement_ = std::move(measurement);
  const auto& curves = measurement_->report.curves;
  const int depths = curves.empty() ? 0 : static_cast<int>(curves.front().by_depth.size());
  const int shown = std::min(depth_->currentIndex(), depths - 1);
  depth_->clear();
  for (int depth = 0; depth < depths; ++depth) depth_->addItem(tr("at depth %1").arg(depth));
  depth_->setCurrentIndex(std::max(0, shown));
  for (widgets::Plot* plot : {depths_, slices_}) {
    plot->set_reference_lines({{100 * measurement_->report.chance, tr("chance")}});
    plot->follow();
  }
  depths_->set_series(depth_series(*measurement_));
  answers_->set_data(answer_measurements(), answer_rows(*measurement_));
  stats_->set_rows(probe_stats(*measurement_));
  reading_->setText(probe_reading(*measurement_));
  show_slices();
}

void ProbesPage::show_slices() {
  if (!measurement_) return;
  slices_->set_title(tr("Accuracy by %1").arg(QString::fromStdString(measurement_->slice_title)));
  slices_->set_axes(slice_axis(*measurement_), tr("accuracy (%)"));
  slices_->set_series(slice_series(*measurement_, static_cast<std::size_t>(std::max(0, depth_->currentIndex()))));
}

void ProbesPage::clear() {
  measurement_.reset();
  for (widgets::Plot* plot : {depths_, slices_}) {
    plot->set_series({});
    plot->set_reference_lines({});
  }
  answers_->set_data({}, {});
  stats_->set_rows({});
  show_empty(empty_text());
}

void ProbesPage::show_empty(const QString& text) {
  for (widgets::Plot* plot : {depths_, slices_}) plot->set_empty_text(text);
  answers_->set_empty_text(text);
  reading_->setText(
      tr("How well a linear classifier reads the answer from the residual at a prompt's last position, "
         "and whether the model uses the state that is carried there."));
}

std::vector<const widgets::FigureSource*> ProbesPage::figures() const { return {depths_, slices_, answers_}; }

}  // namespace app
