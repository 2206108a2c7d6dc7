#include "widgets/plot_items.h"

#include <algorithm>
#include <cmath>

#include "widgets/label_place.h"
#include "widgets/numbers.h"

namespace widgets {
namespace {

// Pixel places on the plot's axes, kept within a sane distance of the rectangle.
struct Mapper {
  explicit Mapper(QCustomPlot* plot) : x_axis(plot->xAxis), y_axis(plot->yAxis), rect(plot->axisRect()->rect()) {}
  [[nodiscard]] double x(double value) const { return x_axis->coordToPixel(value); }
  [[nodiscard]] double y(double value) const {
    if (y_axis->scaleType() == QCPAxis::stLogarithmic && value <= 0) return rect.bottom();
    return y_axis->coordToPixel(value);
  }
  [[nodiscard]] bool shows_x(double value) const { return x_axis->range().contains(value); }

  QCPAxis* x_axis;
  QCPAxis* y_axis;
  QRectF rect;
};

// A vertical piece cut at the rectangle; false when nothing of it is inside.
bool cut_vertical(const QRectF& rect, double& top, double& bottom) {
  if (top > bottom) std::swap(top, bottom);
  top = std::max(top, rect.top());
  bottom = std::min(bottom, rect.bottom());
  return top <= bottom;
}

}  // namespace

namespace {

bool is_spread(const PlotScene& scene, std::size_t i, Spread kind) {
  const Series& series = scene.series[i];
  const bool complete = series.low.size() == series.x.size() && series.high.size() == series.x.size();
  return scene.visible[i] && complete && series.spread == kind;
}

// The error bars as lines, in pixels.
void add_bars(const Series& series, const Mapper& map, std::vector<QPolygonF>& lines) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = map.x(series.x[i]);
    lines.push_back(QPolygonF({QPointF(x, map.y(series.low[i])), QPointF(x, map.y(series.high[i]))}));
  }
}

}  // namespace

void PlotUnderlay::show(const PlotScene& scene, const Theme& theme) {
  scene_ = &scene;
  theme_ = theme;
}

void PlotUnderlay::draw(QCPPainter* painter) {
  if (!scene_) return;
  painter->setAntialiasing(true);
  draw_regions(painter);
  for (std::size_t i = 0; i < scene_->series.size(); ++i) {
    if (is_spread(*scene_, i, Spread::band)) draw_band(painter, scene_->series[i]);
    if (scene_->visible[i] && scene_->series[i].style.filled) draw_filled(painter, scene_->series[i]);
  }
}

void PlotUnderlay::draw_regions(QCPPainter* painter) const {
  const Mapper map(mParentPlot);
  for (const Region& region : scene_->regions) {
    const double from = std::max(region.from, scene_->x.low);
    const double to = std::min(region.to, scene_->x.high);
    if (!(to > from)) continue;
    const QRectF area(QPointF(map.x(from), map.rect.top()), QPointF(map.x(to), map.rect.bottom()));
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme_.tint);
    painter->drawRect(area);
  }
}

void PlotUnderlay::draw_filled(QCPPainter* painter, const Series& series) const {
  if (series.x.empty() || scene_->log_x() || scene_->log_y()) return;
  const Mapper map(mParentPlot);
  QPolygonF outline({QPointF(map.x(series.x.front()), map.y(0))});
  for (std::size_t i = 0; i < series.x.size(); ++i) outline << QPointF(map.x(series.x[i]), map.y(series.y[i]));
  outline << QPointF(map.x(series.x.back()), map.y(0));
  QColor color = series_pen(theme_, series.style).color();
  color.setAlphaF(0.28F);
  painter->setPen(Qt::NoPen);
  painter->setBrush(color);
  draw_inside(*painter, outline, map.rect);
  painter->setBrush(Qt::NoBrush);
}

// Cutting a polygon takes much longer than drawing it, and most are inside.
void PlotUnderlay::draw_inside(QCPPainter& painter, const QPolygonF& polygon, const QRectF& rect) {
  const bool inside = rect.contains(polygon.boundingRect());
  painter.drawPolygon(inside ? polygon : polygon.intersected(QPolygonF(rect)));
}

