#include "widgets/decimation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace widgets {
namespace {

/// First smallest and first largest value of the points looked at so far.
struct Extremes {
  explicit Extremes(const std::vector<double>& values, std::size_t first)
      : y(values), lowest(first), highest(first), low(values[first]), high(values[first]) {}

  void look(std::size_t i) {
    if (y[i] < low) low = y[lowest = i];
    if (y[i] > high) high = y[highest = i];
  }
  void look(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) look(i);
  }

  const std::vector<double>& y;
  std::size_t lowest, highest;
  double low, high;
};

// Whole blocks by what is known of them, the rest point by point.
Extremes extremes(const std::vector<double>& y, std::size_t begin, std::size_t end, const BlockExtremes& blocks) {
  constexpr std::size_t kBlock = BlockExtremes::kBlock;
  Extremes found(y, begin);
  const std::size_t first = (begin + kBlock - 1) / kBlock;
  const std::size_t last = std::min(end / kBlock, blocks.size());
  if (last <= first) {
    found.look(begin, end);
    return found;
  }
  found.look(begin, first * kBlock);
  for (std::size_t block = first; block < last; ++block) {
    found.look(blocks.lowest(block));
    found.look(blocks.highest(block));
  }
  found.look(last * kBlock, end);
  return found;
}

// Adds the up to four points that stand for [begin, end), in their order and each once.
void add_column(const std::vector<double>& x, const Extremes& found, std::size_t begin, std::size_t end,
                Polyline& out) {
  const std::array<std::size_t, 4> kept = {begin, std::min(found.lowest, found.highest),
                                           std::max(found.lowest, found.highest), end - 1};
  std::size_t last = end;
  for (const std::size_t i : kept) {
    if (i == last) continue;
    out.x.push_back(x[i]);
    out.y.push_back(found.y[i]);
    last = i;
  }
}

/// First index after `begin` whose x is not below `edge`; looks near `begin` first.
std::size_t column_end(const std::vector<double>& x, std::size_t begin, std::size_t end, double edge) {
  std::size_t step = 1;
  while (begin + step < end && x[begin + step] < edge) step *= 2;
  const auto from = x.begin() + static_cast<long>(begin + step / 2 + (step == 1 ? 1 : 0));
  const auto to = x.begin() + static_cast<long>(std::min(begin + step, end));
  return static_cast<std::size_t>(std::lower_bound(from, to, edge) - x.begin());
}

}  // namespace

void BlockExtremes::extend(const std::vector<double>& y) {
  while ((size() + 1) * kBlock <= y.size()) {
    const std::size_t begin = size() * kBlock;
    Extremes found(y, begin);
    found.look(begin, begin + kBlock);
    lowest_.push_back(found.lowest);
    highest_.push_back(found.highest);
  }
}

Polyline decimate(const std::vector<double>& x, const std::vector<double>& y, double x_low, double x_high,
                  std::size_t columns, bool log_x, const BlockExtremes& blocks) {
  Polyline out;
  auto begin = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), x_low) - x.begin());
  auto end = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), x_high) - x.begin());
  if (begin > 0) --begin;
  if (end < x.size()) ++end;
  if (end <= begin) return out;
  const double low = log_x ? std::log(x_low) : x_low;
  const double column_width = ((log_x ? std::log(x_high) : x_high) - low) / static_cast<double>(columns);
  if (end - begin <= 2 * columns || !(column_width > 0)) {
    out.x.assign(x.begin() + static_cast<long>(begin), x.begin() + static_cast<long>(end));
    out.y.assign(y.begin() + static_cast<long>(begin), y.begin() + static_cast<long>(end));
    return out;
  }
  out.x.reserve(4 * (columns + 2));
  out.y.reserve(4 * (columns + 2));
  for (std::size_t i = begin; i < end;) {
    const double column = std::floor(((log_x ? std::log(x[i]) : x[i]) - low) / column_width);
    const double edge = low + (column + 1) * column_width;
    const std::size_t next = column_end(x, i, end, log_x ? std::exp(edge) : edge);
    add_column(x, extremes(y, i, next, blocks), i, next, out);
    i = next;
  }
  return out;
}

}  // namespace widgets
