#include "widgets/dot_chart.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/numbers.h"
#include "widgets/ticks.h"

namespace widgets {
namespace {

constexpr double kTitleHeight = 22;
constexpr double kLegendHeight = 18;
constexpr double kFoot = 40;
constexpr double kRight = 16;
constexpr double kEntryGap = 16;
constexpr double kSymbol = 4;  // half of a symbol's size
constexpr int kLeastRow = 22;
constexpr double kHighestRow = 64;

double label_width(const std::vector<DotRow>& rows) {
  const QFontMetricsF metrics(body_font());
  double width = 40;
  for (const DotRow& row : rows) width = std::max(width, metrics.horizontalAdvance(row.label));
  return width + 14;
}

/// So many that the error has two digits; without one, four or so digits of the value.
int decimals_of(const DotValue& dot) {
  if (!std::isfinite(dot.error) || dot.error <= 0) return std::abs(dot.value) < 1 ? 4 : 2;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(dot.error))), 0, 6);
}

QString value_text(const DotValue& dot) {
  if (!std::isfinite(dot.value)) return QStringLiteral("–");
  const int decimals = decimals_of(dot);
  QString text = QString::number(dot.value, 'f', decimals);
  if (std::isfinite(dot.error)) text += QStringLiteral(" ± ") + QString::number(dot.error, 'f', decimals);
  return text;
}

QColor dot_color(const Theme& theme, std::size_t measurement) {
  const QColor colors[] = {theme.standard, theme.soft, theme.fused, theme.pass3};
  return colors[measurement % 4];
}

// Disc, square, diamond, triangle: told apart without colour.
void draw_symbol(QPainter& painter, const QPointF& at, std::size_t measurement) {
  const double s = kSymbol;
  if (measurement % 4 == 0) painter.drawEllipse(at, s, s);
  if (measurement % 4 == 1) painter.drawRect(QRectF(at.x() - s + 0.5, at.y() - s + 0.5, 2 * s - 1, 2 * s - 1));
  if (measurement % 4 == 2) {
    painter.drawPolygon(
        QPolygonF({at + QPointF(0, -s - 1), at + QPointF(s + 1, 0), at + QPointF(0, s + 1), at + QPointF(-s - 1, 0)}));
  }
  if (measurement % 4 == 3)
    painter.drawPolygon(QPolygonF({at + QPointF(0, -s), at + QPointF(s, s), at + QPointF(-s, s)}));
}

}  // namespace

DotChart::DotChart(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding); }

void DotChart::set_title(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  update();
}

void DotChart::set_axis(const QString& title) {
  axis_title_ = title;
  update();
}

void DotChart::set_limits(std::optional<std::pair<double, double>> limits) {
  limits_ = limits;
  update();
}

void DotChart::set_reference(std::optional<double> value, const QString& label) {
  reference_ = value;
  reference_label_ = label;
  update();
}

