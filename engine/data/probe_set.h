// The prompts that linear probes are trained on (paper, Sec. 4.4 and App. F), with exact counts and groups. Every
// prompt ends in a colon, where the states are read; which text stands before it is enumerated, never sampled example
// by example.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace engine::data {

struct ProbeExample {
  std::string prompt;
  int label = 0;               ///< 1: done, one; 0: more, zero
  std::int64_t group = 0;      ///< examples of one group must never span two folds; counted from 0
  std::int64_t length = 0;     ///< null updates or scratch operations
  std::int64_t registers = 0;  ///< registers written, 0 for the other tasks
};

/// Null updates or scratch operations of the paper's length sweep.
std::vector<std::int64_t> probe_lengths();

/// 80 unordered pairs of numerals (the groups) x (a,a), (a,b), (b,a), (b,b) x lengths: 1,600 examples for five lengths.
/// The scratch value belongs to the group, and no text occurs in two groups. `numerals` as in the task's options;
/// ConfigError where they give too few pairs (16 are enough).
std::vector<ProbeExample> completion_probe_set(std::uint64_t seed, std::int64_t numerals,
                                               const std::vector<std::int64_t>& lengths);

/// 128 scratch contexts (the groups: start values, and the operations of each length) x 2 states x lengths: 1,280 for
/// five lengths. ConfigError where `numerals` squared is below 128.
std::vector<ProbeExample> memory_probe_set(std::uint64_t seed, std::int64_t numerals,
                                           const std::vector<std::int64_t>& lengths);

/// 16 assignments to 1, 2, 4 and 8 registers, 8 null updates. A group is a schedule, its bitwise complement and all
/// queries: 128 groups x 2m examples for m registers, 3,840 in all; every prompt has the same number of lines.
std::vector<ProbeExample> registers_probe_set(std::uint64_t seed);

/// 8 registers written `writes_each` (2, 4 or 8) times: 128 groups x 16 = 2,048 examples, filled up with null updates
/// before the assignments so that all three have the same number of lines. ConfigError for more than 8 writes.
std::vector<ProbeExample> overwrites_probe_set(std::uint64_t seed, std::int64_t writes_each);

}  // namespace engine::data
