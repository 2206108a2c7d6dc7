// What the Stability page measures on a run, and the curves it draws of it. No widgets but their value types.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/analysis_worker.h"
#include "engine/stability_verdict.h"
#include "widgets/heatmap.h"
#include "widgets/plot.h"
#include "widgets/series.h"

namespace app {

struct StabilityRequest {
  int passes = 30;  ///< feedback passes
  std::int64_t rows = 64;
  std::int64_t repeats = 1;  ///< each on held-out rows of its own
};

struct StabilityResult {
  std::string key;
  std::string name;
  std::int64_t step = 0;
  int color = 0;           ///< index into the run colours
  int trained_passes = 1;  ///< the most that the run was trained with; what lies beyond never was
  int late_start = 0;      ///< s of engine/stability.h
  std::int64_t repeats = 1;
  engine::StabilityCurves curves;     ///< over all rows of all repeats
  std::vector<double> loss_spread;    ///< over repeats, empty for one
  std::vector<double> update_spread;  ///< of the movable positions, over repeats, empty for one
  engine::StabilityVerdict verdict;
};

/// Held-out rows, the first of the run's validation. Throws the engine's errors.
StabilityResult measure_stability_of(AnalysisModel& model, const StabilityRequest& request,
                                     const AnalysisControl& control);

using StabilityResults = std::vector<StabilityResult>;
/// Mean loss after each number of feedback passes. A log axis has no place for 0, which is Standard's.
std::vector<widgets::Series> loss_curves(const StabilityResults& results, bool log_x);
/// Movable positions alone (solid) and all blended (dashed).
std::vector<widgets::Series> update_curves(const StabilityResults& results);
/// Loss on the exact positions beside Standard's on the same ones.
std::vector<widgets::Series> exact_curves(const StabilityResults& results, bool log_x);
/// Of the first result: the passes it was trained with, and those in which nothing can move any more.
std::vector<widgets::Region> pass_regions(const StabilityResult& result, bool log_x);

/// Rows are feedback passes from 1, columns positions of a document from 0. What is exact already moves by exactly 0.
widgets::Matrix update_matrix(const StabilityResult& result);
/// Position t can move up to pass t + s.
widgets::MatrixLine wavefront(const StabilityResult& result);

}  // namespace app
