#include "widgets/decimation.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace widgets {
namespace {

// Adds the up to four points that stand for [begin, end), in their order and each once.
void add_column(const std::vector<double>& x, const std::vector<double>& y, std::size_t begin, std::size_t end,
                Polyline& out) {
  std::size_t lowest = begin;
  std::size_t highest = begin;
  for (std::size_t i = begin; i < end; ++i) {
    if (y[i] < y[lowest]) lowest = i;
    if (y[i] > y[highest]) highest = i;
  }
  const std::array<std::size_t, 4> kept = {begin, std::min(lowest, highest), std::max(lowest, highest), end - 1};
  std::size_t last = end;
  for (const std::size_t i : kept) {
    if (i == last) continue;
    out.x.push_back(x[i]);
    out.y.push_back(y[i]);
    last = i;
  }
}

}  // namespace

Polyline decimate(const std::vector<double>& x, const std::vector<double>& y, double x_low, double x_high,
                  std::size_t columns, bool log_x) {
  Polyline out;
  auto begin = static_cast<std::size_t>(std::lower_bound(x.begin(), x.end(), x_low) - x.begin());
  auto end = static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), x_high) - x.begin());
  if (begin > 0) --begin;
  if (end < x.size()) ++end;
  if (end <= begin) return out;
  const auto place = [log_x](double value) { return log_x ? std::log(value) : value; };
  const double low = place(x_low);
  const double width = place(x_high) - low;
  const auto column_of = [&](std::size_t i) {
    return static_cast<long>(std::floor((place(x[i]) - low) / width * static_cast<double>(columns)));
  };
  if (end - begin <= 2 * columns || !(width > 0)) {
    out.x.assign(x.begin() + static_cast<long>(begin), x.begin() + static_cast<long>(end));
    out.y.assign(y.begin() + static_cast<long>(begin), y.begin() + static_cast<long>(end));
    return out;
  }
  for (std::size_t i = begin; i < end;) {
    const long column = column_of(i);
    std::size_t next = i + 1;
    while (next < end && column_of(next) == column) ++next;
    add_column(x, y, i, next, out);
    i = next;
  }
  return out;
}

}  // namespace widgets
