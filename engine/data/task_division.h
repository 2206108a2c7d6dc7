// Decimal expansion of a proper fraction by long division, written out in full, tersely, or not at all; the answers are
// the same. "division-direct" goes from the prompt to "Answer: 0.428": the remainders must be carried unsaid.
//
//   Write 3/7 with 3 decimals.                                  Write 3/7 with 3 decimals.
//   30 divided by 7 is 4 remainder 2                            4 r 2
//   20 divided by 7 is 2 remainder 6                            2 r 6
//   60 divided by 7 is 8 remainder 4                            8 r 4
//   Answer: 0.428                                               Answer: 0.428
//   ("division")                                                ("division-terse")
//
// The digits are cut off, not rounded; the division stops early at remainder 0 (1/2 is 0.5).
// Options: "max_denominator" (3..999, default 30), denominators 2 .. max_denominator; "decimals" (list of 1..100,
// default [4]), drawn evenly.
//
// Held out: the values of fractions, so that 1/2 and 2/4 are always on the same side.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/data/task.h"
#include "engine/data/task_options.h"

namespace engine::data {

struct DivisionContent {
  std::int64_t numerator = 1;  ///< 1 .. denominator - 1
  std::int64_t denominator = 2;
  std::int64_t decimals = 4;
};

enum class DivisionTrace { full, terse, none };

/// The example with these contents; its group is the reduced fraction.
Example division_example(const DivisionContent& content, DivisionTrace trace);

std::unique_ptr<Task> make_division_task(TaskOptions& options, double validation_share);
std::unique_ptr<Task> make_terse_division_task(TaskOptions& options, double validation_share);
std::unique_ptr<Task> make_direct_division_task(TaskOptions& options, double validation_share);

}  // namespace engine::data
