// What repeated feedback passes do to the carried states (method page, "Stability"; the paper's Figs. 3 and 10).
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/batch_source.h"
#include "engine/pass_runner.h"

namespace engine {

/// Update norms and losses over passes on fixed rows. Every document's first position is plain, all others fused, no
/// jitter.
struct StabilityMatrix {
  std::int64_t rows = 0;
  std::int64_t seq = 0;
  int passes = 0;                          ///< feedback passes
  std::vector<std::vector<float>> update;  ///< [passes][rows*seq]: ||h_f - h_{f-1}||_2 of every position
  std::vector<std::vector<float>> nll;     ///< [passes+1][rows*seq]: per-position loss in nats, 0 where not scored
};

StabilityMatrix measure_stability(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch,
                                  int passes);

}  // namespace engine
