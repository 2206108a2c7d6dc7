// Curves of several runs in one chart: each run has its colour, and what it has several of is told apart by dashes.
#pragma once

#include <string>
#include <vector>

#include "widgets/series.h"

namespace app {

struct RunCurves {
  std::string name;
  int color = 0;  ///< index into the run colours
  std::vector<widgets::Series> curves;
};

/// One run keeps the colours of meaning; of several, the n-th curve of each has the same dashes.
std::vector<widgets::Series> overlay(const std::vector<RunCurves>& runs);

}  // namespace app
