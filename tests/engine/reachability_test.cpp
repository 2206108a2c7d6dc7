// The theory of what a cell can read: the closed forms, and the sets found by walking what each operation reads.
#include "engine/reachability.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace {

using engine::Cell;
using engine::CellState;
using engine::Clock;
using engine::Convention;
using engine::ReachGrid;

constexpr ReachGrid kGrid{8, 6};

/// What the operation that computes a cell reads, written once more from the model.
std::vector<Cell> operands(bool feedback, Cell cell) {
  if (cell.depth == 0) {
    if (feedback && cell.position > 0) return {{cell.position - 1, kGrid.layers}};
    return {};
  }
  std::vector<Cell> cells;
  for (std::int64_t position = 0; position <= cell.position; ++position) cells.push_back({position, cell.depth - 1});
  return cells;
}

void walk(bool feedback, Cell cell, std::set<std::pair<std::int64_t, std::int64_t>>& seen) {
  for (const Cell operand : operands(feedback, cell)) {
    if (seen.insert({operand.position, operand.depth}).second) walk(feedback, operand, seen);
  }
}

template <class Visit>
void for_each_cell(Visit visit) {
  for (std::int64_t position = 0; position < kGrid.positions; ++position) {
    for (std::int64_t depth = 0; depth <= kGrid.layers; ++depth) visit(Cell{position, depth});
  }
}

TEST(ReachabilityTest, TheSetsAreWhatWalkingTheOperationsFinds) {
  for (const Clock clock : {Clock::training, Clock::inference, Clock::latent_feedback}) {
    const bool feedback = clock == Clock::latent_feedback;
    for_each_cell([&](Cell computed) {
      std::set<std::pair<std::int64_t, std::int64_t>> seen;
      walk(feedback, computed, seen);
      const auto direct = operands(feedback, computed);
      for_each_cell([&](Cell other) {
        const CellState state = cell_state(clock, kGrid, computed, other);
        const bool read = state == CellState::direct || state == CellState::reachable;
        EXPECT_EQ(read, seen.contains({other.position, other.depth}));
        EXPECT_EQ(state == CellState::direct, std::find(direct.begin(), direct.end(), other) != direct.end());
      });
    });
  }
}

TEST(ReachabilityTest, CountsAreTheClosedForms) {
  for_each_cell([](Cell cell) {
    const std::int64_t t = cell.position + 1;
    const std::int64_t l = cell.depth;
    EXPECT_EQ(standard_reach(cell, Convention::own_position), t * l);
    EXPECT_EQ(standard_reach(cell, Convention::earlier_positions), (t - 1) * l);
    EXPECT_EQ(latent_reach(kGrid, cell, Convention::own_position), (t - 1) * (kGrid.layers + 1) + l);
    const auto training = count_cells(Clock::training, kGrid, cell);
    const auto inference = count_cells(Clock::inference, kGrid, cell);
    const auto latent = count_cells(Clock::latent_feedback, kGrid, cell);
    EXPECT_EQ(training.reachable, t * l);
    EXPECT_EQ(inference.reachable, t * l);
    EXPECT_EQ(latent.reachable, (t - 1) * (kGrid.layers + 1) + l);
    EXPECT_EQ(inference.out_of_reach, (t - 1) * (kGrid.layers + 1 - l));
    EXPECT_EQ(inference.out_of_reach, blocked_cells(kGrid, cell));
    EXPECT_EQ(training.out_of_reach, 0);
    EXPECT_EQ(latent.out_of_reach, 0);
    EXPECT_EQ(training.future, (kGrid.positions - t) * l);
    EXPECT_EQ(inference.future + latent.future, 0);
    for (const auto& counts : {training, inference, latent}) {
      EXPECT_EQ(counts.reachable + counts.out_of_reach + counts.future + counts.not_computed + 1, kGrid.cells());
    }
  });
}

TEST(ReachabilityTest, BlockedCellsOverTheGridAre588) {
  std::int64_t sum = 0;
  std::int64_t others = 0;
  for_each_cell([&](Cell cell) {
    if (cell.depth == 0) return;
    sum += count_cells(Clock::inference, kGrid, cell).out_of_reach;
    others += count_cells(Clock::training, kGrid, cell).out_of_reach;
    others += count_cells(Clock::latent_feedback, kGrid, cell).out_of_reach;
  });
  EXPECT_EQ(sum, 588);
  EXPECT_EQ(blocked_cells_in_total(kGrid), 588);
  EXPECT_EQ(others, 0);
}

TEST(ReachabilityTest, ClocksComputeEveryCellOnceAfterWhatItReads) {
  for (const Clock clock : {Clock::training, Clock::inference, Clock::latent_feedback}) {
    std::set<std::int64_t> instants;
    for_each_cell([&](Cell cell) {
      const std::int64_t instant = instant_of(clock, kGrid, cell);
      EXPECT_GE(instant, 0);
      instants.insert(instant);
      for (const Cell operand : operands(clock == Clock::latent_feedback, cell))
        EXPECT_LT(instant_of(clock, kGrid, operand), instant);
    });
    EXPECT_EQ(static_cast<std::int64_t>(instants.size()), instant_count(clock, kGrid));
    EXPECT_EQ(*instants.rbegin() + 1, instant_count(clock, kGrid));
  }
}

TEST(ReachabilityTest, TheStaircaseGrowsAPositionAPass) {
  for (const bool late : {false, true}) {
    for (std::int64_t f = 0; f < 12; ++f) {
      std::int64_t exact = 0;
      std::int64_t fresh = 0;
      for (std::int64_t position = 0; position < kGrid.positions; ++position) {
        const engine::StairState state = engine::stair_state(f, position, late);
        exact += state == engine::StairState::moving ? 0 : 1;
        fresh += state == engine::StairState::newly_exact ? 1 : 0;
      }
      EXPECT_EQ(exact, engine::exact_positions(f, kGrid.positions, late));
      EXPECT_EQ(exact, std::min<std::int64_t>(kGrid.positions, f + (late ? 0 : 1)));
      EXPECT_EQ(fresh, f >= (late ? 1 : 0) && f < kGrid.positions + (late ? 1 : 0) ? 1 : 0);
    }
  }
}

}  // namespace
