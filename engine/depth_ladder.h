// The residual stream from depth to depth, plain against fused on the same positions (method page, "Inside the
// channel").
#pragma once

#include <cstdint>
#include <vector>

#include "engine/channel_probe.h"
#include "engine/estimate.h"

namespace engine {

/// Depth 0 is the layer-0 input, depth l the stream after block l. Means over the real fused positions.
struct LadderRung {
  std::int64_t depth = 0;
  Estimate plain_rms;  ///< in pass 1
  Estimate fused_rms;  ///< in the last feedback pass
  /// || x_l - x_{l-1} || / || x_{l-1} ||, what block l adds; nothing measured (NaN) at depth 0.
  Estimate plain_change, fused_change;
};

/// Prepares the probe anew with these flags.
std::vector<LadderRung> measure_ladder(ChannelProbe& probe, const std::vector<std::int32_t>& fused,
                                       int feedback_passes);

}  // namespace engine
