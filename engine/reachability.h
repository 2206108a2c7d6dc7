// Which cells of the (position, depth) grid a cell can read, in theory (method page, "Reachability").
//   R_std(t,l) = {(t',l') : t' < t, l' < l}     R_lf(t,l) = {(t',l') : t' < t, 0 <= l' <= L}
// Positions count from 0 here; depth 0 is the layer-0 input and depth l the residual stream after block l. All of it
// holds for full attention: a sliding window only takes cells away.
#pragma once

#include <cstdint>
#include <string>

namespace engine {

struct Cell {
  std::int64_t position = 0;  ///< from 0
  std::int64_t depth = 0;     ///< 0..layers

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct ReachGrid {
  std::int64_t positions = 0;
  std::int64_t layers = 0;

  [[nodiscard]] std::int64_t cells() const { return positions * (layers + 1); }
};

/// The order in which cells come into being.
enum class Clock {
  training,         ///< teacher forced: all positions of a depth at once, a depth after the other
  inference,        ///< token by token without feedback: all depths of a position, then the next position
  latent_feedback,  ///< as inference, and the top state goes into the next position's layer-0 input
};

/// Whether the cell's own position counts as read. It always is, by the residual stream; the sets above leave it out.
enum class Convention { own_position, earlier_positions };

/// What a cell is to the one being computed, at that instant.
enum class CellState {
  self,          ///< the cell being computed
  direct,        ///< read by the operation that computes it
  reachable,     ///< read by something that it reads
  out_of_reach,  ///< an earlier position, computed, and read by nothing on the way
  future,        ///< computed already (training order only), hidden by the causal mask
  not_computed,
};
std::string to_string(Clock clock);
std::string to_string(CellState state);

CellState cell_state(Clock clock, const ReachGrid& grid, Cell computed, Cell other);

/// How many cells are in each state while `computed` is.
struct ReachCounts {
  std::int64_t direct = 0;
  std::int64_t reachable = 0;  ///< the directly read ones included
  std::int64_t out_of_reach = 0;
  std::int64_t future = 0;
  std::int64_t not_computed = 0;
};
ReachCounts count_cells(Clock clock, const ReachGrid& grid, Cell computed);

/// Sizes of the two sets in closed form: with t = position + 1, reach(standard) = t*l with the own position and (t-1)*l
/// without; reach(latent) = (t-1)(L+1) + l with it and (t-1)(L+1) without.
std::int64_t standard_reach(Cell computed, Convention convention);
std::int64_t latent_reach(const ReachGrid& grid, Cell computed, Convention convention);
/// Earlier cells that naive inference has computed and cannot read: (t-1)(L+1-l).
std::int64_t blocked_cells(const ReachGrid& grid, Cell computed);
/// Their sum over all positions and depths 1..L: T(T-1)/2 * L(L+1)/2.
std::int64_t blocked_cells_in_total(const ReachGrid& grid);

/// Instants of a clock, and the instant (from 0) at which a cell is computed: cells that share one are computed at
/// once.
std::int64_t instant_count(Clock clock, const ReachGrid& grid);
std::int64_t instant_of(Clock clock, const ReachGrid& grid, Cell cell);

/// The multi-pass staircase: after f feedback passes the first f + 1 positions hold the sequential recurrence's states.
/// `late_start` is for the norm reading listing3, whose first position changes once, in the first feedback pass: f
/// positions.
enum class StairState { exact, newly_exact, moving };
std::int64_t exact_positions(std::int64_t feedback_passes, std::int64_t positions, bool late_start);
StairState stair_state(std::int64_t feedback_passes, std::int64_t position, bool late_start);

}  // namespace engine
