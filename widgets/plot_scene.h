// All that one plot shows, as a value: the widget keeps one, an export takes a copy.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "widgets/plot.h"
#include "widgets/plot_curve.h"

namespace widgets {

struct PlotScene {
  QString title, x_title, y_title, empty_text;
  std::vector<Series> series;
  std::vector<Curve> curves;  ///< one a series; empty for hidden ones
  std::vector<bool> visible;
  PlotView view;
  std::optional<Range> y_limits;
  std::vector<Region> regions;
  std::vector<ReferenceLine> lines;
  std::optional<double> cursor_line;
  Range x, y;

  [[nodiscard]] bool log_x() const { return view.log_x; }
  [[nodiscard]] bool log_y() const { return view.log_y; }
  [[nodiscard]] bool has_data() const;
  [[nodiscard]] PlotCounts counts() const;
  void rebuild_curves();
  void rebuild_curve(std::size_t index);
  /// Takes in points that were added to the end of the series.
  void grow_curve(std::size_t index);
  /// Takes the ranges from the data.
  void fit();
  /// "2 not finite (×) · 3 at or below 0, hidden by the log axis"; empty when all is well.
  [[nodiscard]] QString complaint() const;
};

/// Nearest sample to x, over the stretches; false when the curve is empty.
bool nearest_sample(const Curve& curve, double x, double& sample_x, double& sample_y);

}  // namespace widgets
