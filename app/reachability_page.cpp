#include "app/reachability_page.h"

#include <QAction>
#include <QBoxLayout>
#include <QComboBox>
#include <QLabel>
#include <QResizeEvent>
#include <QSlider>
#include <algorithm>
#include <memory>
#include <utility>

#include "app/action_button.h"
#include "widgets/card.h"
#include "widgets/heatmap.h"
#include "widgets/numbers.h"
#include "widgets/palette.h"
#include "widgets/reach_grid.h"
#include "widgets/style.h"

namespace app {

namespace {

using engine::Cell;
using engine::Clock;
using engine::DecodeMode;

constexpr int kGap = 12;
constexpr int kBeat = 220;           // ms between two instants
constexpr int kRest = 350;           // ms after which a cell that is stayed at is measured
constexpr double kNarrowCell = 13;   // px: below it panels stand one below the other
constexpr int kPanelMargins = 84;    // px of a panel beside its cells
constexpr int kTallEnough = 620;     // px of the page that three panels in a column need
constexpr double kLargestCell = 40;  // px
constexpr int kPanelFrame = 126;     // px of a panel above and below its cells
constexpr int kLowestPanel = 224;    // px

AnalysisWords reach_words() {
  return {"reachability", QObject::tr("Reachability"), QObject::tr("Measure the influence"),
          QObject::tr("Cancel the influence measurement"), QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_2)};
}

QString cell_text(Cell cell) { return QStringLiteral("(%1, %2)").arg(cell.position + 1).arg(cell.depth); }

}  // namespace

ReachabilityPage::ReachabilityPage(AnalysisWorker::Opener open, QWidget* parent)
    : AnalysisPage(std::move(open), reach_words(), parent) {
  mode_ = new QComboBox(this);
  for (const DecodeMode mode : {DecodeMode::standard, DecodeMode::soft, DecodeMode::fused}) {
    mode_->addItem(tr("measured in %1").arg(widgets::mode_name(mode)), static_cast<int>(mode));
  }
  mode_->setCurrentIndex(1);
  mode_->setAccessibleName(tr("Decoding mode that is measured"));
  mode_->setToolTip(mode_->accessibleName());
  strip().add_control(mode_);
  settings().add("mode", mode_);
  build_transport();
  build_panels();
  measure_soon_.setSingleShot(true);
  measure_soon_.setInterval(kRest);
  beat_.setInterval(kBeat);
  connect(&measure_soon_, &QTimer::timeout, this, [this] {
    if (!runs().empty()) measure();
  });
  connect(&beat_, &QTimer::timeout, this, &ReachabilityPage::beat);
  connect(mode_, &QComboBox::currentIndexChanged, &measure_soon_, qOverload<>(&QTimer::start));
  clear();
}

void ReachabilityPage::build_transport() {
  auto* card = new widgets::Card({}, this);
  card->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
  back_ = make_action(this, tr("One instant back"), Qt::CTRL | Qt::Key_Comma, [this] { step_by(-1); });
  play_ = make_action(this, tr("Play the order of computing"), Qt::CTRL | Qt::Key_Space,
                      [this] { set_playing(!playing()); });
  forward_ = make_action(this, tr("One instant on"), Qt::CTRL | Qt::Key_Period, [this] { step_by(1); });
  order_action_ = make_action(this, tr("Next order of computing"), Qt::CTRL | Qt::Key_G,
                              [this] { order_->setCurrentIndex((order_->currentIndex() + 1) % order_->count()); });
  play_->setIconText(tr("Play"));
  scrub_ = new QSlider(Qt::Horizontal, card);
  scrub_->setAccessibleName(tr("Instant"));
  place_ = new QLabel(card);
  widgets::set_kind(*place_, "caption");
  order_ = new QComboBox(card);
  order_->addItem(tr("token by token"));
  order_->addItem(tr("training: a depth at a time"));
  order_->addItem(tr("training: a pass at a time"));
  order_->setAccessibleName(tr("Order of computing"));
  order_->setToolTip(order_->accessibleName());
  auto* row = new QHBoxLayout;
  row->setSpacing(8);
  row->addWidget(make_button(back_, card, "", QStringLiteral("◀")));
  row->addWidget(make_button(play_, card));
  row->addWidget(make_button(forward_, card, "", QStringLiteral("▶")));
  row->addWidget(scrub_, 1);
  row->addWidget(place_);
  row->addWidget(order_);
  card->body()->addLayout(row);
  content()->addWidget(card);
  connect(scrub_, &QSlider::valueChanged, this, [this](int instant) {
    clock_.go_to(instant);
    chosen_ = true;
    draw();
    if (!playing()) measure_soon_.start();
  });
  connect(order_, &QComboBox::currentIndexChanged, this, [this](int order) {
    clock_.set_order(static_cast<ReachOrder>(order));
    draw();
  });
}

