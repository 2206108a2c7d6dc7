#include "widgets/plot_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widgets {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A given break, or a step back in x: what was resumed is a line of its own.
bool starts_segment(const Series& series, std::size_t i, CurveProgress& progress) {
  while (progress.next_break < series.breaks.size() && series.breaks[progress.next_break] < i) ++progress.next_break;
  const bool given = progress.next_break < series.breaks.size() && series.breaks[progress.next_break] == i;
  const bool back = series.x[i] < progress.last_x;
  if (std::isfinite(series.x[i])) progress.last_x = series.x[i];
  return i > 0 && (given || back);
}

void add_point(Curve& curve, double x, double y, double raw, bool with_raw) {
  if (std::exchange(curve.progress.broken, false)) curve.stretches.emplace_back();
  Stretch& stretch = curve.stretches.back();
  stretch.x.push_back(x);
  stretch.y.push_back(y);
  if (with_raw) stretch.raw.push_back(raw);
  curve.low = std::min(curve.low, with_raw ? std::min(y, raw) : y);
  curve.high = std::max(curve.high, with_raw ? std::max(y, raw) : y);
}

double place(double value, bool log) { return log ? std::log(value) : value; }
double value_at(double place_value, bool log) { return log ? std::exp(place_value) : place_value; }

struct Box {
  double x0, x1, y0, y1;
};

// Liang-Barsky: the parameters at which the line from (ax, ay) to (bx, by) enters and leaves the box.
bool clip_segment(const Box& box, double ax, double ay, double bx, double by, double& enter, double& leave) {
  const double dx = bx - ax;
  const double dy = by - ay;
  const double p[4] = {-dx, dx, -dy, dy};
  const double q[4] = {ax - box.x0, box.x1 - ax, ay - box.y0, box.y1 - ay};
  enter = 0;
  leave = 1;
  for (int i = 0; i < 4; ++i) {
    if (p[i] == 0) {
      if (q[i] < 0) return false;
      continue;
    }
    const double t = q[i] / p[i];
    if (p[i] < 0)
      enter = std::max(enter, t);
    else
      leave = std::min(leave, t);
  }
  return enter <= leave;
}

}  // namespace

Curve make_curve(const Series& series, const CurveOptions& options) {
  Curve curve;
  grow_curve(curve, series, options);
  return curve;
}

// Smoothing starts anew with a segment, and runs on over non-finite samples within one.
void grow_curve(Curve& curve, const Series& series, const CurveOptions& options) {
  const bool smoothed = options.smoothing > 0 && series.style.smooth;
  const Smoother fresh(smoothed ? options.smoothing : 0);
  CurveProgress& progress = curve.progress;
  const std::size_t first_stretch = curve.stretches.empty() ? 0 : curve.stretches.size() - 1;
  for (const std::size_t end = std::min(series.x.size(), series.y.size()); progress.taken < end; ++progress.taken) {
    const std::size_t i = progress.taken;
    const bool starts = starts_segment(series, i, progress);
    if (i == 0 || starts) progress.smoother = fresh;
    if (starts) progress.broken = true;
    const double x = series.x[i];
    const double y = progress.smoother.next(series.y[i]);
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++curve.non_finite;
      if (std::isfinite(x) && (!options.log_x || x > 0)) curve.bad_x.push_back(x);
      progress.broken = true;
    } else if ((options.log_x && x <= 0) || (options.log_y && (y <= 0 || series.y[i] <= 0))) {
      ++curve.hidden;
      progress.broken = true;
    } else {
      add_point(curve, x, y, series.y[i], smoothed);
    }
  }
  for (std::size_t i = first_stretch; i < curve.stretches.size(); ++i) {
    curve.stretches[i].y_blocks.extend(curve.stretches[i].y);
    curve.stretches[i].raw_blocks.extend(curve.stretches[i].raw);
  }
}

bool x_extent(const std::vector<Curve>& curves, Range& extent) {
  bool found = false;
  const auto widen = [&](double value) {
    extent = found ? Range{std::min(extent.low, value), std::max(extent.high, value)} : Range{value, value};
    found = true;
  };
  for (const Curve& curve : curves) {
    for (const Stretch& stretch : curve.stretches) {
      widen(stretch.x.front());
      widen(stretch.x.back());
    }
  }
  return found;
}

namespace {

/// All values, for what a share of them decides.
std::vector<double> all_values(const std::vector<Curve>& curves) {
  std::vector<double> values;
  for (const Curve& curve : curves) {
    for (const Stretch& stretch : curve.stretches) {
      values.insert(values.end(), stretch.y.begin(), stretch.y.end());
      values.insert(values.end(), stretch.raw.begin(), stretch.raw.end());
    }
  }
  return values;
}

}  // namespace

bool y_extent(const std::vector<Curve>& curves, bool outliers_out, Range& extent) {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -lowest;
  for (const Curve& curve : curves) {
    lowest = std::min(lowest, curve.low);
    highest = std::max(highest, curve.high);
  }
  if (lowest > highest) return false;
  extent = {lowest, highest};
  if (!outliers_out) return true;
  std::vector<double> values = all_values(curves);
  if (values.size() < 20) return true;
  const auto share = static_cast<long>(values.size() / 50);
  const auto low = values.begin() + share;
  const auto high = values.end() - 1 - share;
  std::nth_element(values.begin(), low, values.end());
  extent.low = *low;
  std::nth_element(values.begin(), high, values.end());
  extent.high = *high;
  return true;
}

Range padded(Range extent, bool log, double margin) {
  const double low = place(extent.low, log);
  const double high = place(extent.high, log);
  const double width = high - low;
  const double smallest = 1e-9 * std::max(std::abs(low), std::abs(high));
  if (width > smallest) return {value_at(low - margin * width, log), value_at(high + margin * width, log)};
  if (log) return {extent.low / 2, extent.high * 2};
  const double room = extent.low == 0 ? 1.0 : 0.1 * std::abs(extent.low);
  return {extent.low - room, extent.high + room};
}

Polyline clip(const Polyline& line, const Range& x, const Range& y, bool log_x, bool log_y) {
  const Box box = {place(x.low, log_x), place(x.high, log_x), place(y.low, log_y), place(y.high, log_y)};
  Polyline out;
  const auto add = [&](double px, double py) {
    out.x.push_back(std::clamp(value_at(px, log_x), x.low, x.high));
    out.y.push_back(std::clamp(value_at(py, log_y), y.low, y.high));
  };
  bool connected = false;  // the last point added is where the next piece starts
  for (std::size_t i = 0; i + 1 < line.x.size(); ++i) {
    const double ax = place(line.x[i], log_x), ay = place(line.y[i], log_y);
    const double bx = place(line.x[i + 1], log_x), by = place(line.y[i + 1], log_y);
    double enter = 0;
    double leave = 1;
    if (!clip_segment(box, ax, ay, bx, by, enter, leave)) {
      connected = false;
      continue;
    }
    if (!connected || enter > 0) {
      if (!out.x.empty()) {
        out.x.push_back(kNaN);
        out.y.push_back(kNaN);
      }
      add(ax + enter * (bx - ax), ay + enter * (by - ay));
    }
    add(ax + leave * (bx - ax), ay + leave * (by - ay));
    connected = leave >= 1;
  }
  return out;
}

}  // namespace widgets
