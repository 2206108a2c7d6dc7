#include "app/reach_clock.h"

#include <algorithm>

namespace app {

void ReachClock::set_grid(const engine::ReachGrid& grid) {
  grid_ = grid;
  set_cell(cell_);
  feedback_passes_ = std::clamp<std::int64_t>(feedback_passes_, 0, std::max<std::int64_t>(grid.positions - 1, 0));
}

void ReachClock::set_cell(engine::Cell cell) {
  cell_ = {std::clamp<std::int64_t>(cell.position, 0, std::max<std::int64_t>(grid_.positions - 1, 0)),
           std::clamp<std::int64_t>(cell.depth, 0, grid_.layers)};
}

std::int64_t ReachClock::instants() const {
  if (grid_.positions == 0) return 0;
  if (order_ == ReachOrder::passes) return grid_.positions;  // then the last position is exact, too
  return engine::instant_count(order_ == ReachOrder::depths ? engine::Clock::training : engine::Clock::latent_feedback,
                               grid_);
}

std::int64_t ReachClock::now() const {
  if (order_ == ReachOrder::passes) return feedback_passes_;
  return engine::instant_of(order_ == ReachOrder::depths ? engine::Clock::training : engine::Clock::latent_feedback,
                            grid_, cell_);
}

void ReachClock::go_to(std::int64_t instant) {
  if (instants() == 0) return;
  instant = std::clamp<std::int64_t>(instant, 0, instants() - 1);
  if (order_ == ReachOrder::passes) {
    feedback_passes_ = instant;
  } else if (order_ == ReachOrder::depths) {
    cell_.depth = instant;
  } else {
    cell_ = {instant / (grid_.layers + 1), instant % (grid_.layers + 1)};
  }
}

}  // namespace app