void ReachabilityPage::build_panels() {
  standard_ = new widgets::ReachGrid(this);
  latent_ = new widgets::ReachGrid(this);
  influence_ = new widgets::Heatmap(this);
  influence_->set_axes(tr("position t"), tr("depth ℓ"), tr("‖∂h/∂h′‖"));
  influence_->set_origin(1, 0);
  influence_->set_log(true);
  panels_ = new QBoxLayout(QBoxLayout::LeftToRight);
  panels_->setSpacing(kGap);
  for (QWidget* panel : std::initializer_list<QWidget*>{standard_, latent_, influence_}) {
    auto* card = new widgets::Card({}, this);
    card->body()->addWidget(panel);
    panels_->addWidget(card, 1);
  }
  content()->addLayout(panels_, 1);
  auto* card = new widgets::Card(tr("What you see"), this);
  card->set_heading_style();
  words_ = new QLabel(card);
  words_->setWordWrap(true);
  words_->setTextFormat(Qt::PlainText);
  words_->setAccessibleName(tr("What you see"));
  card->body()->addWidget(words_);
  card->body()->addStretch(1);  // the words take what height the panels leave
  content()->addWidget(card);
  connect(standard_, &widgets::ReachGrid::cell_chosen, this, &ReachabilityPage::choose);
  connect(latent_, &widgets::ReachGrid::cell_chosen, this, &ReachabilityPage::choose);
}

// ---- clock ----------------------------------------------------------------------------------------------------------

void ReachabilityPage::set_playing(bool playing) {
  if (playing && clock_.instants() > 0) {
    if (clock_.at_end()) clock_.go_to(0);
    measure_soon_.stop();
    beat_.start();
  } else {
    beat_.stop();
    if (chosen_) measure_soon_.start();
  }
  draw();
}

void ReachabilityPage::beat() {
  if (clock_.at_end()) return set_playing(false);
  step_by(1);
}

void ReachabilityPage::step_by(int instants) {
  clock_.go_to(clock_.now() + instants);
  chosen_ = true;
  draw();
  if (!playing()) measure_soon_.start();
}

void ReachabilityPage::choose(Cell cell) {
  if (playing()) beat_.stop();
  clock_.set_cell(cell);
  chosen_ = true;
  draw();
  measure_soon_.start();
}

// ---- measuring ------------------------------------------------------------------------------------------------------

void ReachabilityPage::measure() {
  measure_soon_.stop();
  ReachRequest request;
  request.mode = static_cast<DecodeMode>(mode_->currentData().toInt());
  if (chosen_) request.cell = clock_.cell();
  start({{runs().front().key, [this, request](AnalysisModel& model, const AnalysisControl& control) {
            auto result = std::make_shared<ReachResult>(measure_reach(model, request, control));
            return [this, result] { take(std::move(*result)); };
          }}});
}

void ReachabilityPage::take(ReachResult result) {
  const engine::ReachGrid grid{result.map.positions, result.map.layers};
  clock_.set_grid(grid);
  if (!chosen_) clock_.set_cell(result.cell);
  strip().set_measured_on(tr("%1, step %2 · held-out prompt of %3 tokens · %4 directions, exact")
                              .arg(QString::fromStdString(result.name), widgets::count_text(result.step))
                              .arg(grid.positions)
                              .arg(result.map.directions));
  if (!result.map.exact) {
    strip().set_measured_on(
        tr("%1, step %2 · held-out prompt of %3 tokens · estimated from %4 random directions, seed 1")
            .arg(QString::fromStdString(result.name), widgets::count_text(result.step))
            .arg(grid.positions)
            .arg(result.map.directions));
  }
  result_ = std::move(result);
  arrange();
  draw();
}

void ReachabilityPage::clear() {
  beat_.stop();
  result_.reset();
  chosen_ = false;
  clock_.set_grid({});
  standard_->set_empty_text(empty_text());
  latent_->set_empty_text(empty_text());
  influence_->set_empty_text(empty_text());
  draw();
}

void ReachabilityPage::hideEvent(QHideEvent* event) {
  AnalysisPage::hideEvent(event);
  set_playing(false);
  measure_soon_.stop();
}

// ---- drawing --------------------------------------------------------------------------------------------------------

void ReachabilityPage::resizeEvent(QResizeEvent* event) {
  AnalysisPage::resizeEvent(event);
  arrange();
}

