#include "engine/data/probe_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/error.h"

namespace engine::data {
namespace {

using Examples = std::vector<ProbeExample>;

std::map<std::int64_t, Examples> by_group(const Examples& examples) {
  std::map<std::int64_t, Examples> groups;
  for (const ProbeExample& example : examples) groups[example.group].push_back(example);
  return groups;
}

/// What holds for every set: a final colon, half of each group labelled 1, and no text in two groups.
void expect_sound(const Examples& examples, std::size_t groups) {
  std::map<std::string, std::int64_t> group_of;
  const auto parted = by_group(examples);
  EXPECT_EQ(parted.size(), groups);
  for (const auto& [group, members] : parted) {
    std::size_t ones = 0;
    for (const ProbeExample& example : members) {
      EXPECT_EQ(example.prompt.back(), ':');
      EXPECT_EQ(group_of.emplace(example.prompt, group).first->second, group) << example.prompt;
      ones += static_cast<std::size_t>(example.label);
    }
    EXPECT_EQ(ones * 2, members.size());
  }
}

std::int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(ProbeSets, CompletionHasThePapersCounts) {
  for (const std::int64_t numerals : {16, 32}) {
    const Examples examples = completion_probe_set(3, numerals, probe_lengths());
    EXPECT_EQ(examples.size(), 1600U);
    expect_sound(examples, 80);
    std::map<std::int64_t, int> lengths;
    for (const ProbeExample& example : examples) {
      ++lengths[example.length];
      EXPECT_EQ(lines(example.prompt), 3 + example.length);
    }
    EXPECT_EQ(lengths, (std::map<std::int64_t, int>{{0, 320}, {8, 320}, {32, 320}, {128, 320}, {256, 320}}));
  }
}

TEST(ProbeSets, CompletionGroupsAreTheFourAssignmentsOfAPair) {
  for (const auto& [group, members] : by_group(completion_probe_set(3, 32, {8}))) {
    std::set<std::string> prompts;
    for (const ProbeExample& example : members) prompts.insert(example.prompt);
    EXPECT_EQ(prompts.size(), 4U) << group;
  }
}

TEST(ProbeSets, MemoryHasThePapersCounts) {
  const Examples examples = memory_probe_set(3, 16, probe_lengths());
  EXPECT_EQ(examples.size(), 1280U);
  expect_sound(examples, 128);
  for (std::size_t i = 0; i + 1 < examples.size(); i += 2) {
    // The two states differ in one character: the context says nothing about the label.
    EXPECT_EQ(examples[i].prompt.substr(9), examples[i + 1].prompt.substr(9));
    EXPECT_NE(examples[i].prompt[8], examples[i + 1].prompt[8]);
  }
}

TEST(ProbeSets, RegistersHaveThePapersCounts) {
  const Examples examples = registers_probe_set(3);
  EXPECT_EQ(examples.size(), 3840U);
  expect_sound(examples, 512);
  std::map<std::int64_t, int> registers;
  for (const ProbeExample& example : examples) {
    ++registers[example.registers];
    EXPECT_EQ(lines(example.prompt), 1 + 16 + 8 + 1);
  }
  EXPECT_EQ(registers, (std::map<std::int64_t, int>{{1, 256}, {2, 512}, {4, 1024}, {8, 2048}}));
}

TEST(ProbeSets, OverwritesHaveThePapersCountsAndOneLength) {
  for (const std::int64_t writes : {2, 4, 8}) {
    const Examples examples = overwrites_probe_set(3, writes);
    EXPECT_EQ(examples.size(), 2048U);
    expect_sound(examples, 128);
    for (const ProbeExample& example : examples) EXPECT_EQ(lines(example.prompt), 1 + 64 + 8 + 1);
  }
}

TEST(ProbeSets, FollowTheSeed) {
  EXPECT_EQ(registers_probe_set(3)[100].prompt, registers_probe_set(3)[100].prompt);
  EXPECT_NE(registers_probe_set(3)[100].prompt, registers_probe_set(4)[100].prompt);
  EXPECT_NE(memory_probe_set(3, 16, {8})[100].prompt, memory_probe_set(4, 16, {8})[100].prompt);
}

TEST(ProbeSets, SayWhatIsTooSmall) {
  EXPECT_THROW(completion_probe_set(3, 10, {0}), ConfigError);
  EXPECT_THROW(memory_probe_set(3, 11, {0}), ConfigError);
  EXPECT_THROW(overwrites_probe_set(3, 9), ConfigError);
  EXPECT_THROW(overwrites_probe_set(3, 0), ConfigError);
}

}  // namespace
}  // namespace engine::data
