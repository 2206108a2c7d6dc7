// The one clock of the Reachability page: an order of computing, and the instant in it.
#pragma once

#include <cstdint>

#include "engine/reachability.h"

namespace app {

enum class ReachOrder {
  tokens,  ///< token by token, all depths of a position before the next
  depths,  ///< as Standard is trained: all positions of a depth at once
  passes,  ///< as latent feedback is trained: all of it again, pass after pass
};

class ReachClock {
 public:
  void set_grid(const engine::ReachGrid& grid);
  [[nodiscard]] const engine::ReachGrid& grid() const { return grid_; }
  void set_order(ReachOrder order) { order_ = order; }
  [[nodiscard]] ReachOrder order() const { return order_; }

  /// Freezes the instant at which the cell is computed.
  void set_cell(engine::Cell cell);
  [[nodiscard]] engine::Cell cell() const { return cell_; }
  [[nodiscard]] std::int64_t feedback_passes() const { return feedback_passes_; }

  [[nodiscard]] std::int64_t instants() const;
  [[nodiscard]] std::int64_t now() const;
  /// Clamped to the instants that there are.
  void go_to(std::int64_t instant);
  [[nodiscard]] bool at_end() const { return now() + 1 >= instants(); }

 private:
  engine::ReachGrid grid_;
  ReachOrder order_ = ReachOrder::tokens;
  engine::Cell cell_;
  std::int64_t feedback_passes_ = 0;
};

}  // namespace app