// Long prompts need the whole width: the panels stand one below the other where there is the height for it. Beside each
// other they are as high as their cells are wide, so that these are about square.
void ReachabilityPage::arrange() {
  const engine::ReachGrid& grid = clock_.grid();
  const double cell = (width() / 3.0 - kPanelMargins) / std::max<double>(1, static_cast<double>(grid.positions));
  const bool stacked = cell < kNarrowCell && height() >= kTallEnough;
  panels_->setDirection(stacked ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  const double wanted =
      kPanelFrame + static_cast<double>(grid.layers + 1) * std::clamp(cell, kNarrowCell, kLargestCell);
  const int most = stacked || grid.positions == 0 ? QWIDGETSIZE_MAX : std::max(kLowestPanel, static_cast<int>(wanted));
  for (int i = 0; i < panels_->count(); ++i) panels_->itemAt(i)->widget()->setMaximumHeight(most);
}

void ReachabilityPage::draw() {
  const bool any = clock_.instants() > 0;
  for (QAction* action : {play_, back_, forward_}) action->setEnabled(any);
  play_->setText(playing() ? tr("Pause the order of computing") : tr("Play the order of computing"));
  play_->setIconText(playing() ? tr("Pause") : tr("Play"));
  {
    const QSignalBlocker quiet(scrub_);
    scrub_->setEnabled(any);
    scrub_->setRange(0, any ? static_cast<int>(clock_.instants() - 1) : 0);
    scrub_->setValue(any ? static_cast<int>(clock_.now()) : 0);
  }
  QString place =
      tr("t = %1, ℓ = %2 · arrow keys move the cell").arg(clock_.cell().position + 1).arg(clock_.cell().depth);
  if (clock_.order() == ReachOrder::passes) place = tr("after %1 feedback passes").arg(clock_.feedback_passes());
  place_->setText(any ? place : QString());
  draw_grids();
  draw_influence();
  words_->setText(explanation());
}

void ReachabilityPage::draw_grids() {
  const bool training = clock_.order() != ReachOrder::tokens;
  standard_->set_title(training ? tr("Standard, in training") : tr("Standard"));
  latent_->set_title(clock_.order() == ReachOrder::passes ? tr("Latent feedback, in training") : tr("Latent feedback"));
  standard_->set_grid(clock_.grid());
  latent_->set_grid(clock_.grid());
  standard_->set_instant(training ? Clock::training : Clock::inference, clock_.cell());
  latent_->set_instant(Clock::latent_feedback, clock_.cell());
  if (clock_.order() == ReachOrder::passes) {
    latent_->set_staircase(clock_.feedback_passes(), result_ && result_->late_start);
  }
}

void ReachabilityPage::draw_influence() {
  if (!result_) {
    influence_->set_title(tr("Measured influence"));
    influence_->set_matrix({});
    return;
  }
  influence_->set_title(tr("Influence on %1, %2").arg(cell_text(result_->cell), widgets::mode_name(result_->mode)));
  influence_->set_matrix(influence_matrix(*result_));
}

QString ReachabilityPage::measured_words() const {
  if (!result_) return {};
  const ReachTally counted = tally(*result_);
  return tr(" Measured in %1 on %2: of %3 cells computed before it %4 move it and %5 are exactly 0 (hatched).")
      .arg(widgets::mode_name(result_->mode), cell_text(result_->cell))
      .arg(counted.computed)
      .arg(counted.computed - counted.zeros)
      .arg(counted.zeros);
}

QString ReachabilityPage::explanation() const {
  if (clock_.instants() == 0) return empty_text();
  const Cell cell = clock_.cell();
  const engine::ReachGrid& grid = clock_.grid();
  if (clock_.order() == ReachOrder::passes) {
    return tr("Training with feedback computes all positions at once, again and again. Each pass makes one more "
              "position "
              "equal to what token-by-token decoding would give: after %1 feedback passes %2 of %3 are.")
               .arg(clock_.feedback_passes())
               .arg(engine::exact_positions(clock_.feedback_passes(), grid.positions, result_ && result_->late_start))
               .arg(grid.positions) +
           measured_words();
  }
  const auto own = engine::Convention::own_position;
  QString text =
      tr("When %1 is computed, Standard reads the past only below depth %2: t·ℓ = %3 cells, its own position "
         "included. Latent feedback puts the finished top state of each token into the next input, so that "
         "every depth of every earlier token is within reach: (t−1)(L+1) + ℓ = %4.")
          .arg(cell_text(cell))
          .arg(cell.depth)
          .arg(engine::standard_reach(cell, own))
          .arg(engine::latent_reach(grid, cell, own));
  if (clock_.order() == ReachOrder::tokens) {
    text += tr(" Out of Standard's reach though computed: (t−1)(L+1−ℓ) = %1, over the whole grid %2.")
                .arg(engine::blocked_cells(grid, cell))
                .arg(engine::blocked_cells_in_total(grid));
  }
  return text + measured_words();
}

std::vector<const widgets::FigureSource*> ReachabilityPage::figures() const { return {standard_, latent_, influence_}; }

}  // namespace app
