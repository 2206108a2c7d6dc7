#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "widgets/plot_state.h"

namespace widgets {
namespace {

constexpr double kZoomStep = 0.8;

double place(double value, bool log) { return log ? std::log(value) : value; }
double value_at(double place_value, bool log) { return log ? std::exp(place_value) : place_value; }

// All sample positions of the visible curves, ascending: where the arrow keys stop.
std::vector<double> sample_positions(const PlotScene& scene) {
  std::vector<double> positions;
  for (const Curve& curve : scene.curves) {
    for (const Stretch& stretch : curve.stretches)
      positions.insert(positions.end(), stretch.x.begin(), stretch.x.end());
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

}  // namespace

Range scaled(const Range& range, double share, double center, bool log) {
  const double middle = place(center, log);
  return {value_at(middle + share * (place(range.low, log) - middle), log),
          value_at(middle + share * (place(range.high, log) - middle), log)};
}

Range shifted(const Range& range, double share, bool log) {
  const double by = share * (place(range.high, log) - place(range.low, log));
  return {value_at(place(range.low, log) + by, log), value_at(place(range.high, log) + by, log)};
}

void Plot::move_crosshair_by(int samples) {
  state_->refresh();
  const std::vector<double> positions = sample_positions(state_->scene);
  if (positions.empty()) return;
  const double from = state_->crosshair.value_or(samples > 0 ? positions.front() : positions.back());
  auto at = std::lower_bound(positions.begin(), positions.end(), from) - positions.begin();
  if (state_->crosshair) at += samples;
  at = std::clamp<std::ptrdiff_t>(at, 0, static_cast<std::ptrdiff_t>(positions.size()) - 1);
  const double x = positions[static_cast<std::size_t>(at)];
  set_crosshair(x);
  emit crosshair_moved(x);
}

void Plot::keyPressEvent(QKeyEvent* event) {
  const int stride = event->modifiers() & Qt::ShiftModifier ? 10 : 1;
  switch (event->key()) {
    case Qt::Key_Left:
      move_crosshair_by(-stride);
      return;
    case Qt::Key_Right:
      move_crosshair_by(stride);
      return;
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      zoom_by(kZoomStep);
      return;
    case Qt::Key_Minus:
      zoom_by(1 / kZoomStep);
      return;
    case Qt::Key_F:
      follow();
      return;
    case Qt::Key_Escape:
      if (!state_->crosshair) break;
      set_crosshair(std::nullopt);
      emit crosshair_left();
      return;
    default:
      break;
  }
  const int index = event->key() - Qt::Key_1;
  if (index >= 0 && index < 9 && index < static_cast<int>(series().size())) {
    set_series_visible(static_cast<std::size_t>(index), !series_visible(static_cast<std::size_t>(index)));
    return;
  }
  QWidget::keyPressEvent(event);
}

void Plot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return QWidget::mousePressEvent(event);
  const int entry = state_->canvas.legend_entry_at(event->position());
  if (entry >= 0) {
    set_series_visible(static_cast<std::size_t>(entry), !series_visible(static_cast<std::size_t>(entry)));
    return;
  }
  state_->press = event->position();
  state_->press_x = x_range();
  state_->press_y = y_range();
  if (event->modifiers() & Qt::ShiftModifier)
    state_->box_from = event->position();
  else
    state_->dragging = true;
}

void Plot::mouseMoveEvent(QMouseEvent* event) {
  const QRectF area = state_->canvas.axis_rect();
  if (state_->dragging) {
    const QPointF moved = event->position() - state_->press;
    if (moved.manhattanLength() < 4) return;
    zoom_to(shifted(state_->press_x, -moved.x() / area.width(), view().log_x),
            shifted(state_->press_y, moved.y() / area.height(), view().log_y));
    return;
  }
  if (state_->box_from) {
    state_->box_to = event->position();
    return;
  }
  if (!area.contains(event->position())) return leaveEvent(event);
  const double x = state_->canvas.x_at(event->position().x());
  set_crosshair(x);
  emit crosshair_moved(x);
}

void Plot::mouseReleaseEvent(QMouseEvent* event) {
  state_->dragging = false;
  if (!state_->box_from) return;
  const QPointF from = *std::exchange(state_->box_from, std::nullopt);
  const QPointF to = event->position();
  if (std::abs(to.x() - from.x()) < 5 || std::abs(to.y() - from.y()) < 5) return;
  const PlotCanvas& canvas = state_->canvas;
  zoom_to({canvas.x_at(std::min(from.x(), to.x())), canvas.x_at(std::max(from.x(), to.x()))},
          {canvas.y_at(std::max(from.y(), to.y())), canvas.y_at(std::min(from.y(), to.y()))});
}

void Plot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) follow();
}

void Plot::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  if (steps == 0) return;
  const double share = std::pow(kZoomStep, steps);
  if (event->modifiers() & Qt::ControlModifier) {
    zoom_to(x_range(), scaled(y_range(), share, state_->canvas.y_at(event->position().y()), view().log_y));
  } else {
    zoom_to(scaled(x_range(), share, state_->canvas.x_at(event->position().x()), view().log_x), y_range());
  }
  event->accept();
}

void Plot::leaveEvent(QEvent*) {
  if (!state_->crosshair) return;
  set_crosshair(std::nullopt);
  emit crosshair_left();
}

void Plot::focusInEvent(QFocusEvent* event) {
  QWidget::focusInEvent(event);
  state_->canvas.set_focused(hasFocus());
  schedule();
}

void Plot::focusOutEvent(QFocusEvent* event) {
  QWidget::focusOutEvent(event);
  state_->canvas.set_focused(false);
  schedule();
}

}  // namespace widgets
