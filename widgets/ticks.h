// Where an axis has ticks and how they read: few, round, in the C locale.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "widgets/plot_curve.h"

namespace widgets {

struct Ticks {
  std::vector<double> at;
  std::vector<QString> text;
  int exponent = 0;  ///< the texts are to be read times 10^exponent; 0: as they are
};

/// About `wanted` ticks within the range. Linear: steps of 1, 2 or 5, where that leaves a lone tick half of it; common
/// powers of ten are taken out. Log: powers of ten, or 1-2-5 or doublings when the range is short.
Ticks make_ticks(const Range& range, bool log, int wanted);
/// "×10⁻³"
QString power_of_ten(int exponent);

}  // namespace widgets
