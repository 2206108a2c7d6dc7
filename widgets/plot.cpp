#include "widgets/plot.h"

#include <QEvent>
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "widgets/plot_state.h"

namespace widgets {
namespace {

constexpr int kReplotMilliseconds = 40;  // 25 pictures a second, however fast the data comes

}  // namespace

Plot::Plot(QWidget* parent) : QWidget(parent), state_(std::make_unique<State>(this)) {
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
  state_->timer.setSingleShot(true);
  state_->timer.setInterval(kReplotMilliseconds);
  connect(&state_->timer, &QTimer::timeout, this, &Plot::render_now);
}

Plot::~Plot() = default;

void Plot::set_title(const QString& title) {
  state_->scene.title = title;
  setAccessibleName(title);
  schedule();
}

void Plot::set_axes(const QString& x_title, const QString& y_title) {
  if (x_title == state_->scene.x_title && y_title == state_->scene.y_title) return;
  state_->scene.x_title = x_title;
  state_->scene.y_title = y_title;
  setAccessibleDescription(tr("%1 against %2").arg(y_title, x_title));
  schedule();
}

void Plot::set_empty_text(const QString& text) {
  state_->scene.empty_text = text;
  schedule();
}

void Plot::set_series(std::vector<Series> series) {
  PlotScene& scene = state_->scene;
  std::unordered_map<std::string, bool> was_visible;
  for (std::size_t i = 0; i < scene.series.size() && i < scene.visible.size(); ++i) {
    was_visible[scene.series[i].label] = scene.visible[i];
  }
  scene.series = std::move(series);
  scene.visible.assign(scene.series.size(), true);
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    const auto found = was_visible.find(scene.series[i].label);
    if (found != was_visible.end()) scene.visible[i] = found->second;
  }
  data_changed();
}

const std::vector<Series>& Plot::series() const { return state_->scene.series; }

void Plot::append(std::size_t series, const std::vector<double>& x, const std::vector<double>& y) {
  Series& target = state_->scene.series.at(series);
  const std::size_t count = std::min(x.size(), y.size());
  target.x.insert(target.x.end(), x.begin(), x.begin() + static_cast<long>(count));
  target.y.insert(target.y.end(), y.begin(), y.begin() + static_cast<long>(count));
  state_->grown.insert(series);
  state_->fit_wanted = true;
  schedule();
}

void Plot::set_series_visible(std::size_t series, bool visible) {
  if (series >= state_->scene.series.size() || state_->scene.visible[series] == visible) return;
  state_->scene.visible[series] = visible;
  state_->stale.resize(state_->scene.series.size(), true);
  state_->stale[series] = true;
  emit series_visibility_changed(static_cast<int>(series), visible);
  schedule();
}

bool Plot::series_visible(std::size_t series) const { return state_->scene.visible.at(series); }

// A range from a linear axis may hold zero, which a log axis cannot show: following starts anew.
void Plot::set_view(const PlotView& view) {
  if (view == state_->scene.view) return;
  const bool axes_changed = view.log_x != state_->scene.view.log_x || view.log_y != state_->scene.view.log_y;
  state_->scene.view = view;
  data_changed();
  if (axes_changed) follow();
}

const PlotView& Plot::view() const { return state_->scene.view; }

void Plot::set_y_limits(std::optional<Range> limits) {
  state_->scene.y_limits = limits;
  state_->fit_wanted = true;
  schedule();
}

void Plot::set_regions(std::vector<Region> regions) {
  state_->scene.regions = std::move(regions);
  schedule();
}

void Plot::set_reference_lines(std::vector<ReferenceLine> lines) {
  state_->scene.lines = std::move(lines);
  schedule();
}

void Plot::set_live(bool live) {
  if (!state_->canvas.set_live(live)) return;
  schedule();
}

void Plot::set_cursor_line(std::optional<double> x) {
  if (x == state_->scene.cursor_line) return;
  state_->scene.cursor_line = x;
  schedule();
}

Range Plot::x_range() const {
  state_->refresh();
  return state_->scene.x;
}

Range Plot::y_range() const {
  state_->refresh();
  return state_->scene.y;
}

bool Plot::following() const { return state_->following; }

void Plot::follow() {
  state_->fit_wanted = true;
  schedule();
  if (state_->following) return;
  state_->following = true;
  emit following_changed(true);
}

void Plot::freeze() {
  state_->refresh();
  if (!state_->following) return;
  state_->following = false;
  emit following_changed(false);
}

void Plot::zoom_to(const Range& x, const Range& y) {
  const auto usable = [](const Range& range, bool log) {
    return std::isfinite(range.low) && std::isfinite(range.high) && range.high > range.low && (!log || range.low > 0);
  };
  if (!usable(x, view().log_x) || !usable(y, view().log_y)) return;
  freeze();
  const bool moved = x != state_->scene.x;
  state_->scene.x = x;
  state_->scene.y = y;
  schedule();
  if (moved) emit x_zoomed(x.low, x.high);
}

void Plot::zoom_x_to(const Range& x) { zoom_to(x, y_range()); }

void Plot::zoom_by(double share) {
  const Range x = x_range();
  const double middle = view().log_x ? std::sqrt(x.low * x.high) : (x.low + x.high) / 2;
  const bool aimed = state_->crosshair && x.contains(*state_->crosshair);
  zoom_x_to(scaled(x, share, aimed ? *state_->crosshair : middle, view().log_x));
}

// Drawn at once, and alone: the curves are not touched.
void Plot::set_crosshair(std::optional<double> x) {
  if (x == state_->crosshair) return;
  state_->crosshair = x;
  if (isVisible()) state_->canvas.move_crosshair(state_->scene, theme_of(palette()), x);
}

std::optional<double> Plot::crosshair() const { return state_->crosshair; }

PlotCounts Plot::counts() const {
  state_->refresh();
  return state_->scene.counts();
}

std::int64_t Plot::replots() const { return state_->replots; }

void Plot::schedule() {
  if (!state_->timer.isActive()) state_->timer.start();
}

void Plot::data_changed() {
  state_->grown.clear();
  state_->stale.assign(state_->scene.series.size(), true);
  state_->fit_wanted = true;
  schedule();
}

void Plot::render_if_needed() {
  if (state_->timer.isActive()) render_now();
}

void Plot::render_now() {
  state_->timer.stop();
  state_->refresh();
  if (!isVisible() || size().isEmpty()) return;  // showEvent or resizeEvent catches up
  const Theme& theme = theme_of(palette());
  state_->canvas.show(state_->scene, theme, QSizeF(size()));
  state_->canvas.set_crosshair(state_->scene, theme, state_->crosshair);
  state_->canvas.replot();
  ++state_->replots;
}

void Plot::resizeEvent(QResizeEvent*) {
  state_->canvas.plot().setGeometry(rect());
  if (isVisible()) render_now();
}

void Plot::showEvent(QShowEvent*) { render_now(); }

void Plot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) schedule();
}

}  // namespace widgets
