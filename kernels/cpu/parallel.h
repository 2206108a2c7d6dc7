// How an operation's rows are shared out over threads: contiguous parts that depend only on the size and the thread
// count. Who computes a part does not change its numbers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/thread_team.h"
#include "kernels/tensor.h"

namespace kernels::cpu {

/// Rows [begin, end).
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  [[nodiscard]] std::int64_t count() const { return end - begin; }
};

/// Part `index` of `count` nearly equal parts of [0, total), with borders at multiples of `grain`.
inline Range part_of(std::int64_t total, int index, int count, std::int64_t grain = 1) {
  const std::int64_t blocks = (total + grain - 1) / grain;
  return {std::min(total, blocks * index / count * grain), std::min(total, blocks * (index + 1) / count * grain)};
}

/// Threads worth starting for this many elementary steps: below the limit, the start costs more than it saves.
inline int team_size(int threads, std::int64_t steps) {
  constexpr std::int64_t kStepsWorthAThread = 16 * 1024;
  return static_cast<int>(std::clamp<std::int64_t>(steps / kStepsWorthAThread, 1, threads));
}

/// Calls body(index) for every index below `team`, each on a thread of its own; `body` must not throw.
template <typename Body>
void run_team(int team, const Body& body) {
  if (team <= 1) {
    body(0);
    return;
  }
  const auto call = [](const void* data, int index) { (*static_cast<const Body*>(data))(index); };
  ThreadTeam::of_this_thread().run(team, call, &body);
}

/// Calls body(thread, range) for contiguous parts of [0, total), several a thread, so that one that is late leaves some
/// to the others. Borders are multiples of `grain`.
template <typename Body>
void for_parts(int team, std::int64_t total, std::int64_t grain, const Body& body) {
  constexpr int kPartsOfShare = 4;
  if (team <= 1) {
    body(0, Range{0, total});
    return;
  }
  ThreadTeam& threads = ThreadTeam::of_this_thread();
  const std::int64_t most = (total + grain - 1) / grain;
  const int parts = static_cast<int>(std::clamp<std::int64_t>(most / team, 1, kPartsOfShare));
  threads.set_shares(team, parts);
  run_team(team, [&](int index) {
    for (int part = threads.next_part(team, index); part >= 0; part = threads.next_part(team, index)) {
      const Range range = part_of(total, part, team * parts, grain);
      if (range.count() > 0) body(index, range);
    }
  });
}

/// Calls body(range) for contiguous parts of [0, rows), each row costing `steps_per_row`. What a row gives must not
/// depend on the borders.
template <typename Body>
void for_rows(int threads, std::int64_t rows, std::int64_t steps_per_row, const Body& body) {
  for_parts(team_size(threads, rows * steps_per_row), rows, 1, [&](int /*thread*/, Range range) { body(range); });
}

/// Longest run of columns that for_pieces hands out.
constexpr std::int64_t kPiece = 4096;

/// Calls body(row, columns) so that the pieces cover `shape` once, each element costing `steps`. Long rows are cut,
/// because parameters and gradients often are one row.
template <typename Body>
void for_pieces(int threads, ConstView shape, std::int64_t steps, const Body& body) {
  const std::int64_t pieces_per_row = (shape.cols + kPiece - 1) / kPiece;
  const std::int64_t piece_steps = std::min(shape.cols, kPiece) * steps / 4;
  for_rows(threads, shape.rows * pieces_per_row, piece_steps, [&](Range part) {
    for (std::int64_t piece = part.begin; piece < part.end; ++piece) {
      const std::int64_t first = piece % pieces_per_row * kPiece;
      body(piece / pieces_per_row, Range{first, std::min(shape.cols, first + kPiece)});
    }
  });
}

}  // namespace kernels::cpu
