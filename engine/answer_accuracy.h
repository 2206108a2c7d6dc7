// Right answers place by place, for tasks whose rows ask more than once (the running sum with hidden totals): state
// tracking over length. By causality the answer at a place is the answer to the shorter row that ends there.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/data/batch_source.h"
#include "engine/estimate.h"
#include "engine/inference.h"

namespace engine {

/// How a row is read.
struct RowReading {
  std::string name;
  bool recurrent = false;   ///< token by token, each fused with the state before it, as Soft generates
  std::int64_t plain = 1;   ///< recurrent: tokens read in one plain pass before; their answers are not measured
  int feedback_passes = 0;  ///< otherwise: passes over the whole row after the plain one, 0 = Standard
};

/// Share of right answers at each answer of a row, first to last; NaN where it was not measured. All rows must have the
/// same answers' places (ShapeError). Cancelled when a stop is requested.
std::vector<Estimate> accuracy_by_answer(InferenceModel& model, const data::Batch& rows, const RowReading& reading,
                                         const std::stop_token& stop = {});

}  // namespace engine
