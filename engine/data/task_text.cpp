#include "engine/data/task_text.h"

namespace engine::data {

std::string assignment_line(const std::string& name, std::int64_t value) {
  return name + " = " + std::to_string(value) + "\n";
}

std::string null_updates(std::int64_t count) {
  std::string text;
  for (std::int64_t i = 0; i < count; ++i) text += "scratch += 0\n";
  return text;
}

std::vector<std::string> spaced_numerals(std::int64_t count) {
  std::vector<std::string> result;
  for (std::int64_t i = 0; i < count; ++i) result.push_back(" " + std::to_string(i));
  return result;
}

kernels::PhiloxReader example_random(std::uint64_t seed, Split split, std::uint64_t index) {
  const bool training = split == Split::training;
  kernels::PhiloxStream stream;
  stream.seed = seed;
  stream.purpose = training ? kernels::Purpose::training_data : kernels::Purpose::validation_data;
  stream.major = index;
  return kernels::PhiloxReader(stream);
}

std::int64_t pick(kernels::PhiloxReader& random, const std::vector<std::int64_t>& list) {
  return list[random.next_below(static_cast<std::uint32_t>(list.size()))];
}

}  // namespace engine::data