void PlotUnderlay::draw_band(QCPPainter* painter, const Series& series) const {
  const Mapper map(mParentPlot);
  QPolygonF upper;
  QPolygonF lower;
  const auto finish = [&] {
    if (upper.size() > 1) {
      std::reverse(lower.begin(), lower.end());
      draw_inside(*painter, upper + lower, map.rect);
    }
    upper.clear();
    lower.clear();
  };
  QColor color = series_pen(theme_, series.style).color();
  color.setAlphaF(0.16F);
  painter->setPen(Qt::NoPen);
  painter->setBrush(color);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const bool drawable = std::isfinite(series.x[i]) && std::isfinite(series.low[i]) && std::isfinite(series.high[i]) &&
                          (!scene_->log_x() || series.x[i] > 0) && (!scene_->log_y() || series.high[i] > 0);
    const bool resumed = i > 0 && series.x[i] < series.x[i - 1];
    if (!drawable || resumed) finish();
    if (!drawable) continue;
    upper << QPointF(map.x(series.x[i]), map.y(series.high[i]));
    lower << QPointF(map.x(series.x[i]), map.y(series.low[i]));
  }
  finish();
  painter->setBrush(Qt::NoBrush);
}

void PlotErrorBars::show(const PlotScene& scene, const Theme& theme) {
  scene_ = &scene;
  theme_ = theme;
}

void PlotErrorBars::draw(QCPPainter* painter) {
  if (!scene_) return;
  painter->setAntialiasing(true);
  for (std::size_t i = 0; i < scene_->series.size(); ++i) {
    if (is_spread(*scene_, i, Spread::bars)) draw_bars(painter, scene_->series[i]);
  }
}

void PlotErrorBars::draw_bars(QCPPainter* painter, const Series& series) const {
  const Mapper map(mParentPlot);
  QPen pen(series_pen(theme_, series.style).color(), 1);
  painter->setPen(pen);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!map.shows_x(series.x[i]) || !std::isfinite(series.low[i]) || !std::isfinite(series.high[i])) continue;
    const double x = map.x(series.x[i]);
    double top = map.y(series.high[i]);
    double bottom = map.y(series.low[i]);
    const double cap_top = top;
    const double cap_bottom = bottom;
    if (!cut_vertical(map.rect, top, bottom)) continue;
    painter->drawLine(QPointF(x, top), QPointF(x, bottom));
    for (const double cap : {cap_top, cap_bottom}) {
      if (cap < map.rect.top() || cap > map.rect.bottom()) continue;
      painter->drawLine(QPointF(std::max(x - 3, map.rect.left()), cap),
                        QPointF(std::min(x + 3, map.rect.right()), cap));
    }
  }
}

void PlotOverlay::show(const PlotScene& scene, const Theme& theme, bool focused) {
  scene_ = &scene;
  focused_ = focused;
  theme_ = theme;
}

void PlotOverlay::draw(QCPPainter* painter) {
  if (!scene_) return;
  painter->setAntialiasing(true);
  const Mapper map(mParentPlot);
  if (!scene_->has_data() && !scene_->empty_text.isEmpty()) {
    painter->setFont(body_font());
    painter->setPen(theme_.secondary);
    painter->drawText(map.rect.adjusted(8, 0, -8, 0), Qt::AlignCenter | Qt::TextWordWrap, scene_->empty_text);
  }
  if (focused_) {
    painter->setPen(QPen(theme_.accent, 2));
    painter->drawRect(map.rect.adjusted(1, 1, -1, -1));
  }
  draw_region_labels(painter);
  draw_reference_lines(painter);
  draw_bad_marks(painter);
  if (scene_->cursor_line && map.shows_x(*scene_->cursor_line)) {
    const double x = map.x(*scene_->cursor_line);
    painter->setPen(QPen(theme_.text, 1));
    painter->drawLine(QPointF(x, map.rect.top()), QPointF(x, map.rect.bottom()));
  }
}

// Above the grid, which would strike the text through.
void PlotOverlay::draw_region_labels(QCPPainter* painter) const {
  const Mapper map(mParentPlot);
  painter->setFont(caption_font());
  painter->setPen(theme_.secondary);
  for (const Region& region : scene_->regions) {
    const double from = std::max(region.from, scene_->x.low);
    const double to = std::min(region.to, scene_->x.high);
    if (!(to > from)) continue;
    const QRectF area(map.x(from) + 4, map.rect.top() + 2, std::max(0.0, map.x(to) - map.x(from) - 8), 16);
    painter->drawText(area, Qt::AlignTop | Qt::AlignLeft,
                      QFontMetricsF(caption_font()).elidedText(region.label, Qt::ElideRight, area.width()));
  }
}

