// The curves of a finding as figures: one SVG and PDF a curve, drawn from the curves.csv that `fullband-cli reproduce`
// writes, without a display.
#pragma once

#include <QByteArray>
#include <QString>
#include <vector>

#include "widgets/series.h"

namespace app {

/// One curve over all variants: means, with a band from the smallest to the largest seed.
struct FindingFigure {
  QString title;
  QString x_axis;
  QString y_axis;
  bool log_y = false;
  std::vector<widgets::Series> series;  ///< one a variant
};

/// Reads the table in the order of its rows; FormatError names the line that cannot be read. `file` is its name.
std::vector<FindingFigure> read_finding_figures(const QByteArray& csv, const QString& file);

/// Writes <curve>.svg and <curve>.pdf beside the table and returns their names; FileError / FormatError.
std::vector<QString> write_finding_figures(const QString& folder);

}  // namespace app
