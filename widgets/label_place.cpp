#include "widgets/label_place.h"

#include <algorithm>

namespace widgets {
namespace {

bool crosses(QPointF from, QPointF to, const QRectF& area) {
  if (from.x() > to.x()) std::swap(from, to);
  const double left = std::max(from.x(), area.left());
  const double right = std::min(to.x(), area.right());
  if (left > right) return false;
  const double width = to.x() - from.x();
  // A vertical piece has all its heights at one x.
  const double slope = width > 0 ? (to.y() - from.y()) / width : 0;
  const double first = width > 0 ? from.y() + slope * (left - from.x()) : from.y();
  const double last = width > 0 ? from.y() + slope * (right - from.x()) : to.y();
  return std::min(first, last) <= area.bottom() && std::max(first, last) >= area.top();
}

}  // namespace

bool crosses(const QPolygonF& line, const QRectF& area) {
  if (line.size() == 1) return area.contains(line.front());
  for (qsizetype i = 1; i < line.size(); ++i) {
    if (crosses(line[i - 1], line[i], area)) return true;
  }
  return false;
}

QRectF free_place(const std::vector<QRectF>& places, const std::vector<QPolygonF>& lines,
                  const std::vector<QRectF>& taken) {
  const auto covered = [&](const QRectF& place) {
    return std::count_if(lines.begin(), lines.end(), [&](const QPolygonF& line) { return crosses(line, place); }) +
           std::count_if(taken.begin(), taken.end(), [&](const QRectF& other) { return other.intersects(place); });
  };
  const auto fewer = [&](const QRectF& a, const QRectF& b) { return covered(a) < covered(b); };
  return *std::min_element(places.begin(), places.end(), fewer);
}

}  // namespace widgets
