#include "widgets/numbers.h"

#include <QFontMetricsF>
#include <QLocale>
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace widgets {
namespace {

double digit_width(const QFontMetricsF& metrics) {
  double widest = 0;
  for (char digit = '0'; digit <= '9'; ++digit)
    widest = std::max(widest, metrics.horizontalAdvance(QLatin1Char(digit)));
  return widest;
}

double cell_width(const QFontMetricsF& metrics, double digit, QChar character) {
  return character.isDigit() ? digit : metrics.horizontalAdvance(character);
}

QString fixed(double value, int decimals) { return QLocale::c().toString(value, 'f', decimals); }

}  // namespace

QString short_number(double value, int digits) {
  if (std::isnan(value)) return QStringLiteral("–");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("∞") : QStringLiteral("-∞");
  return QString::number(value, 'g', digits);
}

QString exact_number(double value) {
  if (std::isnan(value)) return QStringLiteral("NaN");
  if (std::isinf(value)) return value > 0 ? QStringLiteral("Infinity") : QStringLiteral("-Infinity");
  std::array<char, 40> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return QString::fromLatin1(buffer.data(), end - buffer.data());
}

QString count_text(std::int64_t value) {
  const auto size = std::abs(static_cast<double>(value));
  if (size >= 999.5e6) return fixed(static_cast<double>(value) / 1e9, 2) + QStringLiteral(" G");
  if (size >= 999.5e3) return fixed(static_cast<double>(value) / 1e6, 2) + QStringLiteral(" M");
  return QLocale(QLocale::English, QLocale::UnitedStates).toString(static_cast<qlonglong>(value));
}

QString duration_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return QStringLiteral("–");
  if (seconds < 9.95) return fixed(seconds, 1) + QStringLiteral(" s");
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return QStringLiteral("%1 s").arg(whole);
  if (whole < 3600) return QStringLiteral("%1 min %2 s").arg(whole / 60).arg(whole % 60, 2, 10, QLatin1Char('0'));
  return QStringLiteral("%1 h %2 min").arg(whole / 3600).arg(whole / 60 % 60, 2, 10, QLatin1Char('0'));
}

QString bytes_text(std::int64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1024.0 * 1024.0);
  if (mebibytes >= 1024) return fixed(mebibytes / 1024, 1) + QStringLiteral(" GiB");
  if (mebibytes >= 10) return fixed(mebibytes, 0) + QStringLiteral(" MiB");
  if (mebibytes >= 0.1) return fixed(mebibytes, 1) + QStringLiteral(" MiB");
  return QStringLiteral("%1 KiB").arg((bytes + 1023) / 1024);
}

double tabular_width(const QFont& font, const QString& text) {
  const QFontMetricsF metrics(font);
  const double digit = digit_width(metrics);
  double width = 0;
  for (const QChar character : text) width += cell_width(metrics, digit, character);
  return width;
}

void draw_tabular(QPainter& painter, const QRectF& area, Qt::Alignment alignment, const QString& text) {
  const QFontMetricsF metrics(painter.font(), painter.device());
  const double digit = digit_width(metrics);
  double x = area.left();
  if (alignment & Qt::AlignRight) x = area.right() - tabular_width(painter.font(), text);
  const double y = area.center().y() + (metrics.ascent() - metrics.descent()) / 2;
  for (const QChar character : text) {
    const double cell = cell_width(metrics, digit, character);
    painter.drawText(QPointF(x + (cell - metrics.horizontalAdvance(character)) / 2, y), QString(character));
    x += cell;
  }
}

}  // namespace widgets