void DotChart::set_data(std::vector<QString> measurements, std::vector<DotRow> rows, std::vector<SeriesStyle> styles) {
  styles_ = std::move(styles);
  measurements_ = std::move(measurements);
  rows_ = std::move(rows);
  QStringList spoken;
  for (const DotRow& row : rows_) spoken << describe(row);
  setAccessibleDescription(spoken.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

void DotChart::set_values_shown(bool shown) {
  values_shown_ = shown;
  update();
}

void DotChart::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

QSize DotChart::minimumSizeHint() const {
  const int rows = std::max<int>(2, static_cast<int>(rows_.size()));
  return {240, static_cast<int>(kTitleHeight + kLegendHeight + kFoot) + rows * kLeastRow};
}

int DotChart::head_lines(double width) const {
  const QFontMetricsF metrics(caption_font());
  double x = 0;
  int lines = measurements_.empty() ? 0 : 1;
  for (const QString& name : measurements_) {
    const double entry = 14 + metrics.horizontalAdvance(name) + kEntryGap;
    if (x > 0 && x + entry - kEntryGap > width) {
      ++lines;
      x = 0;
    }
    x += entry;
  }
  return lines;
}

QColor DotChart::color_of(const Theme& theme, std::size_t measurement) const {
  return measurement < styles_.size() ? series_pen(theme, styles_[measurement]).color() : dot_color(theme, measurement);
}

double DotChart::value_width() const {
  if (!values_shown_) return kRight;
  double width = 0;
  for (const DotRow& row : rows_) {
    if (!row.values.empty()) width = std::max(width, tabular_width(body_font(), value_text(row.values.front())));
  }
  return width + kRight;
}

DotChart::Frame DotChart::frame_in(const QRectF& area) const {
  Frame frame;
  const double head = kTitleHeight + head_lines(area.width()) * kLegendHeight + 6;
  frame.head = QRectF(area.left(), area.top(), area.width(), head);
  const double left = label_width(rows_);
  frame.dots = QRectF(area.left() + left, area.top() + head, std::max(1.0, area.width() - left - value_width()),
                      std::max(1.0, area.height() - head - kFoot));
  frame.row_height =
      std::min(kHighestRow, frame.dots.height() / std::max<double>(1, static_cast<double>(rows_.size())));
  frame.dots.setHeight(std::max(1.0, frame.row_height * static_cast<double>(rows_.size())));
  if (limits_) {
    std::tie(frame.low, frame.high) = *limits_;
    return frame;
  }
  double low = reference_.value_or(INFINITY);
  double high = reference_.value_or(-INFINITY);
  for (const DotRow& row : rows_) {
    for (const DotValue& dot : row.values) {
      if (!std::isfinite(dot.value)) continue;
      const double reach = std::isfinite(dot.error) ? dot.error : 0;
      low = std::min(low, dot.value - reach);
      high = std::max(high, dot.value + reach);
    }
  }
  if (low <= high) {
    const double pad = high > low ? 0.06 * (high - low) : std::max(1e-9, 0.1 * std::abs(high));
    frame.low = low - pad;
    frame.high = high + pad;
  }
  return frame;
}

void DotChart::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint(painter, theme_of(palette()), rect());
}

void DotChart::paint(QPainter& painter, const Theme& theme, const QRectF& area) const {
  const Frame frame = frame_in(area);
  draw_head(painter, theme, frame);
  if (rows_.empty()) {
    painter.setFont(body_font());
    painter.setPen(theme.secondary);
    painter.drawText(area.adjusted(0, frame.head.height(), 0, 0), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  draw_axis(painter, theme, frame);
  draw_rows(painter, theme, frame);
}

void DotChart::draw_head(QPainter& painter, const Theme& theme, const Frame& frame) const {
  painter.setFont(title_font());
  painter.setPen(theme.text);
  painter.drawText(QRectF(frame.head.topLeft(), QSizeF(frame.head.width(), kTitleHeight)),
                   Qt::AlignLeft | Qt::AlignVCenter, title_);
  painter.setFont(caption_font());
  const QFontMetricsF metrics(caption_font());
  double x = frame.head.left();
  double y = frame.head.top() + kTitleHeight + kLegendHeight / 2;
  for (std::size_t i = 0; i < measurements_.size(); ++i) {
    const double width = metrics.horizontalAdvance(measurements_[i]);
    if (x > frame.head.left() && x + 14 + width > frame.head.right()) {
      x = frame.head.left();
      y += kLegendHeight;
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(color_of(theme, i));
    draw_symbol(painter, {x + kSymbol + 1, y}, i);
    painter.setPen(theme.secondary);
    painter.drawText(QRectF(x + 14, y - 9, width + 2, 18), Qt::AlignLeft | Qt::AlignVCenter, measurements_[i]);
    x += 14 + width + kEntryGap;
  }
}

void DotChart::draw_axis(QPainter& painter, const Theme& theme, const Frame& frame) const {
  const Ticks ticks =
      make_ticks({frame.low, frame.high}, false, std::clamp(static_cast<int>(frame.dots.width() / 70), 2, 8));
  painter.setFont(caption_font());
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double x = frame.x_of(ticks.at[i]);
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(x, frame.dots.top()), QPointF(x, frame.dots.bottom()));
    painter.setPen(theme.secondary);
    painter.drawText(QRectF(x - 30, frame.dots.bottom() + 4, 60, 15), Qt::AlignCenter, ticks.text[i]);
  }
  QString unit = axis_title_;
  if (ticks.exponent != 0) unit += QLatin1Char(' ') + power_of_ten(ticks.exponent);
  const double centre = frame.dots.center().x();  // a long title is centred as far as the chart's width allows
  const double half = std::max(std::min(centre - frame.head.left(), frame.head.right() - centre),
                               QFontMetricsF(caption_font()).horizontalAdvance(unit) / 2 + 1);
  const double left =
      std::clamp(centre - half, frame.head.left(), std::max(frame.head.left(), frame.head.right() - 2 * half));
  painter.drawText(QRectF(left, frame.dots.bottom() + 21, 2 * half, 16), Qt::AlignCenter, unit);
  if (!reference_) return;
  const double x = frame.x_of(*reference_);
  painter.setPen(QPen(theme.secondary, 1, Qt::DashLine));
  painter.drawLine(QPointF(x, frame.dots.top()), QPointF(x, frame.dots.bottom()));
  painter.drawText(QRectF(x + 4, frame.dots.top() - 8, 120, 16), Qt::AlignLeft | Qt::AlignVCenter, reference_label_);
}

void DotChart::draw_rows(QPainter& painter, const Theme& theme, const Frame& frame) const {
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const double top = frame.dots.top() + static_cast<double>(row) * frame.row_height;
    const double left = frame.dots.left() - label_width(rows_);
    painter.setFont(body_font());
    painter.setPen(theme.text);
    painter.drawText(QRectF(left, top, frame.dots.left() - left - 10, frame.row_height),
                     Qt::AlignLeft | Qt::AlignVCenter, rows_[row].label);
    if (values_shown_ && !rows_[row].values.empty()) {
      draw_tabular(painter, QRectF(frame.dots.right(), top, value_width(), frame.row_height),
                   Qt::AlignRight | Qt::AlignVCenter, value_text(rows_[row].values.front()));
    }
    painter.setPen(QPen(theme.grid, 1));
    painter.drawLine(QPointF(left, top), QPointF(frame.dots.right(), top));
    // Each measurement has a line of its own within the row, so that equal values do not hide each other.
    const auto count = static_cast<double>(rows_[row].values.size());
    const double step = std::min(8.0, frame.row_height / (count + 1));
    for (std::size_t i = 0; i < rows_[row].values.size(); ++i) {
      const DotValue& dot = rows_[row].values[i];
      if (!std::isfinite(dot.value)) continue;
      const double y = top + frame.row_height / 2 + (static_cast<double>(i) - (count - 1) / 2) * step;
      const QPointF at(frame.x_of(dot.value), std::floor(y) + 0.5);  // bars of one sharp pixel
      const QColor color = color_of(theme, i);
      if (std::isfinite(dot.error) && dot.error > 0) {
        painter.setPen(QPen(color, 1));
        painter.drawLine(QPointF(std::max(frame.dots.left(), frame.x_of(dot.value - dot.error)), at.y()),
                         QPointF(std::min(frame.dots.right(), frame.x_of(dot.value + dot.error)), at.y()));
      }
      painter.setPen(QPen(theme.card, 1));
      painter.setBrush(color);
      draw_symbol(painter, at, i);
    }
  }
}

QString DotChart::describe(const DotRow& row) const {
  QStringList parts;
  for (std::size_t i = 0; i < std::min(row.values.size(), measurements_.size()); ++i) {
    const DotValue& dot = row.values[i];
    QString text = measurements_[i] + QLatin1Char(' ');
    text += std::isfinite(dot.value) ? short_number(dot.value, 4) : tr("not measured");
    if (std::isfinite(dot.value) && std::isfinite(dot.error))
      text += QStringLiteral(" ± ") + short_number(dot.error, 2);
    parts << text;
  }
  return row.label + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
}

bool DotChart::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || rows_.empty()) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const Frame frame = frame_in(rect());
  const auto row = static_cast<int>(std::floor((help->pos().y() - frame.dots.top()) / frame.row_height));
  if (row >= 0 && row < static_cast<int>(rows_.size())) {
    QToolTip::showText(help->globalPos(), describe(rows_[static_cast<std::size_t>(row)]), this);
  }
  return true;
}

void DotChart::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  paint(painter, light_theme(), inside);
}

FigureTable DotChart::figure_table() const {
  FigureTable table;
  table.columns = {QStringLiteral("row")};
  for (const QString& name : measurements_) {
    table.columns.push_back(name);
    table.columns.push_back(name + QStringLiteral(" standard error"));
  }
  for (const DotRow& row : rows_) {
    std::vector<QString> cells = {row.label};
    for (const DotValue& dot : row.values) {
      cells.push_back(exact_number(dot.value));
      cells.push_back(exact_number(dot.error));
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace widgets
