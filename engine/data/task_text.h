// The few lines that several tasks write alike, and the numbers that choose an example's content.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/task.h"
#include "kernels/philox.h"

namespace engine::data {

/// "name = value\n": four tokens in word-level symbols.
std::string assignment_line(const std::string& name, std::int64_t value);
/// `count` lines that change nothing: "scratch += 0\n".
std::string null_updates(std::int64_t count);
/// " 0" .. " count-1".
std::vector<std::string> spaced_numerals(std::int64_t count);

/// The random numbers of one example.
kernels::PhiloxReader example_random(std::uint64_t seed, Split split, std::uint64_t index);
/// One element of a list that is not empty.
std::int64_t pick(kernels::PhiloxReader& random, const std::vector<std::int64_t>& list);

}  // namespace engine::data
