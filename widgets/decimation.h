// Fewer points for a screen of limited width, without losing a spike.
#pragma once

#include <cstddef>
#include <vector>

namespace widgets {

struct Polyline {
  std::vector<double> x, y;
};

/// Where the extremes of a long line's blocks are, so that a wide column need not look at all of its points. Grows with
/// the line.
class BlockExtremes {
 public:
  static constexpr std::size_t kBlock = 32;  ///< points a block

  /// Takes in the blocks that are full and new; what was taken in must not have changed.
  void extend(const std::vector<double>& y);
  /// Full blocks taken in.
  [[nodiscard]] std::size_t size() const { return lowest_.size(); }
  /// Index into the line of the first smallest and the first largest value of a block.
  [[nodiscard]] std::size_t lowest(std::size_t block) const { return lowest_[block]; }
  [[nodiscard]] std::size_t highest(std::size_t block) const { return highest_[block]; }

 private:
  std::vector<std::size_t> lowest_, highest_;
};

/// Keeps first, smallest, largest and last point of every pixel column, in their order. `columns` over [x_low, x_high];
/// points outside are left out but for one neighbour on either side, so that lines still cross the edge. x must be
/// ascending, y finite. With `log_x`, columns are of equal width in log x (x > 0 then). With the blocks of `y` the time
/// goes with the columns more than with the points; the result is the same.
Polyline decimate(const std::vector<double>& x, const std::vector<double>& y, double x_low, double x_high,
                  std::size_t columns, bool log_x = false, const BlockExtremes& blocks = {});

}  // namespace widgets
