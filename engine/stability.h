// What repeated feedback passes do to the carried states (method page, "Stability"; the paper's Figs. 3 and 10).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "engine/data/batch_source.h"
#include "engine/estimate.h"
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

/// Means over rows of the same measurement, pass by pass. All of them are over scored positions: real tokens with a
/// target. Padding takes part in nothing, not even in the passes. With s = 1 under the norm reading listing3 and 0
/// otherwise, position t of a document can move in pass f only if t >= f - s, and is exact (equals the sequential
/// recurrence) after f passes if t <= f - s.
struct StabilityCurves {
  std::int64_t rows = 0;
  std::int64_t scored_positions = 0;
  int passes = 0;           ///< feedback passes n
  int computed_passes = 0;  ///< how many of them were run; in later ones nothing can move

  std::vector<Estimate> loss;                    ///< [n+1] nats, 0 = pass 1 (Standard)
  std::vector<Estimate> loss_change;             ///< [n+1] against Standard's on the same positions, paired by row
  std::vector<Estimate> update_all;              ///< [n] mean of ||h_f - h_{f-1}||_2 over all of them
  std::vector<Estimate> update_movable;          ///< [n] over those that can still move; 0 when there is none
  std::vector<std::int64_t> movable_positions;   ///< [n]
  std::vector<Estimate> exact_loss;              ///< [n+1] over the exact ones; NaN when there is none
  std::vector<Estimate> exact_standard_loss;     ///< [n+1] Standard's on the same positions
  std::vector<std::int64_t> exact_positions;     ///< [n+1]
  std::vector<std::vector<double>> at_position;  ///< [computed][longest document]: mean update by place, over documents
};

/// Memory and work do not grow with the passes once every document is exact; rows are taken `rows_at_once` at a time.
/// `on_progress` gets passes done and their number. Cancelled when a stop is requested.
StabilityCurves measure_stability_curves(
    kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch, int passes,
    std::int64_t rows_at_once = 64, const std::function<void(std::int64_t done, std::int64_t total)>& on_progress = {},
    const std::stop_token& stop = {});

/// Measurements of the same model on different rows, as one over all their rows; `at_position` stays the first one's.
StabilityCurves pooled(const std::vector<StabilityCurves>& repeats);
/// Standard deviation over repeats of one curve, pass by pass; NaN for fewer than two.
std::vector<double> spread_over_repeats(const std::vector<StabilityCurves>& repeats,
                                        std::vector<Estimate> StabilityCurves::*curve);

}  // namespace engine
