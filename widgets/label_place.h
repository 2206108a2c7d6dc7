// Where a label may stand in a plot without lying on a curve or on another label.
#pragma once

#include <QPolygonF>
#include <QRectF>
#include <vector>

namespace widgets {

/// Whether any piece of the polyline comes into the rectangle.
bool crosses(const QPolygonF& line, const QRectF& area);

/// The place that the fewest lines cross and the fewest of `taken` overlap; of several, the first. `places` is not
/// empty.
QRectF free_place(const std::vector<QRectF>& places, const std::vector<QPolygonF>& lines,
                  const std::vector<QRectF>& taken);

}  // namespace widgets
