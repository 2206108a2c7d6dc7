#include "widgets/plot_scene.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>
#include <limits>

namespace widgets {

bool PlotScene::has_data() const {
  return std::any_of(curves.begin(), curves.end(), [](const Curve& curve) { return !curve.stretches.empty(); });
}

PlotCounts PlotScene::counts() const {
  PlotCounts total;
  for (const Curve& curve : curves) {
    total.non_finite += curve.non_finite;
    total.hidden_by_log += curve.hidden;
  }
  return total;
}

void PlotScene::rebuild_curve(std::size_t index) {
  curves.resize(series.size());
  visible.resize(series.size(), true);
  curves[index] = Curve();
  grow_curve(index);
}

void PlotScene::grow_curve(std::size_t index) {
  if (!visible[index]) return;
  widgets::grow_curve(curves[index], series[index], {view.smoothing, view.log_x, view.log_y});
}

void PlotScene::rebuild_curves() {
  curves.assign(series.size(), Curve());
  visible.resize(series.size(), true);
  for (std::size_t i = 0; i < series.size(); ++i) rebuild_curve(i);
}

namespace {

// Error bars belong to what is seen.
void widen_by_spread(const PlotScene& scene, Range& extent) {
  for (std::size_t i = 0; i < scene.series.size(); ++i) {
    const Series& series = scene.series[i];
    if (!scene.visible[i] || series.spread == Spread::none) continue;
    for (const auto* values : {&series.low, &series.high}) {
      for (const double value : *values) {
        if (!std::isfinite(value) || (scene.log_y() && value <= 0)) continue;
        extent.low = std::min(extent.low, value);
        extent.high = std::max(extent.high, value);
      }
    }
  }
}

}  // namespace

void PlotScene::fit() {
  Range extent;
  const bool markers = std::any_of(series.begin(), series.end(), [](const Series& one) { return one.style.markers; });
  x = x_extent(curves, extent) ? padded(extent, view.log_x, markers ? 0.02 : 0.0)
                               : (view.log_x ? Range{1, 10} : Range{0, 1});
  if (y_extent(curves, view.outliers_out, extent)) {
    if (!view.outliers_out) widen_by_spread(*this, extent);
    y = padded(extent, view.log_y, 0.06);
  } else {
    y = view.log_y ? Range{0.1, 1} : Range{0, 1};
  }
  if (!y_limits || (view.log_y && y_limits->low <= 0)) return;
  const Range within = has_data() ? extent : *y_limits;
  y = padded({std::min(y_limits->low, within.low), std::max(y_limits->high, within.high)}, view.log_y, 0.02);
}

QString PlotScene::complaint() const {
  const PlotCounts total = counts();
  QStringList parts;
  if (total.non_finite > 0) {
    parts << QCoreApplication::translate("Plot", "%1 not finite, marked ×").arg(total.non_finite);
  }
  if (total.hidden_by_log > 0) {
    parts << QCoreApplication::translate("Plot", "%1 at or below 0, hidden by the log axis").arg(total.hidden_by_log);
  }
  return parts.join(QStringLiteral(" · "));
}

bool nearest_sample(const Curve& curve, double x, double& sample_x, double& sample_y) {
  double best = std::numeric_limits<double>::infinity();
  for (const Stretch& stretch : curve.stretches) {
    const auto at = std::lower_bound(stretch.x.begin(), stretch.x.end(), x) - stretch.x.begin();
    for (const auto i : {at - 1, at}) {
      if (i < 0 || i >= static_cast<long>(stretch.x.size())) continue;
      const auto index = static_cast<std::size_t>(i);
      const double distance = std::abs(stretch.x[index] - x);
      if (distance > best) continue;
      best = distance;
      sample_x = stretch.x[index];
      sample_y = stretch.y[index];
    }
  }
  return std::isfinite(best);
}

}  // namespace widgets
