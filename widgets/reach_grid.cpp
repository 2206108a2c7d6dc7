#include "widgets/reach_grid.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

namespace widgets {

namespace {

using engine::Cell;
using engine::CellState;
using engine::StairState;

constexpr double kHead = 42;  // title and a line of counts
constexpr double kLine = 14;  // another one, where they need it
constexpr double kLeft = 40;
constexpr double kFoot = 38;
constexpr double kLargest = 44;  // side of a cell
constexpr double kSymbolsFrom = 7;

QColor with_alpha(QColor color, double share) {
  color.setAlphaF(static_cast<float>(share));
  return color;
}

/// In a narrow panel the counts take two lines.
double head_height(const QString& counts, double width) {
  return QFontMetricsF(caption_font()).horizontalAdvance(counts) > width ? kHead + kLine : kHead;
}

}  // namespace

ReachGrid::ReachGrid(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

void ReachGrid::set_title(const QString& title) {
  title_ = title;
  setAccessibleName(title);
  update();
}

void ReachGrid::set_grid(const engine::ReachGrid& grid) {
  grid_ = grid;
  update();
}

void ReachGrid::set_instant(engine::Clock clock, Cell cell) {
  feedback_passes_.reset();
  clock_ = clock;
  cell_ = cell;
  setAccessibleDescription(describe(cell) + QStringLiteral(": ") + counts());
  update();
}

void ReachGrid::set_staircase(std::int64_t feedback_passes, bool late_start) {
  feedback_passes_ = feedback_passes;
  late_start_ = late_start;
  setAccessibleDescription(counts());
  update();
}

void ReachGrid::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

QString ReachGrid::counts() const {
  if (feedback_passes_) {
    const std::int64_t exact = engine::exact_positions(*feedback_passes_, grid_.positions, late_start_);
    return tr("exact positions %1 · still moving %2").arg(exact).arg(grid_.positions - exact);
  }
  const engine::ReachCounts counts = engine::count_cells(clock_, grid_, cell_);
  QString text = tr("reachable %1, directly read %2 · computed but out of reach %3")
                     .arg(counts.reachable)
                     .arg(counts.direct)
                     .arg(counts.out_of_reach);
  if (counts.future > 0) text += tr(" · computed but later %1").arg(counts.future);
  return text;
}

CellState ReachGrid::form_of(Cell cell) const {
  if (!feedback_passes_) return engine::cell_state(clock_, grid_, cell_, cell);
  switch (engine::stair_state(*feedback_passes_, cell.position, late_start_)) {
    case StairState::exact:
      return CellState::reachable;
    case StairState::newly_exact:
      return CellState::direct;
    case StairState::moving:
      break;
  }
  return CellState::future;
}

QString ReachGrid::word_of(Cell cell) const {
  if (!feedback_passes_) return QString::fromStdString(engine::to_string(form_of(cell)));
  switch (engine::stair_state(*feedback_passes_, cell.position, late_start_)) {
    case StairState::exact:
      return tr("exact");
    case StairState::newly_exact:
      return tr("exact since this pass");
    case StairState::moving:
      break;
  }
  return tr("still moving");
}

QString ReachGrid::describe(Cell cell) const {
  return tr("t = %1, ℓ = %2: %3").arg(cell.position + 1).arg(cell.depth).arg(word_of(cell));
}

// Cells are squares where there is room, and lie in the middle.
QRectF ReachGrid::cells_in(const QRectF& area) const {
  const QRectF room = area.adjusted(kLeft, head_height(counts(), area.width()), -8, -kFoot);
  const auto columns = static_cast<double>(std::max<std::int64_t>(grid_.positions, 1));
  const auto rows = static_cast<double>(grid_.layers + 1);
  const double width = std::min({room.width() / columns, kLargest});
  const double height = std::min({room.height() / rows, kLargest, std::max(width, 14.0)});
  const QSizeF size(std::max(1.0, width * columns), std::max(1.0, height * rows));
  return {QPointF(room.left() + std::max(0.0, (room.width() - size.width()) / 2), room.top()), size};
}

QRectF ReachGrid::cell_in(const QRectF& cells, Cell cell) const {
  const double width = cells.width() / static_cast<double>(grid_.positions);
  const double height = cells.height() / static_cast<double>(grid_.layers + 1);
  return {cells.left() + static_cast<double>(cell.position) * width,
          cells.bottom() - static_cast<double>(cell.depth + 1) * height, width, height};
}

QRectF ReachGrid::cell_rect(Cell cell) const { return cell_in(cells_in(rect()), cell); }

std::optional<Cell> ReachGrid::cell_at(const QPointF& position) const {
  const QRectF cells = cells_in(rect());
  if (grid_.positions == 0 || !cells.contains(position)) return std::nullopt;
  const double across = (position.x() - cells.left()) / cells.width() * static_cast<double>(grid_.positions);
  const double up = (cells.bottom() - position.y()) / cells.height() * static_cast<double>(grid_.layers + 1);
  return Cell{std::clamp<std::int64_t>(static_cast<std::int64_t>(across), 0, grid_.positions - 1),
              std::clamp<std::int64_t>(static_cast<std::int64_t>(up), 0, grid_.layers)};
}

void ReachGrid::choose(Cell cell) {
  if (cell == cell_) return;
  emit cell_chosen(cell);
}

void ReachGrid::keyPressEvent(QKeyEvent* event) {
  Cell cell = cell_;
  switch (event->key()) {
    case Qt::Key_Left:
      cell.position -= 1;
      break;
    case Qt::Key_Right:
      cell.position += 1;
      break;
    case Qt::Key_Up:
      cell.depth += 1;
      break;
    case Qt::Key_Down:
      cell.depth -= 1;
      break;
    default:
      return QWidget::keyPressEvent(event);
  }
  if (grid_.positions == 0) return;
  choose({std::clamp<std::int64_t>(cell.position, 0, grid_.positions - 1),
          std::clamp<std::int64_t>(cell.depth, 0, grid_.layers)});
}

void ReachGrid::mouseMoveEvent(QMouseEvent* event) {
  if (const auto cell = cell_at(event->position())) choose(*cell);
}

void ReachGrid::mousePressEvent(QMouseEvent* event) { mouseMoveEvent(event); }

void ReachGrid::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  update();
}

void ReachGrid::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  update();
}

