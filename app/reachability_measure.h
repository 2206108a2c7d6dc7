// What the Reachability page measures on a run: how much every state of a held-out prompt moves a chosen one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/analysis_worker.h"
#include "engine/influence.h"
#include "widgets/heatmap.h"

namespace app {

struct ReachRequest {
  engine::DecodeMode mode = engine::DecodeMode::soft;
  std::optional<engine::Cell> cell;  ///< nothing: one in the middle of the last positions
};

struct ReachResult {
  std::string name;  ///< of the run
  std::int64_t step = 0;
  engine::DecodeMode mode = engine::DecodeMode::soft;
  engine::Cell cell;
  bool late_start = false;  ///< of the staircase, engine/reachability.h
  std::string prompt;       ///< as text
  engine::InfluenceMap map;
};

/// On the first held-out prompt of the run's first task, or the beginning of its first held-out row. Throws the
/// engine's errors.
ReachResult measure_reach(AnalysisModel& model, const ReachRequest& request, const AnalysisControl& control);

/// Columns are positions, rows depths. What is computed after the cell is empty.
widgets::Matrix influence_matrix(const ReachResult& result);
/// Cells computed before the chosen one, and how many of them move it by exactly nothing.
struct ReachTally {
  std::int64_t computed = 0;
  std::int64_t zeros = 0;
};
ReachTally tally(const ReachResult& result);

}  // namespace app
