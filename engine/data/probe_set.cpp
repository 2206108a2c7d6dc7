#include "engine/data/probe_set.h"

#include <set>
#include <utility>

#include "engine/data/task_completion.h"
#include "engine/data/task_memory.h"
#include "engine/data/task_registers.h"
#include "engine/error.h"
#include "kernels/philox.h"

namespace engine::data {
namespace {

constexpr std::int64_t kPairs = 80;
constexpr std::int64_t kGroups = 128;  // of scratch contexts, and of schedules for each number of registers
constexpr std::int64_t kAssignments = 16;
constexpr std::int64_t kNullUpdates = 8;
constexpr std::int64_t kMostWritesEach = 8;

enum Stream : std::uint32_t { completion_stream, memory_stream, register_stream, overwrite_stream };

kernels::PhiloxReader probe_random(std::uint64_t seed, Stream stream) {
  return kernels::PhiloxReader({seed, kernels::Purpose::analysis, 0, stream});
}

std::int64_t below(kernels::PhiloxReader& random, std::int64_t count) {
  return random.next_below(static_cast<std::uint32_t>(count));
}

using Pair = std::pair<std::int64_t, std::int64_t>;

template <typename Element>
void shuffle(kernels::PhiloxReader& random, std::vector<Element>& list) {
  for (std::size_t i = list.size(); i > 1; --i) {
    std::swap(list[i - 1], list[random.next_below(static_cast<std::uint32_t>(i))]);
  }
}

/// A scratch value that neither number of the pair has had yet, from `first` on; -1 if there is none.
std::int64_t free_scratch(const Pair& pair, std::int64_t first, std::int64_t numerals, const std::set<Pair>& used) {
  for (std::int64_t i = 0; i < numerals; ++i) {
    const std::int64_t scratch = (first + i) % numerals;
    if (used.count({pair.first, scratch}) == 0 && used.count({pair.second, scratch}) == 0) return scratch;
  }
  return -1;
}

/// The pairs, each with its scratch value. (a,a) belongs to every pair with an a, so their scratch values must differ.
std::vector<CompletionContent> completion_groups(std::uint64_t seed, std::int64_t numerals) {
  kernels::PhiloxReader random = probe_random(seed, completion_stream);
  std::vector<Pair> pairs;
  for (std::int64_t a = 0; a < numerals; ++a) {
    for (std::int64_t b = a + 1; b < numerals; ++b) pairs.emplace_back(a, b);
  }
  shuffle(random, pairs);
  std::vector<CompletionContent> groups;
  std::set<Pair> used;
  for (const Pair& pair : pairs) {
    const std::int64_t scratch = free_scratch(pair, below(random, numerals), numerals, used);
    if (scratch < 0) continue;
    used.insert({{pair.first, scratch}, {pair.second, scratch}});
    groups.push_back({pair.first, pair.second, scratch, 0});
    if (static_cast<std::int64_t>(groups.size()) == kPairs) return groups;
  }
  throw ConfigError("numerals", std::to_string(numerals) + " numerals give fewer than " + std::to_string(kPairs) +
                                    " pairs for the probes; use at least 16");
}

/// The schedule, its complement, and all queries of both.
void add_register_group(std::vector<ProbeExample>& result, RegistersContent content, std::int64_t group) {
  for (int side = 0; side < 2; ++side) {
    for (content.query = 0; content.query < content.registers; ++content.query) {
      const Example example = registers_example(content);
      result.push_back({example.prompt, example.answer == "one" ? 1 : 0, group, content.updates, content.registers});
    }
    for (RegisterWrite& write : content.writes) write.value = 1 - write.value;
  }
}

void add_register_groups(std::vector<ProbeExample>& result, kernels::PhiloxReader& random, std::int64_t registers,
                         std::int64_t assignments, std::int64_t padding) {
  const std::int64_t first = result.empty() ? 0 : result.back().group + 1;
  std::set<std::string> seen;
  while (static_cast<std::int64_t>(seen.size()) < kGroups) {
    RegistersContent content{registers, random_writes(random, registers, assignments), 0, kNullUpdates, padding};
    const std::int64_t group = first + static_cast<std::int64_t>(seen.size());
    if (seen.insert(registers_example(content).group).second) add_register_group(result, std::move(content), group);
  }
}

}  // namespace

std::vector<std::int64_t> probe_lengths() { return {0, 8, 32, 128, 256}; }

std::vector<ProbeExample> completion_probe_set(std::uint64_t seed, std::int64_t numerals,
                                               const std::vector<std::int64_t>& lengths) {
  std::vector<ProbeExample> result;
  std::int64_t group = 0;
  for (const CompletionContent& base : completion_groups(seed, numerals)) {
    for (const std::int64_t length : lengths) {
      for (const std::int64_t required : {base.required, base.completed}) {
        for (const std::int64_t completed : {base.required, base.completed}) {
          const Example example = completion_example({required, completed, base.scratch, length});
          result.push_back({example.prompt, example.answer == "done" ? 1 : 0, group, length, 0});
        }
      }
    }
    ++group;
  }
  return result;
}

std::vector<ProbeExample> memory_probe_set(std::uint64_t seed, std::int64_t numerals,
                                           const std::vector<std::int64_t>& lengths) {
  if (numerals * numerals < kGroups) {
    throw ConfigError("numerals", std::to_string(numerals) +
                                      " numerals give too few scratch contexts for the probes; "
                                      "use at least 12");
  }
  kernels::PhiloxReader random = probe_random(seed, memory_stream);
  std::vector<Pair> contexts;
  for (std::int64_t i = 0; i < numerals * numerals; ++i) contexts.emplace_back(i / numerals, i % numerals);
  shuffle(random, contexts);
  std::vector<ProbeExample> result;
  for (std::int64_t group = 0; group < kGroups; ++group) {
    const auto [scratch, spare] = contexts[static_cast<std::size_t>(group)];
    for (const std::int64_t length : lengths) {
      MemoryContent content{0, scratch, spare, random_operations(random, length)};
      for (content.state = 0; content.state < 2; ++content.state) {
        result.push_back({memory_example(content).prompt, static_cast<int>(content.state), group, length, 0});
      }
    }
  }
  return result;
}

std::vector<ProbeExample> registers_probe_set(std::uint64_t seed) {
  kernels::PhiloxReader random = probe_random(seed, register_stream);
  std::vector<ProbeExample> result;
  for (const std::int64_t registers : {1, 2, 4, 8}) add_register_groups(result, random, registers, kAssignments, 0);
  return result;
}

std::vector<ProbeExample> overwrites_probe_set(std::uint64_t seed, std::int64_t writes_each) {
  if (writes_each < 1 || writes_each > kMostWritesEach) {
    throw ConfigError("writes_each", std::to_string(writes_each) + " writes to each register; use 2, 4 or 8");
  }
  kernels::PhiloxReader random = probe_random(seed, overwrite_stream);
  std::vector<ProbeExample> result;
  add_register_groups(result, random, 8, 8 * writes_each, 8 * (kMostWritesEach - writes_each));
  return result;
}

}  // namespace engine::data
