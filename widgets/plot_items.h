// What the plot draws by itself on QCustomPlot's layers: the header line, what lies under and over the curves, and the
// crosshair.
#pragma once

#include <qcustomplot.h>

#include <optional>
#include <vector>

#include "widgets/palette.h"
#include "widgets/plot_scene.h"
#include "widgets/ticks.h"

namespace widgets {

/// Title at the left, legend at the right of the same line; the legend goes on below when the line is too short.
/// Complaints about the data follow in a line of their own.
class PlotHeader : public QCPLayoutElement {
 public:
  explicit PlotHeader(QCustomPlot* plot);
  void show(const PlotScene& scene, const Theme& theme);
  /// Legend entry under a place, -1 for none.
  [[nodiscard]] int entry_at(const QPointF& position) const;

  void update(UpdatePhase phase) override;

 protected:
  void draw(QCPPainter* painter) override;
  void applyDefaultAntialiasingHint(QCPPainter* painter) const override { painter->setAntialiasing(true); }

 private:
  struct Entry {
    int series = 0;
    QString label;
    QPen pen;
    bool visible = true;
    bool line = true;
    QRectF area;  // relative to the header's corner
  };
  void lay_out(double width);
  void draw_entry(QCPPainter* painter, const Entry& entry, const QPointF& corner) const;

  Theme theme_;
  QString title_, complaint_;
  std::vector<Entry> entries_;
  double title_width_ = 0;
  double complaint_top_ = 0;
};

/// Shaded regions, bands and filled bars, below the grid; geometry is cut at the axis rectangle.
class PlotUnderlay : public QCPAbstractItem {
 public:
  explicit PlotUnderlay(QCustomPlot* plot) : QCPAbstractItem(plot) {}
  void show(const PlotScene& scene, const Theme& theme);
  double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_regions(QCPPainter* painter) const;
  void draw_band(QCPPainter* painter, const Series& series) const;
  static void draw_inside(QCPPainter& painter, const QPolygonF& polygon, const QRectF& rect);
  void draw_filled(QCPPainter* painter, const Series& series) const;

  const PlotScene* scene_ = nullptr;
  Theme theme_;
};

/// Error bars, between the grid and the curves; cut at the axis rectangle.
class PlotErrorBars : public QCPAbstractItem {
 public:
  explicit PlotErrorBars(QCustomPlot* plot) : QCPAbstractItem(plot) {}
  void show(const PlotScene& scene, const Theme& theme);
  double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_bars(QCPPainter* painter, const Series& series) const;

  const PlotScene* scene_ = nullptr;
  Theme theme_;
};

/// Marks of samples that are not finite, reference lines, the cursor line and the empty text, above the curves.
class PlotOverlay : public QCPAbstractItem {
 public:
  explicit PlotOverlay(QCustomPlot* plot) : QCPAbstractItem(plot) {}
  void show(const PlotScene& scene, const Theme& theme, bool focused);
  double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  void draw_bad_marks(QCPPainter* painter) const;
  void draw_region_labels(QCPPainter* painter) const;
  void draw_reference_lines(QCPPainter* painter) const;
  static std::vector<QRectF> label_places(const QRectF& rect, double y, const QString& label);
  [[nodiscard]] std::vector<QPolygonF> curve_lines() const;

  const PlotScene* scene_ = nullptr;
  Theme theme_;
  bool focused_ = false;
};

/// A vertical line at x and the values there; alone on a buffered layer, so that moving it redraws nothing else.
class PlotCrosshair : public QCPAbstractItem {
 public:
  explicit PlotCrosshair(QCustomPlot* plot) : QCPAbstractItem(plot) {}
  void show(const PlotScene& scene, const Theme& theme, std::optional<double> x);
  double selectTest(const QPointF&, bool, QVariant* = nullptr) const override { return -1; }

 protected:
  void draw(QCPPainter* painter) override;

 private:
  struct Reading {
    QPen pen;
    QString label, value;
    QPointF place;
  };
  [[nodiscard]] std::vector<Reading> readings(double& snapped) const;
  void draw_box(QCPPainter* painter, const std::vector<Reading>& readings, double at, double line) const;

  const PlotScene* scene_ = nullptr;
  Theme theme_;
  std::optional<double> x_;
};

/// Ticks that were computed elsewhere.
class FixedTicker : public QCPAxisTicker {
 public:
  void set(const Ticks& ticks);
  void generate(const QCPRange& range, const QLocale& locale, QChar format, int precision, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override;

 private:
  QVector<double> at_;
  QVector<QString> text_;
};

}  // namespace widgets