void PlotOverlay::draw_reference_lines(QCPPainter* painter) const {
  if (scene_->lines.empty()) return;
  const Mapper map(mParentPlot);
  const std::vector<QPolygonF> curves = curve_lines();
  std::vector<QRectF> taken;
  for (const ReferenceLine& line : scene_->lines) {
    if (!map.y_axis->range().contains(line.y)) continue;
    const double y = map.y(line.y);
    QPen pen(theme_.secondary, 1);
    pen.setDashPattern({2, 4});
    painter->setPen(pen);
    painter->drawLine(QPointF(map.rect.left(), y), QPointF(map.rect.right(), y));
    taken.push_back(free_place(label_places(map.rect, y, line.label), curves, taken));
    // Where every place lies on a curve, the text is to be read all the same.
    QColor behind = theme_.card;
    behind.setAlphaF(0.8F);
    painter->fillRect(taken.back(), behind);
    painter->setFont(caption_font());
    painter->drawText(taken.back(), Qt::AlignCenter, line.label);
  }
}

// Above the line or below it, from its right end to its left one.
std::vector<QRectF> PlotOverlay::label_places(const QRectF& rect, double y, const QString& label) {
  constexpr int kSteps = 5;
  const QFontMetricsF metrics(caption_font());
  const QSizeF size(metrics.horizontalAdvance(label) + 6, metrics.height());
  std::vector<QRectF> places;
  for (int step = 0; step < kSteps; ++step) {
    const double left = rect.right() - 1 - size.width() - step * (rect.width() - 2 - size.width()) / (kSteps - 1);
    for (const double top : {y - 1 - size.height(), y + 2}) {
      const QRectF place(QPointF(left, top), size);
      if (rect.contains(place)) places.push_back(place);
    }
  }
  if (places.empty()) places.emplace_back(QPointF(rect.left(), std::max(rect.top(), y - 1 - size.height())), size);
  return places;
}

// What is drawn of the curves and their error bars, in pixels.
std::vector<QPolygonF> PlotOverlay::curve_lines() const {
  const Mapper map(mParentPlot);
  std::vector<QPolygonF> lines;
  for (const Curve& curve : scene_->curves) {
    for (const Stretch& stretch : curve.stretches) {
      QPolygonF line;
      for (std::size_t i = 0; i < stretch.x.size(); ++i) line << QPointF(map.x(stretch.x[i]), map.y(stretch.y[i]));
      lines.push_back(line);
    }
  }
  for (std::size_t i = 0; i < scene_->series.size(); ++i) {
    if (is_spread(*scene_, i, Spread::bars)) add_bars(scene_->series[i], map, lines);
  }
  return lines;
}

// A cross at the foot of the plot, in the curve's colour, where a sample was not finite.
void PlotOverlay::draw_bad_marks(QCPPainter* painter) const {
  const Mapper map(mParentPlot);
  const double y = map.rect.bottom() - 5;
  for (std::size_t i = 0; i < scene_->curves.size(); ++i) {
    painter->setPen(QPen(series_pen(theme_, scene_->series[i].style).color(), 1.5));
    double last = -10;
    for (const double bad : scene_->curves[i].bad_x) {
      const double x = std::clamp(map.x(bad), map.rect.left() + 3, map.rect.right() - 3);
      if (!map.shows_x(bad) || std::abs(x - last) < 2) continue;  // crosses closer than this are one
      painter->drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3));
      painter->drawLine(QPointF(x - 3, y + 3), QPointF(x + 3, y - 3));
      last = x;
    }
  }
}

void PlotCrosshair::show(const PlotScene& scene, const Theme& theme, std::optional<double> x) {
  scene_ = &scene;
  theme_ = theme;
  x_ = x;
}

