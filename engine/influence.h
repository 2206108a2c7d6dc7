// How much a loaded model's own states move a chosen one: || d h_t^l / d h_t'^l' ||_F for every (t',l') (method page,
// "Reachability"). Reverse mode through the exact trajectory of a mode, so what cannot be read is exactly 0.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/parameters.h"
#include "engine/reachability.h"
#include "engine/rollout_types.h"

namespace engine {

/// Which derivative is wanted.
struct InfluenceRequest {
  std::vector<std::int32_t> tokens;  ///< [T], one document
  DecodeMode mode = DecodeMode::standard;
  Cell cell;               ///< (t, l); depth l is the residual stream after block l, 0 the layer-0 input
  std::int64_t plain = 1;  ///< prompt positions, 1..T: plain in Standard and Soft, prefilled by Fused in two passes
  std::int64_t directions = 0;  ///< directions at (t, l); 0: as many as the width, at most 64
  std::uint64_t seed = 1;       ///< of random directions
};

/// Influences on one cell; the cell's own entry is 0. A prompt state of Fused exists in both prefill passes, and the
/// perturbation goes into both.
struct InfluenceMap {
  std::int64_t positions = 0;
  std::int64_t layers = 0;
  std::int64_t directions = 0;
  bool exact = true;              ///< all directions of the width were taken; otherwise random ones estimate the norm
  std::vector<double> influence;  ///< [T][L+1] row-major
  std::vector<double> error;      ///< standard error of each estimate over the directions; 0 when exact

  [[nodiscard]] double at(Cell cell) const {
    return influence[static_cast<std::size_t>(cell.position * (layers + 1) + cell.depth)];
  }
};

/// ConfigError naming tokens, t, layer or plain. Memory does not grow with the number of passes. `on_progress` gets the
/// backward passes done and their number. Cancelled when a stop is requested. The parameters' gradients, where there
/// are any, are overwritten.
InfluenceMap measure_influence(kernels::Backend& backend, const Parameters& parameters, const InfluenceRequest& request,
                               const std::function<void(std::int64_t done, std::int64_t total)>& on_progress = {},
                               const std::stop_token& stop = {});

}  // namespace engine
