// The RMS of the residual stream over a training: from the checkpoints that a run keeps, and from every model of it
// that was measured since. Knows no plot.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/channel_series.h"
#include "engine/depth_ladder.h"
#include "widgets/series.h"

namespace app {

class LadderHistory {
 public:
  /// Takes what a measurement brought; what was measured on other rows or passes is forgotten.
  void add(const ChannelMeasurement& measurement);
  /// RMS by step at one depth, plain and fused.
  [[nodiscard]] std::vector<widgets::Series> series(const std::string& run, std::int64_t depth) const;
  void clear() { runs_.clear(); }

 private:
  std::map<std::string, std::map<std::int64_t, std::vector<engine::LadderRung>>> runs_;  ///< by key and step
  std::int64_t rows_ = 0;
  int feedback_passes_ = 0;
};

/// The run's other checkpoints, the oldest first, at most as many as can be told apart; empty for the shipped model. On
/// the worker's thread; Cancelled when a stop is requested.
std::vector<LadderPoint> measure_ladder_history(const AnalysisModel& model, const engine::data::Batch& batch,
                                                int feedback_passes, const AnalysisControl& control);

}  // namespace app