// ---- painting -------------------------------------------------------------------------------------------------------

void ReachGrid::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Theme& theme = theme_of(palette());
  paint(painter, theme, rect());
  if (!hasFocus() || grid_.positions == 0) return;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.accent, 2));
  painter.drawRoundedRect(cells_in(rect()).adjusted(-3, -3, 3, 3), 4, 4);
}

void ReachGrid::paint(QPainter& painter, const Theme& theme, const QRectF& area) const {
  painter.setFont(title_font());
  painter.setPen(theme.text);
  painter.drawText(QRectF(area.left(), area.top(), area.width(), 18), Qt::AlignLeft | Qt::AlignVCenter, title_);
  if (grid_.positions == 0) {
    painter.setFont(body_font());
    painter.setPen(theme.secondary);
    painter.drawText(area.adjusted(0, kHead, 0, 0), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  painter.setFont(caption_font());
  painter.setPen(theme.secondary);
  const QRectF head(area.left(), area.top() + 19, area.width(), head_height(counts(), area.width()) - 22);
  painter.drawText(head, Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap, counts());
  const QRectF cells = cells_in(area);
  for (std::int64_t position = 0; position < grid_.positions; ++position) {
    for (std::int64_t depth = 0; depth <= grid_.layers; ++depth) {
      draw_cell(painter, theme, cell_in(cells, {position, depth}), form_of({position, depth}));
    }
  }
  draw_axes(painter, theme, cells);
}

// A form is never told by colour alone: dot, large dot, cross, ring, filled, empty.
void ReachGrid::draw_cell(QPainter& painter, const Theme& theme, const QRectF& area, CellState form) const {
  const double gap = std::clamp(area.width() / 14, 0.5, 2.5);
  const QRectF cell = area.adjusted(gap, gap, -gap, -gap);
  const double side = std::min(cell.width(), cell.height());
  const bool read = form == CellState::direct || form == CellState::reachable;
  QColor edge = theme.border, fill = Qt::transparent;
  if (read) edge = theme.accent, fill = with_alpha(theme.accent, form == CellState::direct ? 0.5 : 0.22);
  if (form == CellState::self) edge = fill = theme.accent;
  if (form == CellState::out_of_reach) edge = theme.warning;
  if (form == CellState::future) edge = theme.secondary;
  painter.setBrush(fill);
  painter.setPen(QPen(edge, side > 12 ? 1.4 : 1));
  const double radius = std::min(4.0, side / 6);
  painter.drawRoundedRect(cell, radius, radius);
  if (side < kSymbolsFrom) return;
  const QPointF middle = cell.center();
  const double size = std::clamp(side * 0.1, 1.0, 3.2);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.dark ? theme.text : edge);
  if (form == CellState::reachable) painter.drawEllipse(middle, size, size);
  if (form == CellState::direct) painter.drawEllipse(middle, 1.9 * size, 1.9 * size);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(edge, side > 12 ? 1.4 : 1));
  const double arm = std::clamp(side * 0.13, 1.6, 4.5);
  if (form == CellState::out_of_reach) {
    painter.drawLine(middle - QPointF(arm, arm), middle + QPointF(arm, arm));
    painter.drawLine(middle - QPointF(arm, -arm), middle + QPointF(arm, -arm));
  }
  if (form == CellState::future) painter.drawEllipse(middle, arm, arm);
}

