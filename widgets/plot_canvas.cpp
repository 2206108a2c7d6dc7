#include "widgets/plot_canvas.h"

#include <algorithm>
#include <cmath>

namespace widgets {
namespace {

QVector<QCPGraphData> graph_data(const Polyline& line) {
  QVector<QCPGraphData> data;
  data.reserve(static_cast<int>(line.x.size()));
  double key = 0;
  for (std::size_t i = 0; i < line.x.size(); ++i) {
    if (std::isfinite(line.x[i])) key = line.x[i];  // a gap keeps the last key: keys stay ascending
    data.append(QCPGraphData(key, line.y[i]));
  }
  return data;
}

/// Depths and counts are whole numbers: between them there is nothing that a tick could name.
bool whole_x(const PlotScene& scene) {
  for (const Series& series : scene.series) {
    if (!std::all_of(series.x.begin(), series.x.end(), [](double x) { return x == std::floor(x); })) return false;
  }
  return true;
}

Polyline thinned(const PlotScene& scene, const std::vector<double>& x, const std::vector<double>& y,
                 std::size_t columns, const BlockExtremes& blocks) {
  return decimate(x, y, scene.x.low, scene.x.high, columns, scene.log_x(), blocks);
}

/// Whether the points in view stand closer than their dots are wide.
bool crowded(const PlotScene& scene, const Curve& curve, std::size_t columns) {
  std::ptrdiff_t seen = 0;
  for (const Stretch& stretch : curve.stretches) {
    seen += std::upper_bound(stretch.x.begin(), stretch.x.end(), scene.x.high) -
            std::lower_bound(stretch.x.begin(), stretch.x.end(), scene.x.low);
  }
  return seen > static_cast<std::ptrdiff_t>(columns) / 4;
}

int wanted_x_ticks(const PlotScene& scene, double width) {
  const int wanted = std::clamp(static_cast<int>(width / 90), 2, 10);
  const double steps = scene.x.high - scene.x.low;
  return !scene.log_x() && steps < wanted && whole_x(scene) ? std::max(1, static_cast<int>(steps)) : wanted;
}

}  // namespace

PlotCanvas::PlotCanvas(QWidget* parent) : x_ticker_(new FixedTicker), y_ticker_(new FixedTicker) {
  plot_ = new QCustomPlot(parent);
  if (!parent) owner_.reset(plot_);
  plot_->setLocale(QLocale::c());
  plot_->setNoAntialiasingOnDrag(false);
  plot_->setAttribute(Qt::WA_TransparentForMouseEvents);
  plot_->setFocusPolicy(Qt::NoFocus);
  plot_->setMinimumSize(1, 1);  // a buffer without room cannot be painted, and QCustomPlot would try
  header_ = new PlotHeader(plot_);
  plot_->plotLayout()->insertRow(0);
  plot_->plotLayout()->addElement(0, 0, header_);
  plot_->plotLayout()->setRowSpacing(2);
  plot_->xAxis->setTicker(x_ticker_);
  plot_->yAxis->setTicker(y_ticker_);
  make_layers();
}

// From below: regions and bands, grid, error bars, curves, marks, crosshair.
void PlotCanvas::make_layers() {
  plot_->addLayer("under", plot_->layer("grid"), QCustomPlot::limBelow);
  plot_->addLayer("bars", plot_->layer("grid"), QCustomPlot::limAbove);
  plot_->addLayer("over", plot_->layer("main"), QCustomPlot::limAbove);
  plot_->addLayer("crosshair", plot_->layer("overlay"), QCustomPlot::limBelow);
  plot_->layer("crosshair")->setMode(QCPLayer::lmBuffered);
  underlay_ = new PlotUnderlay(plot_);
  underlay_->setLayer("under");
  error_bars_ = new PlotErrorBars(plot_);
  error_bars_->setLayer("bars");
  overlay_ = new PlotOverlay(plot_);
  overlay_->setLayer("over");
  crosshair_ = new PlotCrosshair(plot_);
  crosshair_->setLayer("crosshair");
  crosshair_->setClipToAxisRect(false);
}

void PlotCanvas::show(const PlotScene& scene, const Theme& theme, const QSizeF& size) {
  plot_->setBackground(QBrush(theme.card));
  header_->show(scene, theme);
  underlay_->show(scene, theme);
  error_bars_->show(scene, theme);
  overlay_->show(scene, theme, focused_);
  const bool data = scene.has_data() || scene.empty_text.isEmpty();
  set_axis(plot_->xAxis, *x_ticker_, scene.x, scene.log_x(), scene.x_title,
           data ? wanted_x_ticks(scene, size.width()) : 0, theme);
  set_axis(plot_->yAxis, *y_ticker_, scene.y, scene.log_y(), scene.y_title,
           data ? std::clamp(static_cast<int>((size.height() - 70) / 32), 2, 8) : 0, theme);
  plot_->xAxis->grid()->setVisible(false);
  set_graphs(scene, theme, static_cast<std::size_t>(std::max(50.0, size.width() * plot_->bufferDevicePixelRatio())));
}

void PlotCanvas::set_axis(QCPAxis* axis, FixedTicker& ticker, const Range& range, bool log, const QString& title,
                          int wanted, const Theme& theme) {
  // Without data there is no scale to speak of.
  const bool shown = wanted > 0;
  const Ticks ticks = make_ticks(range, log, std::max(1, wanted));
  ticker.set(shown ? ticks : Ticks());
  axis->setScaleType(log ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
  axis->setRange(range.low, range.high);
  axis->setLabel(ticks.exponent == 0 ? title : title + QLatin1Char(' ') + power_of_ten(ticks.exponent));
  axis->setLabelFont(caption_font());
  axis->setLabelColor(theme.secondary);
  axis->setLabelPadding(4);
  axis->setTickLabelFont(caption_font());
  axis->setTickLabelColor(theme.secondary);
  axis->setTickLabelPadding(8);
  axis->setBasePen(Qt::NoPen);
  axis->setTickPen(Qt::NoPen);
  axis->setSubTicks(false);
  axis->setTickLength(0);
  axis->grid()->setPen(QPen(theme.grid, 1));
  axis->grid()->setZeroLinePen(QPen(theme.grid, 1));
}

// Graphs are reused from replot to replot; those left over are removed. What was measured lies behind all of what was
// smoothed from it.
void PlotCanvas::set_graphs(const PlotScene& scene, const Theme& theme, std::size_t columns) {
  used_graphs_ = 0;
  for (std::size_t i = 0; i < scene.curves.size(); ++i) add_raw_lines(scene, i, theme, columns);
  for (std::size_t i = 0; i < scene.curves.size(); ++i) add_curve(scene, i, theme, columns);
  while (plot_->graphCount() > used_graphs_) plot_->removeGraph(plot_->graphCount() - 1);
}

void PlotCanvas::add_raw_lines(const PlotScene& scene, std::size_t index, const Theme& theme, std::size_t columns) {
  const SeriesStyle& style = scene.series[index].style;
  if (!style.line) return;
  const QPen faint(mix(theme.card, series_pen(theme, style, 1.0).color(), 0.3), 1);
  for (const Stretch& stretch : scene.curves[index].stretches) {
    if (stretch.raw.empty()) continue;
    const Polyline raw = thinned(scene, stretch.x, stretch.raw, columns, stretch.raw_blocks);
    // Noise that fills its columns has no edge that could be softened, and is drawn in half the time.
    add_line(scene, raw, faint).setAntialiased(raw.x.size() <= 2 * columns || for_print_);
  }
}

void PlotCanvas::add_curve(const PlotScene& scene, std::size_t index, const Theme& theme, std::size_t columns) {
  const SeriesStyle& style = scene.series[index].style;
  const QPen pen = series_pen(theme, style, 1.0);
  // Dots that cover each other tell nothing that the line does not.
  const bool markers = style.markers && !(style.line && crowded(scene, scene.curves[index], columns));
  Polyline dots;
  for (const Stretch& stretch : scene.curves[index].stretches) {
    if (style.line && stretch.x.size() > 1) {
      add_line(scene, thinned(scene, stretch.x, stretch.y, columns, stretch.y_blocks), pen);
    }
    if (stretch.x.size() > 1 && !markers && style.line) continue;
    dots.x.insert(dots.x.end(), stretch.x.begin(), stretch.x.end());
    dots.y.insert(dots.y.end(), stretch.y.begin(), stretch.y.end());
  }
  if (!dots.x.empty()) add_dots(scene, dots, pen.color(), style.markers ? 5 : 4);
}

QCPGraph& PlotCanvas::add_line(const PlotScene& scene, const Polyline& line, const QPen& pen) {
  const Polyline inside = clip(line, scene.x, scene.y, scene.log_x(), scene.log_y());
  QCPGraph* graph = used_graphs_ < plot_->graphCount() ? plot_->graph(used_graphs_) : plot_->addGraph();
  ++used_graphs_;
  // A pen wider than 1 is about a hundred times slower on noise; few points at rest can afford to be seen better.
  QPen width = pen;
  if ((inside.x.size() <= 400 && !live_) || for_print_) width.setWidthF(1.4 * pen.widthF());
  graph->setPen(width);
  graph->setLineStyle(QCPGraph::lsLine);
  graph->setAntialiased(true);
  graph->setScatterStyle(QCPScatterStyle::ssNone);
  graph->setAdaptiveSampling(false);
  graph->data()->set(graph_data(inside), true);
  return *graph;
}

void PlotCanvas::add_dots(const PlotScene& scene, const Polyline& points, const QColor& color, double size) {
  QVector<QCPGraphData> data;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (scene.x.contains(points.x[i]) && scene.y.contains(points.y[i])) {
      data.append(QCPGraphData(points.x[i], points.y[i]));
    }
  }
  QCPGraph* graph = used_graphs_ < plot_->graphCount() ? plot_->graph(used_graphs_) : plot_->addGraph();
  ++used_graphs_;
  graph->setPen(QPen(color, 1));
  graph->setLineStyle(QCPGraph::lsNone);
  graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, color, color, size));
  graph->setAdaptiveSampling(false);
  graph->data()->set(data, false);
}

void PlotCanvas::set_crosshair(const PlotScene& scene, const Theme& theme, std::optional<double> x) {
  crosshair_->show(scene, theme, x);
}

void PlotCanvas::move_crosshair(const PlotScene& scene, const Theme& theme, std::optional<double> x) {
  set_crosshair(scene, theme, x);
  plot_->layer("crosshair")->replot();
}

}  // namespace widgets
