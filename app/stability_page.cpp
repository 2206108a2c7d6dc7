#include "app/stability_page.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QSpinBox>
#include <QVBoxLayout>
#include <memory>
#include <utility>

#include "app/action_button.h"
#include "widgets/card.h"
#include "widgets/heatmap.h"
#include "widgets/numbers.h"
#include "widgets/plot.h"
#include "widgets/style.h"

namespace app {

namespace {

constexpr int kGap = 12;
constexpr int kMostRows = 4096;
constexpr int kMostRepeats = 20;
constexpr int kManyPasses = 100;  // from here on a log axis shows more

AnalysisWords stability_words() {
  return {"stability", QObject::tr("Stability"), QObject::tr("Measure the stability"),
          QObject::tr("Cancel the stability measurement"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_4)};
}

QSpinBox* make_spin(QWidget* parent, int value, int most, const QString& suffix, const QString& name) {
  auto* spin = new QSpinBox(parent);
  spin->setRange(1, most);
  spin->setValue(value);
  spin->setSuffix(suffix);
  spin->setAccessibleName(name);
  spin->setToolTip(name);
  return spin;
}

}  // namespace

StabilityPage::StabilityPage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open), stability_words(), parent) {
  build_controls();
  build_charts();
  clear();
}

void StabilityPage::build_controls() {
  passes_ = new QComboBox(this);
  for (const int passes : {10, 30, 100, 300, 1000}) {
    passes_->addItem(tr("%1 passes").arg(widgets::count_text(passes)), passes);
  }
  passes_->setCurrentIndex(1);
  passes_->setAccessibleName(tr("Feedback passes"));
  passes_->setToolTip(tr("Feedback passes after pass 1; once every position is exact, more of them cost nothing"));
  rows_ = make_spin(this, 64, kMostRows, tr(" rows"), tr("Held-out rows"));
  repeats_ =
      make_spin(this, 1, kMostRepeats, tr(" ×"), tr("Repeats, each on rows of its own; bands show their spread"));
  log_x_ = make_toggle(this, tr("Logarithmic pass axis"), Qt::ALT | Qt::Key_G, [this](bool on) { set_log_x(on); });
  auto* log = new QCheckBox(tr("log passes"), this);
  log->setAccessibleName(log_x_->text());
  connect(log, &QCheckBox::toggled, log_x_, &QAction::setChecked);
  connect(log_x_, &QAction::toggled, log, &QCheckBox::setChecked);
  strip().add_control(passes_);
  strip().add_control(rows_);
  strip().add_control(repeats_);
  strip().add_control(log);
  settings().add("passes", passes_);
  settings().add("rows", rows_);
  settings().add("repeats", repeats_);
  settings().add("log_passes", log);
  connect(passes_, &QComboBox::currentIndexChanged, this, [this] {
    log_x_->setChecked(request().passes >= kManyPasses);
    if (!runs().empty()) measure();
  });
}

widgets::Plot* StabilityPage::add_plot(const QString& title, const QString& y_title) {
  auto* plot = new widgets::Plot(this);
  plot->set_title(title);
  plot->setAccessibleName(title);
  plot->set_axes(tr("feedback passes"), y_title);
  link_->add(plot);
  return plot;
}

void StabilityPage::build_charts() {
  link_ = new widgets::PlotLink(this);
  auto* words = new widgets::Card(tr("What it means"), this);
  words->set_heading_style();
  verdict_ = new QLabel(words);
  verdict_->setWordWrap(true);
  verdict_->setTextFormat(Qt::RichText);
  verdict_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  verdict_->setAccessibleName(tr("Verdict"));
  words->body()->addWidget(verdict_);
  words->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  content()->addWidget(words);

  loss_ = add_plot(tr("Loss after each pass"), tr("loss (nats)"));
  update_ = add_plot(tr("Update norm"), tr("‖h_f − h_(f−1)‖"));
  exact_ = add_plot(tr("Loss on exact positions"), tr("loss (nats)"));
  widgets::PlotView log_y;
  log_y.log_y = true;
  update_->set_view(log_y);
  update_->setToolTip(
      tr("Blended: the mean over all scored positions, exact ones included, which move by 0. Movable: "
         "over those alone that can still move."));
  exact_->setToolTip(tr("After f passes the first f + 1 positions hold what sequential decoding would compute."));
  matrix_ = new widgets::Heatmap(this);
  matrix_->set_title(tr("Update norm by position"));
  matrix_->set_axes(tr("position t, from 0"), tr("feedback pass f"), tr("norm"));
  matrix_->set_origin(0, 1);
  matrix_->set_log(true);

  auto* grid = new QGridLayout;
  grid->setSpacing(kGap);
  const std::vector<QWidget*> charts = {loss_, update_, matrix_, exact_};
  for (std::size_t i = 0; i < charts.size(); ++i) {
    auto* card = new widgets::Card({}, this);
    card->body()->addWidget(charts[i]);
    grid->addWidget(card, static_cast<int>(i / 2), static_cast<int>(i % 2));
  }
  for (int i = 0; i < 2; ++i) grid->setColumnStretch(i, 1), grid->setRowStretch(i, 1);
  content()->addLayout(grid, 1);
}

