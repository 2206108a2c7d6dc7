#include "widgets/plot_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "widgets/smoothing.h"

namespace widgets {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Collects points and starts a new stretch on request.
class StretchBuilder {
 public:
  StretchBuilder(Curve& curve, bool with_raw) : curve_(curve), with_raw_(with_raw) {}
  void add(double x, double y, double raw) {
    if (broken_) curve_.stretches.emplace_back();
    broken_ = false;
    Stretch& stretch = curve_.stretches.back();
    stretch.x.push_back(x);
    stretch.y.push_back(y);
    if (with_raw_) stretch.raw.push_back(raw);
  }
  void cut() { broken_ = true; }

 private:
  Curve& curve_;
  bool with_raw_;
  bool broken_ = true;
};

// Smoothing starts anew with a segment, and runs on over non-finite samples within one.
std::vector<double> smooth_segments(const Series& series, const std::vector<std::size_t>& starts, double factor) {
  std::vector<double> result;
  result.reserve(series.y.size());
  for (std::size_t s = 0; s < starts.size(); ++s) {
    const std::size_t end = s + 1 < starts.size() ? starts[s + 1] : series.y.size();
    const std::vector<double> part(series.y.begin() + static_cast<long>(starts[s]),
                                   series.y.begin() + static_cast<long>(end));
    const std::vector<double> smoothed = smooth(part, factor);
    result.insert(result.end(), smoothed.begin(), smoothed.end());
  }
  return result;
}

// A given break, or a step back in x: what was resumed is a line of its own.
std::vector<std::size_t> segment_starts(const Series& series) {
  std::vector<std::size_t> starts = {0};
  double last = -std::numeric_limits<double>::infinity();
  std::size_t next_break = 0;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    while (next_break < series.breaks.size() && series.breaks[next_break] < i) ++next_break;
    const bool given = next_break < series.breaks.size() && series.breaks[next_break] == i;
    if (i > 0 && (given || series.x[i] < last)) starts.push_back(i);
    if (std::isfinite(series.x[i])) last = series.x[i];
  }
  return starts;
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
  const std::vector<std::size_t> starts = segment_starts(series);
  const bool smoothed = options.smoothing > 0 && series.style.smooth;
  const std::vector<double> values = smoothed ? smooth_segments(series, starts, options.smoothing) : series.y;
  StretchBuilder builder(curve, smoothed);
  std::size_t next_start = 1;
  for (std::size_t i = 0; i < std::min(series.x.size(), values.size()); ++i) {
    if (next_start < starts.size() && starts[next_start] == i) {
      builder.cut();
      ++next_start;
    }
    const double x = series.x[i];
    const double y = values[i];
    if (!std::isfinite(x) || !std::isfinite(y)) {
      ++curve.non_finite;
      if (std::isfinite(x) && (!options.log_x || x > 0)) curve.bad_x.push_back(x);
      builder.cut();
    } else if ((options.log_x && x <= 0) || (options.log_y && (y <= 0 || series.y[i] <= 0))) {
      ++curve.hidden;
      builder.cut();
    } else {
      builder.add(x, y, series.y[i]);
    }
  }
  return curve;
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

bool y_extent(const std::vector<Curve>& curves, bool outliers_out, Range& extent) {
  std::vector<double> values;
  for (const Curve& curve : curves) {
    for (const Stretch& stretch : curve.stretches) {
      values.insert(values.end(), stretch.y.begin(), stretch.y.end());
      values.insert(values.end(), stretch.raw.begin(), stretch.raw.end());
    }
  }
  if (values.empty()) return false;
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  extent = {*lowest, *highest};
  if (!outliers_out || values.size() < 20) return true;
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
