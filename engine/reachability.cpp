#include "engine/reachability.h"

#include <algorithm>

namespace engine {
namespace {

/// Whether `other` exists already when `computed` is computed.
bool is_before(Clock clock, const ReachGrid& grid, Cell computed, Cell other) {
  return instant_of(clock, grid, other) < instant_of(clock, grid, computed);
}

/// Attention reads the depth below at this and earlier positions; with feedback a layer-0 input reads the top state
/// before it.
bool reads_directly(Clock clock, const ReachGrid& grid, Cell computed, Cell other) {
  if (computed.depth > 0) return other.depth == computed.depth - 1 && other.position <= computed.position;
  return clock == Clock::latent_feedback && other.depth == grid.layers && other.position == computed.position - 1;
}

bool reads_in_steps(Clock clock, Cell computed, Cell other) {
  if (other.position > computed.position) return false;
  if (other.depth < computed.depth) return true;
  return clock == Clock::latent_feedback && other.position < computed.position;
}

}  // namespace

std::string to_string(Clock clock) {
  switch (clock) {
    case Clock::training:
      return "training";
    case Clock::inference:
      return "inference";
    case Clock::latent_feedback:
      return "latent feedback";
  }
  return "";
}

std::string to_string(CellState state) {
  switch (state) {
    case CellState::self:
      return "being computed";
    case CellState::direct:
      return "directly read";
    case CellState::reachable:
      return "reachable";
    case CellState::out_of_reach:
      return "computed but out of reach";
    case CellState::future:
      return "computed but later";
    case CellState::not_computed:
      return "not yet computed";
  }
  return "";
}

CellState cell_state(Clock clock, const ReachGrid& grid, Cell computed, Cell other) {
  if (other == computed) return CellState::self;
  if (!is_before(clock, grid, computed, other)) return CellState::not_computed;
  if (reads_directly(clock, grid, computed, other)) return CellState::direct;
  if (reads_in_steps(clock, computed, other)) return CellState::reachable;
  return other.position > computed.position ? CellState::future : CellState::out_of_reach;
}

ReachCounts count_cells(Clock clock, const ReachGrid& grid, Cell computed) {
  ReachCounts counts;
  for (std::int64_t position = 0; position < grid.positions; ++position) {
    for (std::int64_t depth = 0; depth <= grid.layers; ++depth) {
      const CellState state = cell_state(clock, grid, computed, {position, depth});
      counts.direct += state == CellState::direct ? 1 : 0;
      counts.reachable += state == CellState::direct || state == CellState::reachable ? 1 : 0;
      counts.out_of_reach += state == CellState::out_of_reach ? 1 : 0;
      counts.future += state == CellState::future ? 1 : 0;
      counts.not_computed += state == CellState::not_computed ? 1 : 0;
    }
  }
  return counts;
}

std::int64_t standard_reach(Cell computed, Convention convention) {
  const std::int64_t positions = computed.position + (convention == Convention::own_position ? 1 : 0);
  return positions * computed.depth;
}

std::int64_t latent_reach(const ReachGrid& grid, Cell computed, Convention convention) {
  return computed.position * (grid.layers + 1) + (convention == Convention::own_position ? computed.depth : 0);
}

std::int64_t blocked_cells(const ReachGrid& grid, Cell computed) {
  return computed.position * (grid.layers + 1 - computed.depth);
}

std::int64_t blocked_cells_in_total(const ReachGrid& grid) {
  return grid.positions * (grid.positions - 1) / 2 * (grid.layers * (grid.layers + 1) / 2);
}

std::int64_t instant_count(Clock clock, const ReachGrid& grid) {
  return clock == Clock::training ? grid.layers + 1 : grid.cells();
}

std::int64_t instant_of(Clock clock, const ReachGrid& grid, Cell cell) {
  return clock == Clock::training ? cell.depth : cell.position * (grid.layers + 1) + cell.depth;
}

std::int64_t exact_positions(std::int64_t feedback_passes, std::int64_t positions, bool late_start) {
  return std::clamp<std::int64_t>(feedback_passes + (late_start ? 0 : 1), 0, positions);
}

StairState stair_state(std::int64_t feedback_passes, std::int64_t position, bool late_start) {
  const std::int64_t last_exact = feedback_passes - (late_start ? 1 : 0);
  if (position > last_exact) return StairState::moving;
  return position == last_exact ? StairState::newly_exact : StairState::exact;
}

}  // namespace engine
