#include "widgets/ticks.h"

#include <algorithm>
#include <cmath>

#include "widgets/numbers.h"

namespace widgets {
namespace {

QString superscript(int number) {
  static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
  QString text;
  for (const QChar character : QString::number(number)) {
    text += character == QLatin1Char('-') ? QChar(0x207B) : digits[character.digitValue()];
  }
  return text;
}

double round_step(double rough) {
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double best = power;
  for (const double step : {2.0, 5.0, 10.0}) {
    if (std::abs(std::log(step * power / rough)) < std::abs(std::log(best / rough))) best = step * power;
  }
  return best;
}

int common_exponent(double largest) {
  if (largest == 0 || !std::isfinite(largest)) return 0;
  const int exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
  return exponent >= 6 || exponent <= -3 ? exponent : 0;
}

// As many as the step has: 1 for 0.5, 2 for 0.25.
int decimals_of(double step) {
  int decimals = 0;
  for (; decimals < 12; ++decimals, step *= 10) {
    if (step > 0.5 && std::abs(step - std::round(step)) < 1e-6) break;
  }
  return decimals;
}

Ticks linear_ticks(const Range& range, int wanted) {
  Ticks ticks;
  double step = round_step((range.high - range.low) / std::max(1, wanted));
  const bool lone = std::floor(range.high / step) <= std::ceil(range.low / step);
  if (lone && wanted > 1) step /= 2;  // one tick alone gives no scale
  const double first = std::ceil(range.low / step - 1e-9);
  for (int i = 0; (first + i) * step <= range.high + 1e-9 * step && i < 100; ++i)
    ticks.at.push_back((first + i) * step);
  double largest = 0;
  for (const double at : ticks.at) largest = std::max(largest, std::abs(at));
  ticks.exponent = common_exponent(largest);
  const double scale = std::pow(10.0, ticks.exponent);
  const int decimals = decimals_of(step / scale);
  for (const double at : ticks.at) ticks.text.push_back(QString::number(at / scale + 0.0, 'f', decimals));
  return ticks;
}

QString log_text(double value) {
  const int exponent = static_cast<int>(std::floor(std::log10(value) + 1e-9));
  if (exponent > -3 && exponent < 5) return QString::number(value, 'g', 6);
  const double mantissa = value / std::pow(10.0, exponent);
  const QString power = QStringLiteral("10") + superscript(exponent);
  return std::abs(mantissa - 1) < 1e-6 ? power : QString::number(mantissa, 'g', 3) + QStringLiteral("·") + power;
}

// Values m·10^e within the range, for the given mantissas and every `stride`-th power.
std::vector<double> decade_ticks(const Range& range, const std::vector<double>& mantissas, int stride) {
  std::vector<double> at;
  const int first = static_cast<int>(std::floor(std::log10(range.low))) - 1;
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (int exponent = first; exponent <= last; ++exponent) {
    if (stride > 1 && ((exponent % stride) + stride) % stride != 0) continue;
    for (const double mantissa : mantissas) {
      const double value = mantissa * std::pow(10.0, exponent);
      if (range.contains(value)) at.push_back(value);
    }
  }
  return at;
}

// 0.1, 0.2, 0.4, ... or 1, 2, 4, ...: evenly spaced on a log axis. Counts begin at about 1 and stay whole.
std::vector<double> doublings(const Range& range) {
  std::vector<double> at;
  const double start = range.low > 0.5 && range.low <= 1 ? 1 : std::pow(10.0, std::floor(std::log10(range.low)));
  for (double value = start; value <= range.high; value *= 2) {
    if (range.contains(value)) at.push_back(value);
  }
  return at;
}

// From dense to sparse, as the length of the range asks for.
std::vector<std::vector<double>> log_choices(const Range& range, double decades) {
  std::vector<std::vector<double>> choices;
  if (decades < 0.6) choices.push_back(decade_ticks(range, {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8}, 1));
  if (decades < 1.6) choices.push_back(doublings(range));
  if (decades >= 1.6) choices.push_back(decade_ticks(range, {1, 2, 5}, 1));
  choices.push_back(decade_ticks(range, {1, 3}, 1));
  choices.push_back(decade_ticks(range, {1}, 1));
  return choices;
}

// Texts of neighbours must not touch where `wanted` ticks just fill the axis.
bool has_room(const std::vector<double>& at, double decades, int wanted) {
  constexpr double kLeast = 0.55;  // of the distance of wanted ticks
  for (std::size_t i = 1; i < at.size(); ++i) {
    if (std::log10(at[i] / at[i - 1]) * wanted < kLeast * decades) return false;
  }
  return at.size() >= 2;
}

std::vector<double> log_places(const Range& range, double decades, int wanted) {
  if (decades >= 2.5) {
    return decade_ticks(range, {1}, std::max(1, static_cast<int>(std::ceil(decades / std::max(2, wanted)))));
  }
  const std::vector<std::vector<double>> choices = log_choices(range, decades);
  for (const std::vector<double>& at : choices) {
    if (has_room(at, decades, wanted)) return at;
  }
  const std::vector<double>& dense = choices.front();
  if (dense.size() < 2) return dense;
  return {dense.front(), dense.back()};
}

Ticks log_ticks(const Range& range, int wanted) {
  const double decades = std::log10(range.high / range.low);
  Ticks ticks;
  ticks.at = decades < 0.35 ? linear_ticks(range, wanted).at : log_places(range, decades, wanted);
  for (const double at : ticks.at) ticks.text.push_back(log_text(at));
  return ticks;
}

}  // namespace

QString power_of_ten(int exponent) { return QStringLiteral("×10") + superscript(exponent); }

Ticks make_ticks(const Range& range, bool log, int wanted) {
  if (!(range.high > range.low) || !std::isfinite(range.low) || !std::isfinite(range.high)) return {};
  return log && range.low > 0 ? log_ticks(range, wanted) : linear_ticks(range, wanted);
}

}  // namespace widgets
