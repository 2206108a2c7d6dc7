// From a series as measured to what may be drawn: non-finite samples out and marked, values a log axis cannot show out
// and counted, new segments where the line starts anew, lone points as dots. Without Qt, so that every trap is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "widgets/decimation.h"
#include "widgets/series.h"
#include "widgets/smoothing.h"

namespace widgets {

struct Range {
  double low = 0;
  double high = 1;

  [[nodiscard]] bool contains(double value) const { return value >= low && value <= high; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// A connected stretch; x ascending, all finite and, on log axes, positive.
struct Stretch {
  std::vector<double> x;
  std::vector<double> y;    ///< smoothed
  std::vector<double> raw;  ///< as measured; empty when nothing was smoothed
  BlockExtremes y_blocks, raw_blocks;
};

/// How far a series has been taken in, and what its next point needs to know of those before.
struct CurveProgress {
  std::size_t taken = 0;
  std::size_t next_break = 0;
  double last_x = -std::numeric_limits<double>::infinity();
  bool broken = true;  ///< the next point starts a stretch
  Smoother smoother;
};

struct Curve {
  std::vector<Stretch> stretches;
  std::vector<double> bad_x;  ///< where a sample was not finite (and x was)
  std::int64_t non_finite = 0;
  std::int64_t hidden = 0;                               ///< finite samples that a log axis cannot show
  double low = std::numeric_limits<double>::infinity();  ///< of all y and raw
  double high = -std::numeric_limits<double>::infinity();
  CurveProgress progress;
};

struct CurveOptions {
  double smoothing = 0;  ///< 0..0.999
  bool log_x = false;
  bool log_y = false;
};

Curve make_curve(const Series& series, const CurveOptions& options);
/// Takes in the points that the series got since; the result is that of make_curve. The series must only have grown,
/// and the options must be the same.
void grow_curve(Curve& curve, const Series& series, const CurveOptions& options);

/// Smallest and largest value over all curves, raw values included; `outliers_out` leaves out the 2 % at either end.
/// Nothing to show: false.
bool x_extent(const std::vector<Curve>& curves, Range& extent);
bool y_extent(const std::vector<Curve>& curves, bool outliers_out, Range& extent);
/// A range with room at both ends (`margin` as a share); a single value gets the same room every time.
Range padded(Range extent, bool log, double margin);

/// The part of a polyline within the ranges, cut at their edges; a gap between parts is a NaN in both x and y.
Polyline clip(const Polyline& line, const Range& x, const Range& y, bool log_x, bool log_y);

}  // namespace widgets
