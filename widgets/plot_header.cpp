#include <algorithm>

#include "widgets/plot_items.h"

namespace widgets {
namespace {

constexpr double kLine = 20;
constexpr double kSample = 20;  // length of the line sample in the legend
constexpr double kSampleGap = 6;
constexpr double kEntryGap = 16;

}  // namespace

PlotHeader::PlotHeader(QCustomPlot* plot) : QCPLayoutElement(plot) { setMinimumMargins(QMargins(0, 0, 0, 0)); }

void PlotHeader::show(const PlotScene& scene, const Theme& theme) {
  theme_ = theme;
  title_ = scene.title;
  complaint_ = scene.complaint();
  entries_.clear();
  if (scene.series.size() < 2 && (scene.series.empty() || scene.series[0].label.empty())) return;
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    const Series& series = scene.series[i];
    if (series.label.empty()) continue;
    entries_.push_back({static_cast<int>(i),
                        QString::fromStdString(series.label),
                        series_pen(theme, series.style, 1.5),
                        scene.visible[i],
                        series.style.line,
                        {}});
  }
}

int PlotHeader::entry_at(const QPointF& position) const {
  for (const Entry& entry : entries_) {
    if (entry.area.translated(mOuterRect.topLeft()).contains(position)) return entry.series;
  }
  return -1;
}

// The height depends on how the legend wraps, which the layout must know before it shares out the room.
void PlotHeader::update(UpdatePhase phase) {
  if (phase == upPreparation) lay_out(mParentPlot->viewport().width());
  QCPLayoutElement::update(phase);
}

void PlotHeader::lay_out(double width) {
  const QFontMetricsF metrics(caption_font());
  title_width_ = title_.isEmpty() ? 0 : QFontMetricsF(title_font()).horizontalAdvance(title_) + 1;
  double total = 0;
  for (Entry& entry : entries_) {
    const double wanted = kSample + kSampleGap + metrics.horizontalAdvance(entry.label) + 1;
    entry.area = QRectF(0, 0, std::min(wanted, width), kLine);
    total += entry.area.width() + kEntryGap;
  }
  const bool beside = title_width_ + total <= width;  // all in the title's line, at its right end
  double x = beside ? width - total + kEntryGap : 0;
  double y = beside || title_.isEmpty() ? 0 : kLine;
  for (Entry& entry : entries_) {
    if (!beside && x > 0 && x + entry.area.width() > width) {
      x = 0;
      y += kLine;
    }
    entry.area.moveTopLeft(QPointF(x, y));
    x += entry.area.width() + kEntryGap;
  }
  const bool any = !title_.isEmpty() || !entries_.empty();
  complaint_top_ = any ? y + kLine : 0;
  const double height = complaint_top_ + (complaint_.isEmpty() ? 0 : kLine - 2);
  setMinimumSize(0, static_cast<int>(height));
  setMaximumSize(QWIDGETSIZE_MAX, static_cast<int>(height));
}

void PlotHeader::draw_entry(QCPPainter* painter, const Entry& entry, const QPointF& corner) const {
  const QRectF area = entry.area.translated(corner);
  QPen pen = entry.pen;
  if (!entry.visible) pen.setColor(theme_.border);
  painter->setPen(pen);
  const double middle = area.center().y();
  if (entry.line) {
    painter->drawLine(QPointF(area.left(), middle), QPointF(area.left() + kSample, middle));
  } else {
    painter->setBrush(pen.color());
    painter->drawEllipse(QPointF(area.left() + kSample / 2, middle), 2.5, 2.5);
    painter->setBrush(Qt::NoBrush);
  }
  painter->setFont(caption_font());
  painter->setPen(theme_.secondary);
  const QRectF text = area.adjusted(kSample + kSampleGap, 0, 0, 0);
  painter->drawText(text, Qt::AlignLeft | Qt::AlignVCenter,
                    QFontMetricsF(caption_font()).elidedText(entry.label, Qt::ElideRight, text.width()));
  if (!entry.visible) painter->drawLine(QPointF(text.left(), middle), QPointF(text.right(), middle));
}

void PlotHeader::draw(QCPPainter* painter) {
  const QPointF corner = mOuterRect.topLeft();
  painter->setFont(title_font());
  painter->setPen(theme_.text);
  const QRectF line(corner, QSizeF(mOuterRect.width(), kLine));
  painter->drawText(line, Qt::AlignLeft | Qt::AlignVCenter,
                    QFontMetricsF(title_font()).elidedText(title_, Qt::ElideRight, line.width()));
  for (const Entry& entry : entries_) draw_entry(painter, entry, corner);
  if (complaint_.isEmpty()) return;
  painter->setFont(caption_font());
  painter->setPen(theme_.warning);
  const QRectF foot(corner.x(), corner.y() + complaint_top_, mOuterRect.width(), kLine - 2);
  painter->drawText(foot, Qt::AlignLeft | Qt::AlignVCenter,
                    QFontMetricsF(caption_font()).elidedText(complaint_, Qt::ElideRight, foot.width()));
}

}  // namespace widgets
