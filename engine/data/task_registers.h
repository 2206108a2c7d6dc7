// Binary registers (paper, App. F): many bits are written, one of them is asked for.
//
//   scratch = 0
//   r1 = 0              (assignments, each register as often as the others, in random order)
//   r2 = 1
//   scratch += 0        (as many null updates as drawn)
//   query = r2
//   Value: one
//
// Options: "registers" (list of 1..8, default [1, 2, 4, 8]) numbers of registers; "assignments" (list of 1..256,
// default [16]) numbers of assignments, each a multiple of every number of registers; "distractors" (list, default [8])
// numbers of null updates. Each is drawn evenly.
//
// Held out: schedules (which register is written when, and with what),
// together with their bitwise complement.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/data/task.h"
#include "engine/data/task_options.h"
#include "kernels/philox.h"

namespace engine::data {

struct RegisterWrite {
  std::int64_t name = 0;   ///< register, from 0
  std::int64_t value = 0;  ///< 0 or 1
};

struct RegistersContent {
  std::int64_t registers = 1;
  std::vector<RegisterWrite> writes;  ///< every register at least once
  std::int64_t query = 0;             ///< register, from 0
  std::int64_t updates = 0;           ///< null updates after the writes
  std::int64_t padding = 0;           ///< null updates before them, to bring examples to one length
};

/// The example with these contents; its group is the schedule up to the bitwise complement.
Example registers_example(const RegistersContent& content);

/// Writes every register assignments / registers times, in random order with random values.
std::vector<RegisterWrite> random_writes(kernels::PhiloxReader& random, std::int64_t registers,
                                         std::int64_t assignments);

std::unique_ptr<Task> make_registers_task(TaskOptions& options, double validation_share);

}  // namespace engine::data
