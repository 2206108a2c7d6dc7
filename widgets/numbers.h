// Numbers as text, always in the C locale, and drawn with figures of equal width.
#pragma once

#include <QFont>
#include <QPainter>
#include <QString>
#include <cstdint>

namespace widgets {

/// At most `digits` significant digits, without trailing zeros: 0.301, 3.02e-05, "–" for NaN, "∞" for infinity.
QString short_number(double value, int digits = 3);
/// Shortest text that reads back as the same double; "NaN", "Infinity", "-Infinity" otherwise. For files.
QString exact_number(double value);
/// 950, 31,400, 3.02 M, 1.20 G.
QString count_text(std::int64_t value);
/// 0.8 s, 12 s, 1 min 12 s, 3 h 05 min.
QString duration_text(double seconds);
/// 218 MiB, 1.4 GiB.
QString bytes_text(std::int64_t bytes);

/// Qt 6.4 cannot ask a font for its tabular figures, so digits are laid on cells of the widest digit.
double tabular_width(const QFont& font, const QString& text);
/// Draws within `area`, vertically centred; `alignment` is left or right.
void draw_tabular(QPainter& painter, const QRectF& area, Qt::Alignment alignment, const QString& text);

}  // namespace widgets
