// The one plot of the program: curves with passes and runs told apart, log axes, smoothing with the raw line behind,
// zoom that freezes following, and a crosshair that several plots share. Whatever is wrong with the data is shown and
// counted, never hidden.
//
// Keys: Left and Right move the crosshair, + and - zoom, F follows, 1-9 hide and show a series, Escape ends the
// crosshair. Mouse: wheel zooms x (with Ctrl: y), drag moves, Shift and drag zooms into a box, double click follows,
// a click on a legend entry hides and shows it.
#pragma once

#include <QWidget>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "widgets/figure_export.h"
#include "widgets/plot_curve.h"
#include "widgets/series.h"

namespace widgets {

/// How data is looked at; saved with the session.
struct PlotView {
  bool log_x = false;
  bool log_y = false;
  double smoothing = 0;       ///< 0..0.999, debiased
  bool outliers_out = false;  ///< the y range leaves out the 2 % at either end

  friend bool operator==(const PlotView&, const PlotView&) = default;
};

/// A shaded stretch of x, such as the exact region.
struct Region {
  double from = 0;
  double to = 0;
  QString label;
};

/// A horizontal line, such as chance.
struct ReferenceLine {
  double y = 0;
  QString label;
};

/// What could not be drawn, over all visible series.
struct PlotCounts {
  std::int64_t non_finite = 0;
  std::int64_t hidden_by_log = 0;

  friend bool operator==(const PlotCounts&, const PlotCounts&) = default;
};

class Plot : public QWidget, public FigureSource {
  Q_OBJECT

 public:
  explicit Plot(QWidget* parent = nullptr);
  ~Plot() override;

  void set_title(const QString& title);
  /// With units: "loss (nats)", "step".
  void set_axes(const QString& x_title, const QString& y_title);
  /// Shown while there is nothing to draw: "no data yet: start a training".
  void set_empty_text(const QString& text);
  /// Replaces all series; a series keeps its visibility by label.
  void set_series(std::vector<Series> series);
  [[nodiscard]] const std::vector<Series>& series() const;
  /// Adds points to a series that is there; the cheap way for a live curve.
  void append(std::size_t series, const std::vector<double>& x, const std::vector<double>& y);
  void set_series_visible(std::size_t series, bool visible);
  [[nodiscard]] bool series_visible(std::size_t series) const;

  void set_view(const PlotView& view);
  [[nodiscard]] const PlotView& view() const;
  /// While following, y spans at least this (accuracy: 0 to 1); nothing: the data alone.
  void set_y_limits(std::optional<Range> limits);
  void set_regions(std::vector<Region> regions);
  void set_reference_lines(std::vector<ReferenceLine> lines);
  /// While values keep coming lines are as thin as a pen can draw fast; at rest the few points of a short curve get a
  /// wider one.
  void set_live(bool live);
  /// A vertical line at x (the present step); nothing: none.
  void set_cursor_line(std::optional<double> x);

  [[nodiscard]] Range x_range() const;
  [[nodiscard]] Range y_range() const;
  /// Following: ranges are taken from the data at each update. Any zoom ends it.
  [[nodiscard]] bool following() const;
  void follow();
  /// Freezes at these ranges.
  void zoom_to(const Range& x, const Range& y);
  void zoom_x_to(const Range& x);
  /// Share of the present width; below 1 zooms in about the middle or the crosshair.
  void zoom_by(double share);
  /// Puts the crosshair at x, or takes it away.
  void set_crosshair(std::optional<double> x);
  [[nodiscard]] std::optional<double> crosshair() const;

  [[nodiscard]] PlotCounts counts() const;
  /// Replots drawn so far; a queue of updates makes one.
  [[nodiscard]] std::int64_t replots() const;
  /// Draws now instead of at the timer.
  void render_now();
  /// The same, when there is something new to draw.
  void render_if_needed();

  [[nodiscard]] QString figure_title() const override;
  void paint_figure(QPaintDevice& device, const FigureArea& area) const override;
  [[nodiscard]] FigureTable figure_table() const override;

  [[nodiscard]] QSize sizeHint() const override { return {420, 240}; }
  [[nodiscard]] QSize minimumSizeHint() const override { return {220, 150}; }

 signals:
  void following_changed(bool following);
  /// By the user or zoom_*: linked plots take it over.
  void x_zoomed(double low, double high);
  void crosshair_moved(double x);
  void crosshair_left();
  void series_visibility_changed(int series, bool visible);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void showEvent(QShowEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;

 private:
  struct State;
  void schedule();
  void data_changed();
  void freeze();
  void move_crosshair_by(int samples);

  std::unique_ptr<State> state_;
};

/// Links plots over one x: crosshair, zoom and follow go to all of them. Plots may come and go.
class PlotLink : public QObject {
  Q_OBJECT

 public:
  explicit PlotLink(QObject* parent = nullptr) : QObject(parent) {}
  void add(Plot* plot);

 private:
  void share_zoom(Plot* from, const Range& x);
  void share_crosshair(Plot* from, std::optional<double> x);
  void share_following(Plot* from, bool following);

  std::vector<Plot*> plots_;
  bool sharing_ = false;
};

}  // namespace widgets
