#include "widgets/stat_table.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QStringList>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "widgets/numbers.h"

namespace widgets {
namespace {

constexpr int kRowHeight = 26;
constexpr int kStatRowHeight = 58;
constexpr int kGap = 12;

QFont number_font(int pixels) {
  QFont font = title_font();
  font.setPixelSize(pixels);
  return font;
}

// Screen readers get the table as one sentence.
QString spoken(const std::vector<Stat>& stats) {
  QStringList parts;
  for (const Stat& stat : stats) parts << stat.name + QLatin1Char(' ') + stat.value;
  return parts.join(QStringLiteral(", "));
}

}  // namespace

StatTable::StatTable(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); }

void StatTable::set_rows(std::vector<Stat> rows) {
  if (rows == rows_) return;
  const bool resized = rows.size() != rows_.size();
  rows_ = std::move(rows);
  setAccessibleDescription(spoken(rows_));
  if (resized) updateGeometry();
  update();
}

QSize StatTable::sizeHint() const { return {240, static_cast<int>(rows_.size()) * kRowHeight}; }
QSize StatTable::minimumSizeHint() const { return {160, sizeHint().height()}; }

void StatTable::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paint(painter, theme_of(palette()), rect());
}

void StatTable::paint(QPainter& painter, const Theme& theme, const QRectF& area) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const QRectF row(area.left(), area.top() + static_cast<double>(i) * kRowHeight, area.width(), kRowHeight - 1);
    const double value_width = std::min(tabular_width(title_font(), rows_[i].value), row.width());
    QRectF name_area = row;
    name_area.setRight(row.right() - value_width - kGap);
    painter.setFont(body_font());
    painter.setPen(theme.text);
    painter.drawText(name_area, Qt::AlignVCenter | Qt::AlignLeft,
                     QFontMetricsF(body_font()).elidedText(rows_[i].name, Qt::ElideRight, name_area.width()));
    painter.setFont(title_font());
    draw_tabular(painter, row, Qt::AlignRight, rows_[i].value);
    painter.setPen(theme.border);
    painter.drawLine(QPointF(row.left(), row.bottom() + 0.5), QPointF(row.right(), row.bottom() + 0.5));
  }
}

void StatTable::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  painter.setClipRect(inside);
  paint(painter, light_theme(), inside);
}

FigureTable StatTable::figure_table() const {
  FigureTable table;
  table.columns = {QStringLiteral("name"), QStringLiteral("value")};
  for (const Stat& stat : rows_) table.rows.push_back({stat.name, stat.value});
  return table;
}

bool StatTable::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int row = help->pos().y() / kRowHeight;
  if (row < 0 || row >= static_cast<int>(rows_.size())) return true;
  const Stat& stat = rows_[static_cast<std::size_t>(row)];
  QToolTip::showText(help->globalPos(), stat.hint.isEmpty() ? stat.name + QStringLiteral(": ") + stat.value : stat.hint,
                     this);
  return true;
}

StatRow::StatRow(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed); }

void StatRow::set_stats(std::vector<Stat> stats) {
  if (stats == stats_) return;
  stats_ = std::move(stats);
  setAccessibleDescription(spoken(stats_));
  updateGeometry();
  update();
}

QSize StatRow::sizeHint() const { return {static_cast<int>(stats_.size()) * 84, kStatRowHeight}; }

// Narrow columns are served by smaller figures, never by cut ones.
QSize StatRow::minimumSizeHint() const { return {static_cast<int>(stats_.size()) * 56, kStatRowHeight}; }

double StatRow::value_scale() const {
  const double cell = width() / std::max<double>(1.0, static_cast<double>(stats_.size())) - 8;
  double widest = 1;
  for (const Stat& stat : stats_) widest = std::max(widest, tabular_width(number_font(18), stat.value));
  return std::min(1.0, cell / widest);
}

void StatRow::paintEvent(QPaintEvent*) {
  if (stats_.empty()) return;
  const Theme& theme = theme_of(palette());
  QPainter painter(this);
  painter.setPen(theme.border);
  painter.drawLine(QPointF(0, 0.5), QPointF(width(), 0.5));
  const double cell = width() / static_cast<double>(stats_.size());
  const int pixels = std::max(11, static_cast<int>(18 * value_scale()));
  for (std::size_t i = 0; i < stats_.size(); ++i) {
    const double left = static_cast<double>(i) * cell;
    painter.setPen(theme.text);
    painter.setFont(number_font(pixels));
    draw_tabular(painter, QRectF(left, 10, cell - 8, 24), Qt::AlignLeft, stats_[i].value);
    painter.setPen(theme.secondary);
    painter.setFont(caption_font());
    painter.drawText(QRectF(left, 36, cell - 4, 16), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(caption_font()).elidedText(stats_[i].name, Qt::ElideRight, cell - 4));
  }
}

bool StatRow::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip || stats_.empty()) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int count = static_cast<int>(stats_.size());
  const int index = std::clamp(help->pos().x() * count / std::max(1, width()), 0, count - 1);
  const Stat& stat = stats_[static_cast<std::size_t>(index)];
  QToolTip::showText(help->globalPos(), stat.hint.isEmpty() ? stat.name + QStringLiteral(": ") + stat.value : stat.hint,
                     this);
  return true;
}

}  // namespace widgets
