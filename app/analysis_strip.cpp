#include "app/analysis_strip.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <algorithm>
#include <utility>

#include "app/action_button.h"
#include "widgets/style.h"

namespace app {

namespace {

using State = AnalysisSnapshot::State;

constexpr int kPollMilliseconds = 40;
constexpr int kGap = 12;
constexpr int kProgressWidth = 140;
constexpr int kProgressSteps = 1000;
constexpr int kButtonWidth = 92;  // the same for either word, so that nothing moves

}  // namespace

AnalysisStrip::AnalysisStrip(AnalysisWorker::Opener open, const QString& measure_text, const QString& cancel_text,
                             const QKeySequence& keys, QWidget* parent)
    : QWidget(parent),
      measure_text_(measure_text),
      cancel_text_(cancel_text),
      action_(make_action(this, measure_text, keys,
                          [this] {
                            if (busy()) {
                              cancel();
                            } else {
                              emit wanted();
                            }
                          })),
      row_(new QHBoxLayout(this)),
      text_(new QLabel(this)),
      follow_(new QCheckBox(tr("follow training"), this)),
      progress_(new QProgressBar(this)),
      worker_(std::move(open)) {
  action_->setIconText(tr("Measure"));
  row_->setContentsMargins(0, 0, 0, 0);
  row_->setSpacing(kGap);
  widgets::set_kind(*text_, "caption");
  text_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  text_->setWordWrap(true);  // two short lines in a narrow window
  progress_->setFixedWidth(kProgressWidth);
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("Progress of the measurement"));
  progress_->hide();
  follow_->setAccessibleName(tr("Measure again while the run is in training"));
  follow_->setToolTip(tr("Measures copies of the present model, one after the other, while the run is in training"));
  follow_->hide();
  row_->addWidget(text_, 1);
  row_->addWidget(follow_);
  row_->addWidget(progress_);
  QPushButton* button = make_button(action_, this, "primary");
  button->setMinimumWidth(kButtonWidth);
  row_->addWidget(button);
  timer_.setInterval(kPollMilliseconds);
  connect(&timer_, &QTimer::timeout, this, &AnalysisStrip::poll);
}

void AnalysisStrip::add_control(QWidget* control) { row_->insertWidget(row_->indexOf(text_), control); }

void AnalysisStrip::run(std::vector<AnalysisWorker::Job> jobs) {
  worker_.run(std::move(jobs));
  timer_.start();
  poll();
}

void AnalysisStrip::offer_follow(bool offered) { follow_->setVisible(offered); }
bool AnalysisStrip::following() const { return follow_->isChecked(); }

void AnalysisStrip::cancel() { worker_.cancel(); }

QString AnalysisStrip::activity() const {
  if (state_ == State::loading) return tr("Loading the model");
  return state_ == State::measuring ? tr("Measuring") : QString();
}

void AnalysisStrip::set_measured_on(const QString& text) {
  measured_on_ = text;
  if (!busy()) text_->setText(text);
  text_->setToolTip(text);
}

void AnalysisStrip::poll() {
  const AnalysisSnapshot snapshot = worker_.poll();
  const bool changed = std::exchange(state_, snapshot.state) != snapshot.state;
  for (const auto& result : snapshot.results) {
    if (result) result();
  }
  for (const AnalysisProblem& problem : snapshot.problems) {
    emit failed(QString::fromStdString(problem.sentence), problem.needs_training);
  }
  show_state(snapshot);
  if (state_ == State::idle) timer_.stop();
  if (changed) emit busy_changed();
  if (changed && state_ == State::idle) emit finished(snapshot.cancelled);
}

void AnalysisStrip::show_state(const AnalysisSnapshot& snapshot) {
  action_->setText(busy() ? cancel_text_ : measure_text_);
  action_->setIconText(busy() ? tr("Cancel") : tr("Measure"));
  progress_->setVisible(busy());
  progress_->setRange(0, snapshot.total > 0 ? kProgressSteps : 0);  // 0: how long it takes is not known
  if (snapshot.total > 0) progress_->setValue(static_cast<int>(kProgressSteps * snapshot.done / snapshot.total));
  if (!busy()) return text_->setText(measured_on_);
  QString text = state_ == State::loading ? tr("loading the model") : tr("measuring");
  if (snapshot.jobs > 1) text += tr(" · run %1 of %2").arg(snapshot.job + 1).arg(snapshot.jobs);
  text_->setText(text);
}

}  // namespace app
