// Completion tracking (paper, App. F): is the work that was required done? The answer needs a comparison of two
// numbers.
//
//   required = 7
//   completed = 12
//   scratch = 3
//   scratch += 0        (as many null updates as drawn)
//   Status: more        ("done" exactly when completed == required)
//
// Options: "numerals" (3..100, default 32; with 16 small models learn the pairs by heart) numbers 0 .. numerals-1;
// "distractors" (list, default [0, 1, 2, 4]) numbers of null updates, drawn evenly.
//
// Held out: unordered pairs {required, completed} for "more"; for "done", where both are
// the same, the pairs (number, scratch value), so that each number is seen equal to itself in training.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/data/task.h"
#include "engine/data/task_options.h"

namespace engine::data {

struct CompletionContent {
  std::int64_t required = 0;
  std::int64_t completed = 0;
  std::int64_t scratch = 0;
  std::int64_t updates = 0;  ///< null updates
};

/// The example with these contents; its group is the unordered pair.
Example completion_example(const CompletionContent& content);

std::unique_ptr<Task> make_completion_task(TaskOptions& options, double validation_share);

}  // namespace engine::data