StabilityRequest StabilityPage::request() const {
  return {passes_->currentData().toInt(), rows_->value(), repeats_->value()};
}

// The runs come in one after the other; what an earlier measurement left goes when the first new one is there.
void StabilityPage::measure() {
  std::vector<AnalysisWorker::Job> jobs;
  fresh_ = true;
  for (const MeasuredRun& run : runs()) {
    jobs.push_back(
        {run.key, [this, color = run.color, asked = request()](AnalysisModel& model, const AnalysisControl& control) {
           auto result = std::make_shared<StabilityResult>(measure_stability_of(model, asked, control));
           result->color = color;
           return [this, result] { take(std::move(*result)); };
         }});
  }
  start(std::move(jobs));
}

void StabilityPage::take(StabilityResult result) {
  if (fresh_) results_.clear();
  fresh_ = false;
  results_.push_back(std::move(result));
  draw();
}

void StabilityPage::clear() {
  results_.clear();
  for (widgets::Plot* plot : {loss_, update_, exact_}) plot->set_empty_text(empty_text());
  matrix_->set_empty_text(empty_text());
  draw();
}

void StabilityPage::set_log_x(bool log) {
  log_ = log;
  draw();
}

void StabilityPage::draw() {
  for (widgets::Plot* plot : {loss_, update_, exact_}) {
    widgets::PlotView view = plot->view();
    view.log_x = log_;
    plot->set_view(view);
    plot->set_regions(results_.empty() ? std::vector<widgets::Region>() : pass_regions(results_.front(), log_));
  }
  std::vector<widgets::ReferenceLine> standard;
  if (results_.size() == 1) standard.push_back({results_.front().curves.loss.front().value, tr("Standard (pass 1)")});
  loss_->set_reference_lines(standard);
  loss_->set_series(loss_curves(results_, log_));
  update_->set_series(update_curves(results_));
  exact_->set_series(exact_curves(results_, log_));
  for (widgets::Plot* plot : {loss_, update_, exact_}) plot->follow();
  draw_matrix();
  show_verdict();
}

void StabilityPage::draw_matrix() {
  if (results_.empty()) {
    matrix_->set_matrix({});
    matrix_->set_line({}, {});
    return;
  }
  const StabilityResult& first = results_.front();
  matrix_->set_title(results_.size() > 1 ? tr("Update norm, %1").arg(QString::fromStdString(first.name))
                                         : tr("Update norm by position"));
  matrix_->set_matrix(update_matrix(first));
  matrix_->set_line(wavefront(first), tr("wavefront: exact above it"));
}

void StabilityPage::show_verdict() {
  QStringList lines;
  for (const StabilityResult& result : results_) {
    QString text = QString::fromStdString(result.verdict.text).toHtmlEscaped();
    if (result.trained_passes > 1) text += tr(" Trained with up to %1 passes (shaded).").arg(result.trained_passes);
    if (results_.size() > 1) {
      text = QStringLiteral("<b>%1</b>: %2").arg(QString::fromStdString(result.name).toHtmlEscaped(), text);
    }
    lines << text;
  }
  verdict_->setText(lines.isEmpty() ? empty_text() : lines.join(QStringLiteral("<br>")));
  if (results_.empty()) return;
  const StabilityResult& first = results_.front();
  QString on = tr("%1, step %2").arg(QString::fromStdString(first.name), widgets::count_text(first.step));
  if (results_.size() > 1) on = tr("%1 runs").arg(results_.size());
  strip().set_measured_on(tr("%1 · %2 held-out rows · seed 1").arg(on, widgets::count_text(first.curves.rows)));
}

std::vector<const widgets::FigureSource*> StabilityPage::figures() const { return {loss_, update_, matrix_, exact_}; }

QString StabilityPage::verdict() const { return verdict_->text(); }

}  // namespace app