// One reading a visible curve, each at its own nearest sample; the line snaps to the nearest of all.
std::vector<PlotCrosshair::Reading> PlotCrosshair::readings(double& snapped) const {
  const Mapper map(mParentPlot);
  std::vector<Reading> result;
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < scene_->curves.size(); ++i) {
    double at = 0;
    double value = 0;
    if (!nearest_sample(scene_->curves[i], *x_, at, value)) continue;
    if (std::abs(map.x(at) - map.x(*x_)) > 40) continue;  // the curve has nothing near
    if (std::abs(at - *x_) < best) {
      best = std::abs(at - *x_);
      snapped = at;
    }
    QString text = short_number(value, 4);
    const Series& series = scene_->series[i];
    if (series.spread != Spread::none && series.low.size() == series.x.size()) {
      const auto index = std::find(series.x.begin(), series.x.end(), at) - series.x.begin();
      const auto k = static_cast<std::size_t>(index);
      if (k < series.low.size()) {
        text += QStringLiteral(" [%1, %2]").arg(short_number(series.low[k], 4), short_number(series.high[k], 4));
      }
    }
    const QString label = series.label.empty() ? scene_->y_title : QString::fromStdString(series.label);
    result.push_back({series_pen(theme_, series.style, 1.5), label, text, QPointF(map.x(at), map.y(value))});
  }
  return result;
}

void PlotCrosshair::draw(QCPPainter* painter) {
  if (!scene_ || !x_) return;
  const Mapper map(mParentPlot);
  double snapped = *x_;
  const std::vector<Reading> values = readings(snapped);
  if (!map.shows_x(snapped)) return;
  painter->setAntialiasing(true);
  const double line = map.x(snapped);
  painter->setPen(QPen(theme_.secondary, 1));
  painter->drawLine(QPointF(line, map.rect.top()), QPointF(line, map.rect.bottom()));
  for (const Reading& reading : values) {
    if (!map.rect.contains(reading.place)) continue;
    painter->setPen(QPen(theme_.card, 1));
    painter->setBrush(reading.pen.color());
    painter->drawEllipse(reading.place, 3.5, 3.5);
  }
  painter->setBrush(Qt::NoBrush);
  draw_box(painter, values, snapped, line);
}

// The box stands on the side of the line that has more room.
void PlotCrosshair::draw_box(QCPPainter* painter, const std::vector<Reading>& values, double at, double line) const {
  const Mapper map(mParentPlot);
  const QFont font = caption_font();
  const QFontMetricsF metrics(font);
  const QString head = scene_->x_title + QLatin1Char(' ') + short_number(at, 7);
  double label_width = 0;
  double value_width = 0;
  for (const Reading& reading : values) {
    label_width = std::max(label_width, metrics.horizontalAdvance(reading.label));
    value_width = std::max(value_width, tabular_width(font, reading.value));
  }
  const double width = std::max(18 + label_width + 12 + value_width, metrics.horizontalAdvance(head)) + 16;
  const double height = 16.0 * static_cast<double>(values.size() + 1) + 10;
  const bool right = line < map.rect.center().x();
  double left = right ? line + 8 : line - 8 - width;
  left = std::clamp(left, 0.0, std::max(0.0, mParentPlot->viewport().width() - width));
  const QRectF box(left, map.rect.top() + 4, width, height);
  painter->setPen(QPen(theme_.control, 1));
  painter->setBrush(theme_.card);
  painter->drawRoundedRect(box, 5, 5);
  painter->setBrush(Qt::NoBrush);
  painter->setFont(font);
  painter->setPen(theme_.secondary);
  painter->drawText(QRectF(box.left() + 8, box.top() + 5, width - 16, 16), Qt::AlignLeft | Qt::AlignVCenter, head);
  double y = box.top() + 21;
  for (const Reading& reading : values) {
    painter->setPen(reading.pen);
    painter->drawLine(QPointF(box.left() + 8, y + 8), QPointF(box.left() + 20, y + 8));
    painter->setPen(theme_.secondary);
    painter->drawText(QRectF(box.left() + 26, y, label_width + 2, 16), Qt::AlignLeft | Qt::AlignVCenter, reading.label);
    painter->setPen(theme_.text);
    draw_tabular(*painter, QRectF(box.left(), y, width - 8, 16), Qt::AlignRight, reading.value);
    y += 16;
  }
}

void FixedTicker::set(const Ticks& ticks) {
  at_ = QVector<double>(ticks.at.begin(), ticks.at.end());
  text_ = QVector<QString>(ticks.text.begin(), ticks.text.end());
}

void FixedTicker::generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
                           QVector<double>* sub_ticks, QVector<QString>* labels) {
  ticks = at_;
  if (sub_ticks) sub_ticks->clear();
  if (labels) *labels = text_;
}

}  // namespace widgets
