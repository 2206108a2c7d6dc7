// The plain->fused boundary (method page, "Inside the channel"): loss by distance from it, and how often training puts
// a position past it.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/channel_probe.h"
#include "engine/estimate.h"
#include "engine/parameters.h"

namespace engine {

/// Distances first..last: 0 is the first fused position after a plain one. A document's start is a boundary too.
struct BoundaryPoint {
  std::int64_t first = 0;
  std::int64_t last = 0;
  Estimate fused_loss;  ///< nats a token after the feedback passes
  Estimate plain_loss;  ///< of pass 1 on the same positions
  Estimate difference;  ///< fused less plain, paired
};

/// Fused positions since the last plain one, [N]; -1 at plain positions and padding.
std::vector<std::int64_t> boundary_distances(const data::Batch& batch, const std::vector<std::int32_t>& fused);

struct BoundarySettings {
  int feedback_passes = 1;
  int draws = 4;  ///< of plain lengths, uniform on 1..length for each row, as training draws them
  std::uint64_t seed = 1;
};
/// Distances up to 15 one by one, then in doubling ranges; ranges without a scored target are left out. Cancelled when
/// a stop is requested.
std::vector<BoundaryPoint> measure_boundary_loss(ChannelProbe& probe, const BoundarySettings& settings,
                                                 const std::stop_token& stop = {});

/// How often a place in a document is fused in a feedback pass of training.
struct ExposurePoint {
  std::int64_t position = 0;  ///< in its document
  Estimate fused_share;       ///< of the real tokens there; rows and draws are the units
};
struct ExposureSettings {
  bool prefix_mixin = true;         ///< off: everything after a document's first position is fused
  double fully_fused_share = 0.25;  ///< as trained
  int draws = 16;
  std::uint64_t seed = 1;
};
/// Plain lengths are drawn as in training; documents restart the count.
std::vector<ExposurePoint> measure_exposure(const data::Batch& batch, const ExposureSettings& settings);

}  // namespace engine
