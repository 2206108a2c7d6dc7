// Delayed memory (paper, App. F): a bit is given, then come operations that have nothing to do with it.
//
//   state = 1
//   scratch = 12
//   spare = 7
//   spare += 3          (as many operations as drawn)
//   # final state: one
//
// Options: "numerals" (2..100, default 16) start values 0 .. numerals-1; "distractors" (list, default [0, 1, 2, 4])
// numbers of scratch operations, drawn evenly.
//
// Held out: pairs of start values (scratch, spare), whatever operations
// follow them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/data/task.h"
#include "engine/data/task_options.h"
#include "kernels/philox.h"

namespace engine::data {

struct ScratchOperation {
  bool on_spare = false;     ///< changes `spare`, otherwise `scratch`
  bool subtract = false;     ///< -=, otherwise +=
  std::int64_t operand = 1;  ///< 1 .. 3
};

struct MemoryContent {
  std::int64_t state = 0;  ///< 0 or 1
  std::int64_t scratch = 0;
  std::int64_t spare = 0;
  std::vector<ScratchOperation> operations;
};

/// The example with these contents; its group is the pair of start values.
Example memory_example(const MemoryContent& content);

/// `count` operations that have nothing to do with the state.
std::vector<ScratchOperation> random_operations(kernels::PhiloxReader& random, std::int64_t count);

std::unique_ptr<Task> make_memory_task(TaskOptions& options, double validation_share);

}  // namespace engine::data
