// What a plot draws, as values without Qt: points, what they mean, and where a line starts anew.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace widgets {

/// The meaning of a curve; each has one colour and one form everywhere.
enum class Role { neutral, accent, standard, soft, fused, pass, run };

struct SeriesStyle {
  Role role = Role::accent;
  int pass = 1;          ///< Role::pass: which; Role::run: gives the dashes, so that passes of several runs stay apart
  int run = 0;           ///< Role::run: index into the run colours
  bool markers = false;  ///< a dot at every point
  bool line = true;
  bool filled = false;  ///< a light tint down to 0: the bars of a histogram
  bool smooth = true;   ///< the plot's smoothing applies; off for what is already a mean or a schedule

  friend bool operator==(const SeriesStyle&, const SeriesStyle&) = default;
};

/// How `low` and `high` are shown.
enum class Spread { none, band, bars };

struct Series {
  std::string label;  ///< UTF-8, shown in the legend and in exports
  SeriesStyle style;
  std::vector<double> x;          ///< ascending within a segment; a step back starts a new segment by itself
  std::vector<double> y;          ///< same length as x; non-finite values break the line and are counted
  std::vector<double> low, high;  ///< empty, or same length as x
  Spread spread = Spread::none;
  std::vector<std::size_t> breaks;  ///< indices at which a new segment starts (a resumed run)
};

}  // namespace widgets
