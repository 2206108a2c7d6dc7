#include "widgets/pass_schedule_strip.h"

#include <QHelpEvent>
#include <QPainter>
#include <QPainterPath>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/numbers.h"
#include "widgets/palette.h"

namespace widgets {
namespace {

constexpr double kTop = 8;
constexpr double kBarHeight = 20;

}  // namespace

PassScheduleStrip::PassScheduleStrip(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  setAccessibleName(tr("Pass schedule"));
}

void PassScheduleStrip::set_schedule(const std::vector<engine::Stage>& stages, std::int64_t total_steps,
                                     bool interleaved) {
  if (stages == stages_ && total_steps == total_steps_ && interleaved == interleaved_) return;
  stages_ = stages;
  total_steps_ = total_steps;
  interleaved_ = interleaved;
  describe_all();
  update();
}

void PassScheduleStrip::set_step(std::int64_t step) {
  if (step == step_) return;
  step_ = step;
  update();
}

QRectF PassScheduleStrip::segment(std::size_t index) const {
  double before = 0;
  double total = 0;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const double share = std::max(0.0, stages_[i].share);
    if (i < index) before += share;
    total += share;
  }
  if (total <= 0) return {};
  return {before / total * width(), kTop, std::max(0.0, stages_[index].share) / total * width(), kBarHeight};
}

int PassScheduleStrip::stage_at(const QPoint& position) const {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    if (segment(i).contains(position)) return static_cast<int>(i);
  }
  return -1;
}

QString PassScheduleStrip::describe(std::size_t index) const {
  const engine::Stage& stage = stages_[index];
  return tr("K = %1: %2 % of the steps").arg(stage.passes).arg(short_number(stage.share * 100, 4));
}

void PassScheduleStrip::describe_all() {
  QStringList parts;
  for (std::size_t i = 0; i < stages_.size(); ++i) parts << describe(i);
  const QString kind = interleaved_ ? tr("drawn per step") : tr("one after the other");
  setAccessibleDescription(parts.join(QStringLiteral(", ")) + QStringLiteral(" (") + kind + QLatin1Char(')'));
}

void PassScheduleStrip::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_of(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  QPainterPath outline;
  outline.addRoundedRect(QRectF(0, kTop, width(), kBarHeight), 4, 4);
  painter.save();
  painter.setClipPath(outline);
  painter.fillRect(rect(), theme.border);
  painter.setFont(caption_font());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const QRectF area = segment(i);
    painter.fillRect(area, pass_pen(theme, stages_[i].passes).color());
    if (interleaved_)
      painter.fillRect(area,
                       QBrush(mix(theme.card, pass_pen(theme, stages_[i].passes).color(), 0.8), Qt::BDiagPattern));
    const QString label = QStringLiteral("K = %1").arg(stages_[i].passes);
    if (QFontMetricsF(caption_font()).horizontalAdvance(label) + 6 > area.width()) continue;
    painter.setPen(theme.dark ? theme.ground : theme.card);
    painter.drawText(area, Qt::AlignCenter, label);
  }
  painter.restore();
  if (step_ < 0 || total_steps_ <= 0 || interleaved_) return;
  const double share = std::clamp(static_cast<double>(step_) / static_cast<double>(total_steps_), 0.0, 1.0);
  painter.fillRect(QRectF(std::round(share * (width() - 2)), 0, 2, kTop + kBarHeight), theme.text);
}

bool PassScheduleStrip::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int stage = stage_at(help->pos());
  if (stage >= 0) QToolTip::showText(help->globalPos(), describe(static_cast<std::size_t>(stage)), this);
  return true;
}

}  // namespace widgets