void ReachGrid::draw_axes(QPainter& painter, const Theme& theme, const QRectF& cells) const {
  painter.setFont(caption_font());
  painter.setPen(theme.secondary);
  const double width = cells.width() / static_cast<double>(grid_.positions);
  const auto stride = static_cast<std::int64_t>(width >= 18 ? 1 : width >= 5 ? 5 : 20);
  for (std::int64_t position = 0; position < grid_.positions; ++position) {
    if (stride > 1 && (position + 1) % stride != 0) continue;
    const double x = cell_in(cells, {position, 0}).center().x();
    painter.drawText(QRectF(x - 20, cells.bottom() + 3, 40, 14), Qt::AlignCenter, QString::number(position + 1));
  }
  const double height = cells.height() / static_cast<double>(grid_.layers + 1);
  const auto skip = static_cast<std::int64_t>(std::ceil(13 / height));
  for (std::int64_t depth = 0; depth <= grid_.layers; depth += std::max<std::int64_t>(skip, 1)) {
    const double y = cell_in(cells, {0, depth}).center().y();
    painter.drawText(QRectF(cells.left() - 28, y - 8, 22, 16), Qt::AlignRight | Qt::AlignVCenter,
                     QString::number(depth));
  }
  painter.drawText(QRectF(cells.center().x() - 100, cells.bottom() + 19, 200, 14), Qt::AlignCenter, tr("position t"));
  painter.save();
  painter.translate(cells.left() - 34, cells.center().y());
  painter.rotate(-90);
  painter.drawText(QRectF(-60, -7, 120, 14), Qt::AlignCenter, tr("depth ℓ"));
  painter.restore();
}

void ReachGrid::paint_figure(QPaintDevice& device, const FigureArea& area) const {
  QPainter painter;
  const QRectF inside = begin_figure(painter, device, area);
  paint(painter, light_theme(), inside);
}

FigureTable ReachGrid::figure_table() const {
  FigureTable table;
  table.columns = {tr("position t"), tr("depth ℓ"), tr("state")};
  for (std::int64_t position = 0; position < grid_.positions; ++position) {
    for (std::int64_t depth = 0; depth <= grid_.layers; ++depth) {
      table.rows.push_back({QString::number(position + 1), QString::number(depth), word_of({position, depth})});
    }
  }
  return table;
}

}  // namespace widgets
