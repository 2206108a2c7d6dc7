#include "widgets/number_table.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/numbers.h"

namespace widgets {

namespace {

constexpr double kTitleHeight = 20;
constexpr double kHeadHeight = 24;
constexpr double kHighestRow = 26;
constexpr double kLowestRow = 17;
constexpr double kColumnGap = 14;
constexpr double kSquare = 8;
constexpr double kLeastName = 70;  // px that the names of the rows keep

QString exact_text(const NumberCell& cell) { return cell.exact.isEmpty() ? cell.text : cell.exact; }

}  // namespace

NumberTable::NumberTable(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void NumberTable::set_title(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  update();
}

void NumberTable::set_data(std::vector<NumberColumn> columns, std::vector<NumberRow> rows) {
  columns_ = std::move(columns);
  rows_ = std::move(rows);
  QStringList spoken;
  for (const NumberRow& row : rows_) {
    QStringList parts;
    for (std::size_t i = 0; i < std::min(row.cells.size(), columns_.size()); ++i) {
      parts << columns_[i].name + QLatin1Char(' ') + row.cells[i].text;
    }
    spoken << row.name + QStringLiteral(": ") + parts.join(QStringLiteral(", "));
  }
  setAccessibleDescription(spoken.join(QStringLiteral("; ")));
  updateGeometry();
  update();
}

void NumberTable::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

QSize NumberTable::sizeHint() const {
  const double rows = std::max<double>(3, static_cast<double>(rows_.size()));
  return {300, static_cast<int>(kTitleHeight + kHeadHeight + rows * kHighestRow)};
}

QSize NumberTable::minimumSizeHint() const {
  const double rows = std::max<double>(3, static_cast<double>(rows_.size()));
  return {200, static_cast<int>(kTitleHeight + kHeadHeight + rows * kLowestRow)};
}

std::vector<double> NumberTable::column_widths() const {
  std::vector<double> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    double width = QFontMetricsF(caption_font()).horizontalAdvance(columns_[i].name);
    if (columns_[i].style) width += kSquare + 5;
    for (const NumberRow& row : rows_) {
      if (i < row.cells.size()) width = std::max(width, tabular_width(body_font(), row.cells[i].text));
    }
    widths.push_back(width + kColumnGap);
  }
  return widths;
}

double NumberTable::row_height(double height) const {
  const double room = height - kTitleHeight - kHeadHeight;
  return std::clamp(room / std::max<double>(1, static_cast<double>(rows_.size())), kLowestRow, kHighestRow);
}

void NumberTable::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, theme_of(palette()), rect());
}

void NumberTable::paint(QPainter& painter, const Theme& theme, const QRectF& area) const {
  painter.setFont(title_font());
  painter.setPen(theme.text);
  painter.drawText(QRectF(area.topLeft(), QSizeF(area.width(), kTitleHeight)), Qt::AlignLeft | Qt::AlignVCenter,
                   title_);
  const QRectF below = area.adjusted(0, kTitleHeight, 0, 0);
  if (rows_.empty()) {
    painter.setFont(body_font());
    painter.setPen(theme.secondary);
    painter.drawText(below, Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  const std::vector<double> widths = column_widths();
  paint_head(painter, theme, QRectF(below.left(), below.top(), below.width(), kHeadHeight), widths);
  const double height = row_height(area.height());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const double top = below.top() + kHeadHeight + static_cast<double>(i) * height;
    paint_row(painter, theme, QRectF(below.left(), top, below.width(), height), rows_[i], widths);
  }
}

// Columns are laid from the right, so that the names take what is left.
void NumberTable::paint_head(QPainter& painter, const Theme& theme, const QRectF& area,
                             const std::vector<double>& widths) const {
  painter.setFont(caption_font());
  double right = area.right();
  for (std::size_t i = columns_.size(); i-- > 0; right -= widths[i]) {
    const QRectF cell(right - widths[i], area.top(), widths[i], area.height());
    painter.setPen(theme.secondary);
    painter.drawText(cell, Qt::AlignRight | Qt::AlignVCenter, columns_[i].name);
    if (!columns_[i].style) continue;
    const double width = QFontMetricsF(caption_font()).horizontalAdvance(columns_[i].name);
    painter.fillRect(
        QRectF(std::round(right - width - 5 - kSquare), std::round(area.center().y() - kSquare / 2), kSquare, kSquare),
        series_pen(theme, *columns_[i].style).color());
  }
  painter.setPen(theme.border);
  painter.drawLine(QPointF(area.left(), std::floor(area.bottom()) - 0.5),
                   QPointF(area.right(), std::floor(area.bottom()) - 0.5));
}

void NumberTable::paint_row(QPainter& painter, const Theme& theme, const QRectF& area, const NumberRow& row,
                            const std::vector<double>& widths) const {
  painter.setFont(body_font());
  painter.setPen(theme.text);
  double right = area.right();
  for (std::size_t i = columns_.size(); i-- > 0; right -= widths[i]) {
    if (i >= row.cells.size()) continue;
    draw_tabular(painter, QRectF(right - widths[i], area.top(), widths[i], area.height()), Qt::AlignRight,
                 row.cells[i].text);
  }
  const QRectF name(area.left(), area.top(), std::max(kLeastName, right - area.left()), area.height());
  painter.drawText(name, Qt::AlignLeft | Qt::AlignVCenter,
                   QFontMetricsF(body_font()).elidedText(row.name, Qt::ElideRight, name.width()));
  painter.setPen(theme.border);
  painter.drawLine(QPointF(area.left(), std::floor(area.bottom()) - 0.5),
                   QPointF(area.right(), std::floor(area.bottom()) - 0.5));
}

bool NumberTable::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || rows_.empty()) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const double row = (help->pos().y() - kTitleHeight - kHeadHeight) / row_height(height());
  if (row >= 0 && row < static_cast<double>(rows_.size())) {
    const NumberRow& at = rows_[static_cast<std::size_t>(row)];
    QToolTip::showText(help->globalPos(), at.hint.isEmpty() ? at.name : at.hint, this);
  }
  return true;
}

void NumberTable::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  painter.setClipRect(inside);
  paint(painter, light_theme(), inside);
}

FigureTable NumberTable::figure_table() const {
  FigureTable table;
  table.columns = {QStringLiteral("row")};
  for (const NumberColumn& column : columns_) table.columns.push_back(column.name);
  for (const NumberRow& row : rows_) {
    std::vector<QString> cells = {row.name};
    for (const NumberCell& cell : row.cells) cells.push_back(exact_text(cell));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace widgets
