#include "app/analysis_page.h"

#include <QAction>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "widgets/banner.h"
#include "widgets/card.h"

namespace app {

namespace {

constexpr int kGap = 12;
constexpr int kFollowRest = 1500;  // ms between two measurements, so that the training keeps most of the machine

}  // namespace

AnalysisPage::AnalysisPage(AnalysisWorker::Opener open, AnalysisWords words, QWidget* parent)
    : QWidget(parent),
      words_(std::move(words)),
      banner_(new widgets::Banner(this)),
      strip_(new AnalysisStrip(std::move(open), words_.measure, words_.cancel, words_.keys, this)),
      content_(new QVBoxLayout) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(kGap);
  banner_->hide();
  layout->addWidget(banner_);
  auto* card = new widgets::Card({}, this);
  head_ = card->body();
  head_->addWidget(strip_);
  card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  layout->addWidget(card);
  content_->setSpacing(kGap);
  layout->addLayout(content_, 1);
  strip_->action()->setEnabled(false);
  connect(strip_, &AnalysisStrip::failed, this, &AnalysisPage::show_problem);
  connect(strip_, &AnalysisStrip::busy_changed, this, &AnalysisPage::busy_changed);
  connect(strip_, &AnalysisStrip::finished, this, [this] { rest_.start(); });
  settings_.add("follow", strip_->follow());
  connect(strip_, &AnalysisStrip::wanted, this, [this] {
    if (!runs_.empty()) measure();
  });
}

void AnalysisPage::show_runs(std::vector<MeasuredRun> runs) {
  if (runs == runs_) return;
  runs_ = std::move(runs);
  strip_->cancel();
  strip_->set_measured_on({});
  strip_->action()->setEnabled(!runs_.empty());
  strip_->offer_follow(live());
  metadata_.clear();
  clear();
  needed_ = true;
  if (isVisible()) measure_if_needed();
}

bool AnalysisPage::live() const {
  return !live_key_.empty() &&
         std::any_of(runs_.begin(), runs_.end(), [this](const MeasuredRun& run) { return run.key == live_key_; });
}

void AnalysisPage::set_live(const std::string& key, std::int64_t step) {
  live_key_ = key;
  live_step_ = step;
  strip_->offer_follow(live());
  const bool due = !rest_.isValid() || rest_.elapsed() >= kFollowRest;
  if (live() && strip_->following() && isVisible() && !busy() && due && step > measured_step_) measure();
}

void AnalysisPage::run_changed(const std::string& key) {
  if (std::none_of(runs_.begin(), runs_.end(), [&](const MeasuredRun& run) { return run.key == key; })) return;
  strip_->forget_model();
  needed_ = true;
  if (isVisible()) measure_if_needed();
}

void AnalysisPage::measure_if_needed() {
  if (!needed_ || runs_.empty()) return;
  needed_ = false;
  measure();
}

void AnalysisPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  measure_if_needed();
}

void AnalysisPage::start(std::vector<AnalysisWorker::Job> jobs) {
  banner_->dismiss();
  if (live()) strip_->forget_model();  // it has been trained on since
  measured_step_ = live_step_;
  strip_->run(std::move(jobs));
}

void AnalysisPage::show_error(const QString& sentence) { banner_->show_message(widgets::Severity::error, sentence); }

void AnalysisPage::show_problem(const QString& sentence, bool needs_training) {
  if (!needs_training) return show_error(sentence);
  banner_->show_message(widgets::Severity::error, sentence, tr("Go to Training"), [this] { emit training_wanted(); });
}

void AnalysisPage::add_controls_line(const std::vector<QWidget*>& controls) {
  auto* row = new QHBoxLayout;
  row->setSpacing(kGap);
  for (QWidget* control : controls) row->addWidget(control);
  row->addStretch(1);
  head_->addLayout(row);
}

QString AnalysisPage::empty_text() const {
  return runs_.empty() ? tr("no run is selected: select one at the left, or open one")
                       : tr("not measured yet: press Measure");
}

}  // namespace app
