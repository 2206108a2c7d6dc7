#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/heatmap.h"
#include "widgets/ticks.h"

namespace widgets {
namespace {

constexpr double kHeadHeight = 22;
constexpr double kLeft = 54;
constexpr double kFoot = 38;
constexpr double kBarWidth = 12;
constexpr double kBarRoom = 64;  // gap, bar and its numbers

// Every how many columns (or rows) a number stands, so that numbers do not touch.
int label_stride(double cell, double needed) {
  int stride = 1;
  for (int step = 0; stride * cell < needed && step < 30; ++step) stride *= step % 3 == 1 ? 5 : 2;
  return stride;
}

}  // namespace

Heatmap::Frame Heatmap::frame_in(const QRectF& area) const {
  Frame frame;
  frame.head = QRectF(area.left(), area.top(), area.width(), kHeadHeight);
  const QRectF below = area.adjusted(kLeft, kHeadHeight + 6, -kBarRoom, -kFoot);
  frame.cells = QRectF(below.topLeft(), QSizeF(std::max(1.0, below.width()), std::max(1.0, below.height())));
  frame.bar = QRectF(frame.cells.right() + 14, frame.cells.top(), kBarWidth, frame.cells.height());
  return frame;
}

void Heatmap::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = theme_of(palette());
  paint(painter, theme, rect());
  const Frame frame = frame_in(rect());
  if (current_ && matrix_.columns > 0) {
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.text, 2));
    painter.drawRect(cell_in(frame.cells, *current_));
    painter.setFont(caption_font());
    painter.setPen(theme.secondary);
    painter.drawText(frame.head, Qt::AlignRight | Qt::AlignVCenter, describe(*current_));
  } else if (hasFocus()) {
    painter.setPen(QPen(theme.accent, 2));
    painter.drawRoundedRect(frame.cells.adjusted(-2, -2, 2, 2), 3, 3);
  }
}

