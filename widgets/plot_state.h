// What the plot widget holds; shared by its source files alone.
#pragma once

#include <QTimer>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "widgets/plot_canvas.h"
#include "widgets/plot_scene.h"

namespace widgets {

struct Plot::State {
  explicit State(QWidget* widget) : canvas(widget) {}

  /// Brings the curves whose data or view changed up to date, and the ranges while following.
  void refresh() {
    stale.resize(scene.series.size(), true);
    scene.curves.resize(scene.series.size());
    scene.visible.resize(scene.series.size(), true);
    for (std::size_t i = 0; i < stale.size(); ++i) {
      if (!stale[i]) continue;
      scene.rebuild_curve(i);
      stale[i] = false;
      fit_wanted = true;
    }
    for (const std::size_t i : std::exchange(grown, {})) scene.grow_curve(i);
    if (following && fit_wanted) scene.fit();
    fit_wanted = false;
  }

  PlotScene scene;
  PlotCanvas canvas;
  QTimer timer;
  std::vector<bool> stale;
  std::set<std::size_t> grown;  ///< series that got points at their end
  bool fit_wanted = true;
  bool following = true;
  std::optional<double> crosshair;
  std::int64_t replots = 0;
  // Mouse.
  bool dragging = false;
  std::optional<QPointF> box_from;
  QPointF box_to;
  QPointF press;
  Range press_x, press_y;
};

/// `share` of the width about `center`, in log space on a log axis.
Range scaled(const Range& range, double share, double center, bool log);
/// Moved by a share of its own width.
Range shifted(const Range& range, double share, bool log);

}  // namespace widgets
