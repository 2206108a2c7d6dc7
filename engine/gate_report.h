// Everything about the channel between two positions, measured on one batch (method page, "Inside the channel").
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/boundary_loss.h"
#include "engine/channel_spectra.h"
#include "engine/depth_ladder.h"
#include "engine/interventions.h"

namespace engine {

struct GateReport {
  std::int64_t rows = 0;
  std::int64_t seq = 0;
  int feedback_passes = 1;
  std::int64_t fused_positions = 0;  ///< real ones
  std::optional<GateValues> gates;   ///< of the tokens at fused positions; absent unless the fusion is a gate
  std::vector<Spectrum> weights;     ///< singular values of the fusion's matrices
  std::vector<Spectrum> states;      ///< variances of the states that are fused, and of these times W_U^T
  std::vector<LadderRung> ladder;
  InterventionReport interventions;
  std::vector<BoundaryPoint> boundary;
  std::vector<ExposurePoint> exposure;
};

struct GateReportSettings {
  int feedback_passes = 1;  ///< the last of them is looked into; the others are unchanged
  int boundary_draws = 4;
  InterventionSettings interventions;
  ExposureSettings exposure;  ///< as the run was trained
};

/// Called before each part with its name and how many parts are done.
using GateProgress = std::function<void(const std::string& part, std::int64_t done, std::int64_t parts)>;

/// All positions but each document's first are fused, except for boundary and exposure, which draw plain lengths. The
/// batch needs two rows or more (ConfigError). Cancelled when a stop is requested.
GateReport measure_gate_report(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch,
                               const GateReportSettings& settings, const GateProgress& on_progress = {},
                               const std::stop_token& stop = {});

}  // namespace engine
