// Running sum modulo m: state tracking over any length.
//
//   Add modulo 3: 2 1 2 0        Add modulo 3
//   Total: 2                     2 makes 2
//                                1 makes 0
//                                2 makes 2
//                                0 makes 2
//   (supervision "end")          (supervision "every": each total is an answer, the last one is asked for)
//
//   Add modulo 3: 2 1 2 0 makes 2      (supervision "hidden": after every digit the total so far is the target, but
//                                      only the last one is ever said: it must be carried, no text tells it)
//
// Options: "modulo" (2..10, default 3), digits are 0 .. modulo-1; "min_length" and "max_length" (1..4096, default 1 and
// 8) digits, drawn evenly; "supervision" ("end", "every" or "hidden", default "end").
//
// Held out: digit strings, of each length the same share. A length with so few strings that the share rounds to none is
// trained whole and not validated (modulo 3 and a share of 0.1: length 1; of length 2 one string of nine is held out).
// With supervision "every" or "hidden", where each beginning of a string is answered too, all strings that begin alike
// are on one side: the first digits decide, as many as give at least eight held-out beginnings where max_length allows.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/data/task.h"
#include "engine/data/task_options.h"

namespace engine::data {

struct RunningSumContent {
  std::int64_t modulo = 3;
  std::vector<std::int64_t> digits;
};

enum class SumSupervision { end, every, hidden };

/// The example with these contents; its group is the digit string.
Example running_sum_example(const RunningSumContent& content, SumSupervision supervision);

std::unique_ptr<Task> make_running_sum_task(TaskOptions& options, double validation_share);

}  // namespace engine::data
