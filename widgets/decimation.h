// Fewer points for a screen of limited width, without losing a spike.
#pragma once

#include <cstddef>
#include <vector>

namespace widgets {

struct Polyline {
  std::vector<double> x, y;
};

/// Keeps first, smallest, largest and last point of every pixel column, in their order. `columns` over [x_low, x_high];
/// points outside are left out but for one neighbour on either side, so that lines still cross the edge. x must be
/// ascending, y finite. With `log_x`, columns are of equal width in log x (x > 0 then).
Polyline decimate(const std::vector<double>& x, const std::vector<double>& y, double x_low, double x_high,
                  std::size_t columns, bool log_x = false);

}  // namespace widgets
