// A PlotScene on a QCustomPlot. The widget has one that lives; every export makes its own, in the light theme.
#pragma once

#include <qcustomplot.h>

#include <memory>
#include <optional>
#include <utility>

#include "widgets/plot_items.h"

namespace widgets {

class PlotCanvas {
 public:
  explicit PlotCanvas(QWidget* parent);

  /// Puts the scene's state into the plot for a drawing of this size; the scene must outlive the next replot.
  void show(const PlotScene& scene, const Theme& theme, const QSizeF& size);
  void replot() { plot_->replot(QCustomPlot::rpImmediateRefresh); }
  /// Drawn with the next replot.
  void set_crosshair(const PlotScene& scene, const Theme& theme, std::optional<double> x);
  /// Drawn now, and alone.
  void move_crosshair(const PlotScene& scene, const Theme& theme, std::optional<double> x);
  /// Lines as wide as print wants them, however long that takes to draw.
  void set_for_print() { for_print_ = true; }
  /// Thin lines only; false when nothing changes by it.
  bool set_live(bool live) { return std::exchange(live_, live) != live; }
  void set_focused(bool focused) { focused_ = focused; }
  [[nodiscard]] QCustomPlot& plot() { return *plot_; }
  [[nodiscard]] QRectF axis_rect() const { return plot_->axisRect()->rect(); }
  [[nodiscard]] int legend_entry_at(const QPointF& position) const { return header_->entry_at(position); }
  [[nodiscard]] double x_at(double pixel) const { return plot_->xAxis->pixelToCoord(pixel); }
  [[nodiscard]] double y_at(double pixel) const { return plot_->yAxis->pixelToCoord(pixel); }

 private:
  void make_layers();
  void set_axis(QCPAxis* axis, FixedTicker& ticker, const Range& range, bool log, const QString& title, int wanted,
                const Theme& theme);
  void set_graphs(const PlotScene& scene, const Theme& theme, std::size_t columns);
  void add_raw_lines(const PlotScene& scene, std::size_t index, const Theme& theme, std::size_t columns);
  void add_curve(const PlotScene& scene, std::size_t index, const Theme& theme, std::size_t columns);
  QCPGraph& add_line(const PlotScene& scene, const Polyline& line, const QPen& pen);
  void add_dots(const PlotScene& scene, const Polyline& points, const QColor& color, double size);

  QCustomPlot* plot_;  // owned by the parent widget, or by owner_
  std::unique_ptr<QCustomPlot> owner_;
  PlotHeader* header_;
  PlotUnderlay* underlay_;
  PlotErrorBars* error_bars_;
  PlotOverlay* overlay_;
  PlotCrosshair* crosshair_;
  QSharedPointer<FixedTicker> x_ticker_, y_ticker_;
  int used_graphs_ = 0;
  bool for_print_ = false;
  bool live_ = false;
  bool focused_ = false;  // the axis rectangle gets a ring, as every control that has the keyboard
};

}  // namespace widgets
