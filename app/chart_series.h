// From measured values to the curves of the Training page. Knows the meaning of the values and no plot.
#pragma once

#include <cstddef>
#include <vector>

#include "app/run_data.h"
#include "app/view_state.h"
#include "widgets/series.h"

namespace app {

/// One chart's worth of curves for the runs shown. With one run passes have their own colours; with several each run
/// has its colour and passes its dashes. `runs` and `colors` (index into the run colours) have the same length.
struct ChartInput {
  std::vector<const RunData*> runs;
  std::vector<int> colors;
  XAxis x = XAxis::step;
  /// Steps of each run that are left out at its beginning; empty: none. Curves without a point are then left out, too.
  std::vector<std::size_t> from = {};
};

std::vector<widgets::Series> loss_series(const ChartInput& input);
/// With bands of one standard error.
std::vector<widgets::Series> validation_series(const ChartInput& input);
std::vector<widgets::Series> rate_series(const ChartInput& input);
std::vector<widgets::Series> gradient_series(const ChartInput& input);
std::vector<widgets::Series> speed_series(const ChartInput& input);

}  // namespace app
