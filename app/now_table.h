// The rows of the NOW table: what a run has done so far, and what a recipe would need before it starts.
#pragma once

#include <vector>

#include "app/run_data.h"
#include "engine/training_session.h"
#include "widgets/stat_table.h"

namespace app {

/// Of a run with its newest values. `seconds_left` and `memory` below 1 are left out.
std::vector<widgets::Stat> now_rows(const RunData& run, double seconds_left, std::int64_t memory);

/// What a start of the recipe would take.
widgets::Stat memory_row(const engine::Recipe& recipe);

/// Before a start: size of the model, tokens, token-equivalents and memory that the recipe asks for. A recipe that
/// cannot be used gives one row that says so.
std::vector<widgets::Stat> plan_rows(const engine::Recipe& recipe);

}  // namespace app