void Heatmap::paint(QPainter& painter, const Theme& theme, const QRectF& area) const {
  const Frame frame = frame_in(area);
  painter.setFont(title_font());
  painter.setPen(theme.text);
  painter.drawText(frame.head, Qt::AlignLeft | Qt::AlignVCenter, title_);
  if (!line_label_.isEmpty() && !current_) {
    painter.setFont(caption_font());
    painter.setPen(theme.fused);
    painter.drawText(frame.head, Qt::AlignRight | Qt::AlignVCenter, QStringLiteral("— ") + line_label_);
  }
  if (matrix_.rows == 0 || matrix_.columns == 0) {
    painter.setFont(body_font());
    painter.setPen(theme.secondary);
    painter.drawText(frame.cells, Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  draw_cells(painter, theme, frame.cells);
  draw_line(painter, theme, frame.cells);
  draw_axes(painter, theme, frame.cells);
  if (any_) draw_bar(painter, theme, frame.bar);
}

// Zero on a log scale has no colour: it is hatched. What was not measured stays empty.
void Heatmap::draw_cells(QPainter& painter, const Theme& theme, const QRectF& cells) const {
  const bool gaps = cells.width() / static_cast<double>(matrix_.columns) > 8;
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing, gaps);
  painter.setPen(Qt::NoPen);
  for (std::size_t row = 0; row < matrix_.rows; ++row) {
    for (std::size_t column = 0; column < matrix_.columns; ++column) {
      const double value = matrix_.at(row, column);
      QRectF cell = cell_in(cells, {static_cast<int>(column), static_cast<int>(row)});
      if (gaps) cell.adjust(1, 1, -1, -1);
      if (std::isfinite(value) && (!log_ || value > 0))
        painter.setBrush(color(theme, value));
      else if (log_ && value == 0)
        painter.setBrush(QBrush(theme.secondary, Qt::BDiagPattern));
      else
        painter.setBrush(Qt::NoBrush);
      if (painter.brush().style() == Qt::NoBrush && gaps) painter.setPen(QPen(theme.border, 1));
      painter.drawRoundedRect(cell, gaps ? 2 : 0, gaps ? 2 : 0);
      painter.setPen(Qt::NoPen);
    }
  }
  painter.restore();
}

void Heatmap::draw_line(QPainter& painter, const Theme& theme, const QRectF& cells) const {
  QPolygonF points;
  painter.setPen(QPen(theme.fused, 2));
  const double height = cells.height() / static_cast<double>(matrix_.rows);
  for (std::size_t column = 0; column <= std::min(line_.size(), matrix_.columns); ++column) {
    const bool end = column == std::min(line_.size(), matrix_.columns);
    const bool outside = !end && (line_[column] < -0.5 || line_[column] > static_cast<double>(matrix_.rows) - 0.5);
    if (end || outside || !std::isfinite(line_[column])) {
      if (points.size() > 1) painter.drawPolyline(points);
      points.clear();
      continue;
    }
    const double x = cell_in(cells, {static_cast<int>(column), 0}).center().x();
    const double y = cells.bottom() - (line_[column] + 0.5) * height;
    points << QPointF(x, std::clamp(y, cells.top(), cells.bottom()));
  }
}

void Heatmap::draw_axes(QPainter& painter, const Theme& theme, const QRectF& cells) const {
  painter.setFont(caption_font());
  painter.setPen(theme.secondary);
  const int columns = static_cast<int>(matrix_.columns);
  const int rows = static_cast<int>(matrix_.rows);
  const int across = label_stride(cells.width() / columns, 30);
  for (int column = 0; column < columns; ++column) {
    if ((column + first_column_) % across != 0 && across > 1) continue;
    const double x = cell_in(cells, {column, 0}).center().x();
    painter.drawText(QRectF(x - 30, cells.bottom() + 3, 60, 15), Qt::AlignCenter,
                     QString::number(column + first_column_));
  }
  const int up = label_stride(cells.height() / rows, 16);
  for (int row = 0; row < rows; ++row) {
    if ((row + first_row_) % up != 0 && up > 1) continue;
    const double y = cell_in(cells, {0, row}).center().y();
    painter.drawText(QRectF(cells.left() - 36, y - 8, 30, 16), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(row + first_row_));
  }
  painter.drawText(QRectF(cells.left(), cells.bottom() + 20, cells.width(), 16), Qt::AlignCenter, x_title_);
  painter.save();
  painter.translate(cells.left() - 46, cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-cells.height() / 2, -8, cells.height(), 16), Qt::AlignCenter, y_title_);
  painter.restore();
}

void Heatmap::draw_bar(QPainter& painter, const Theme& theme, const QRectF& bar) const {
  constexpr int kSteps = 64;
  painter.setPen(Qt::NoPen);
  for (int i = 0; i < kSteps; ++i) {
    const double part = (i + 0.5) / kSteps;
    painter.setBrush(diverging_ ? diverging_color(theme, 2 * part - 1) : sequential_color(theme, part));
    const double height = bar.height() / kSteps;
    painter.drawRect(QRectF(bar.left(), bar.bottom() - (i + 1) * height, bar.width(), height + (i > 0 ? 0.5 : 0)));
  }
  painter.setFont(caption_font());
  painter.setPen(theme.secondary);
  const Ticks ticks = make_ticks({low_, high_}, log_, std::clamp(static_cast<int>(bar.height() / 34), 2, 6));
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double y = bar.bottom() - share(ticks.at[i]) * bar.height();
    painter.drawText(QRectF(bar.right() + 4, y - 8, kBarRoom - kBarWidth - 18, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     ticks.text[i]);
  }
  const QString unit =
      ticks.exponent == 0 ? value_title_ : value_title_ + QLatin1Char(' ') + power_of_ten(ticks.exponent);
  painter.drawText(QRectF(bar.right() + 38 - 200, bar.bottom() + 20, 200, 16), Qt::AlignRight | Qt::AlignVCenter, unit);
}

void Heatmap::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  paint(painter, light_theme(), inside);
}

}  // namespace widgets
