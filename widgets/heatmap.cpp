#include "widgets/heatmap.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/numbers.h"

namespace widgets {

Heatmap::Heatmap(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void Heatmap::set_title(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  update();
}

void Heatmap::set_axes(const QString& x_title, const QString& y_title, const QString& value_title) {
  x_title_ = x_title;
  y_title_ = y_title;
  value_title_ = value_title;
  update();
}

void Heatmap::set_origin(int first_column, int first_row) {
  first_column_ = first_column;
  first_row_ = first_row;
  update();
}

void Heatmap::set_matrix(Matrix matrix) {
  matrix_ = std::move(matrix);
  matrix_.values.resize(matrix_.rows * matrix_.columns, std::nan(""));
  if (current_ &&
      (current_->x() >= static_cast<int>(matrix_.columns) || current_->y() >= static_cast<int>(matrix_.rows))) {
    current_.reset();
  }
  find_limits();
  update();
}

void Heatmap::set_log(bool log) {
  log_ = log;
  find_limits();
  update();
}

void Heatmap::set_diverging(bool diverging) {
  diverging_ = diverging;
  find_limits();
  update();
}

void Heatmap::set_line(MatrixLine line, const QString& label) {
  line_ = std::move(line);
  line_label_ = label;
  update();
}

void Heatmap::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

// The scale comes from what can be drawn; a constant matrix gets the same scale every time.
void Heatmap::find_limits() {
  any_ = false;
  for (const double value : matrix_.values) {
    if (!std::isfinite(value) || (log_ && value <= 0)) continue;
    low_ = any_ ? std::min(low_, value) : value;
    high_ = any_ ? std::max(high_, value) : value;
    any_ = true;
  }
  if (!any_) low_ = log_ ? 0.1 : 0, high_ = 1;
  if (diverging_) {
    high_ = std::max({std::abs(low_), std::abs(high_), 1e-300});
    low_ = -high_;
  }
  if (low_ == high_) {
    low_ = log_ ? low_ / 2 : low_ - 1;
    high_ = log_ ? high_ * 2 : high_ + 1;
  }
}

double Heatmap::share(double value) const {
  if (log_) return (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_));
  return (value - low_) / (high_ - low_);
}

QColor Heatmap::color(const Theme& theme, double value) const {
  return diverging_ ? diverging_color(theme, value / high_) : sequential_color(theme, share(value));
}

QString Heatmap::describe(const QPoint& cell) const {
  const double value = matrix_.at(static_cast<std::size_t>(cell.y()), static_cast<std::size_t>(cell.x()));
  const QString text = std::isnan(value) ? tr("not measured") : value == 0 ? tr("exactly 0") : short_number(value, 4);
  return QStringLiteral("%1 %2 · %3 %4 · %5 %6")
      .arg(x_title_)
      .arg(cell.x() + first_column_)
      .arg(y_title_)
      .arg(cell.y() + first_row_)
      .arg(value_title_, text);
}

QRectF Heatmap::cell_in(const QRectF& cells, const QPoint& cell) const {
  const double width = cells.width() / static_cast<double>(matrix_.columns);
  const double height = cells.height() / static_cast<double>(matrix_.rows);
  return {cells.left() + cell.x() * width, cells.bottom() - (cell.y() + 1) * height, width, height};
}

QRectF Heatmap::cell_rect(const QPoint& cell) const { return cell_in(frame_in(rect()).cells, cell); }

std::optional<QPoint> Heatmap::cell_at(const QPointF& position) const {
  const QRectF cells = frame_in(rect()).cells;
  if (!cells.contains(position) || matrix_.columns == 0 || matrix_.rows == 0) return std::nullopt;
  const auto columns = static_cast<int>(matrix_.columns);
  const auto rows = static_cast<int>(matrix_.rows);
  const int column = static_cast<int>((position.x() - cells.left()) / cells.width() * columns);
  const int row = static_cast<int>((cells.bottom() - position.y()) / cells.height() * rows);
  return QPoint(std::clamp(column, 0, columns - 1), std::clamp(row, 0, rows - 1));
}

void Heatmap::set_current(std::optional<QPoint> cell) {
  if (cell == current_) return;
  current_ = cell;
  setAccessibleDescription(cell ? describe(*cell) : QString());
  update();
  emit current_changed();
}

void Heatmap::keyPressEvent(QKeyEvent* event) {
  if (matrix_.columns == 0 || matrix_.rows == 0) return QWidget::keyPressEvent(event);
  const QPoint at = current_.value_or(QPoint(0, 0));
  QPoint by;
  switch (event->key()) {
    case Qt::Key_Left:
      by = {-1, 0};
      break;
    case Qt::Key_Right:
      by = {1, 0};
      break;
    case Qt::Key_Up:
      by = {0, 1};
      break;
    case Qt::Key_Down:
      by = {0, -1};
      break;
    case Qt::Key_Escape:
      if (!current_) return QWidget::keyPressEvent(event);
      return set_current(std::nullopt);
    default:
      return QWidget::keyPressEvent(event);
  }
  if (!current_) by = {};
  set_current(QPoint(std::clamp(at.x() + by.x(), 0, static_cast<int>(matrix_.columns) - 1),
                     std::clamp(at.y() + by.y(), 0, static_cast<int>(matrix_.rows) - 1)));
}

void Heatmap::mouseMoveEvent(QMouseEvent* event) { set_current(cell_at(event->position())); }
void Heatmap::mousePressEvent(QMouseEvent* event) { set_current(cell_at(event->position())); }

void Heatmap::leaveEvent(QEvent*) {
  if (!hasFocus()) set_current(std::nullopt);
}

void Heatmap::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void Heatmap::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

// One row a cell, with the numbers that the axes show.
FigureTable Heatmap::figure_table() const {
  FigureTable table;
  table.columns = {x_title_, y_title_, value_title_};
  for (std::size_t row = 0; row < matrix_.rows; ++row) {
    for (std::size_t column = 0; column < matrix_.columns; ++column) {
      table.rows.push_back({QString::number(static_cast<int>(column) + first_column_),
                            QString::number(static_cast<int>(row) + first_row_),
                            exact_number(matrix_.at(row, column))});
    }
  }
  return table;
}

}  // namespace widgets
