// Groups stay whole, labels stay balanced, and a leak is seen.
#include "engine/grouped_folds.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/data/probe_set.h"
#include "engine/error.h"

namespace {

using engine::group_over_two_folds;
using engine::grouped_folds;

/// Groups of 1 to 5 examples with labels that lean to one side in most groups.
struct UnevenGroups {
  std::vector<std::int64_t> groups;
  std::vector<int> labels;

  UnevenGroups() {
    for (std::int64_t group = 0; group < 60; ++group) {
      for (std::int64_t i = 0; i <= group % 5; ++i) {
        groups.push_back(1000 - 7 * group);
        labels.push_back((group * 3 + i * (group % 2)) % 4 == 0 ? 1 : 0);
      }
    }
  }
};

std::vector<std::array<int, 2>> count(const std::vector<int>& fold, const std::vector<int>& labels) {
  std::vector<std::array<int, 2>> counts(4, {0, 0});
  for (std::size_t n = 0; n < fold.size(); ++n) {
    ++counts.at(static_cast<std::size_t>(fold[n]))[static_cast<std::size_t>(labels[n])];
  }
  return counts;
}

TEST(GroupedFoldsTest, NoGroupIsSplitAndLabelsAreBalanced) {
  const UnevenGroups c;
  const std::vector<int> fold = grouped_folds(c.groups, c.labels, 4, 1);
  ASSERT_EQ(fold.size(), c.groups.size());
  EXPECT_FALSE(group_over_two_folds(c.groups, fold).has_value());
  const auto counts = count(fold, c.labels);
  for (const auto& [zeros, ones] : counts) {
    EXPECT_NEAR(zeros, counts[0][0], 4);
    EXPECT_NEAR(ones, counts[0][1], 4);
  }
}

TEST(GroupedFoldsTest, APlantedLeakIsSeen) {
  const UnevenGroups c;
  std::vector<int> fold = grouped_folds(c.groups, c.labels, 4, 1);
  const std::size_t last = c.groups.size() - 1;  // belongs to a group of five
  fold[last] = (fold[last] + 1) % 4;
  EXPECT_EQ(group_over_two_folds(c.groups, fold), c.groups[last]);
}

TEST(GroupedFoldsTest, TheSeedDecidesTheFolds) {
  const UnevenGroups c;
  EXPECT_EQ(grouped_folds(c.groups, c.labels, 4, 1), grouped_folds(c.groups, c.labels, 4, 1));
  EXPECT_NE(grouped_folds(c.groups, c.labels, 4, 1), grouped_folds(c.groups, c.labels, 4, 2));
}

TEST(GroupedFoldsTest, TheExactSetsFallIntoEqualFoldsOfEqualLabels) {
  const auto completion = engine::data::completion_probe_set(1, 32, engine::data::probe_lengths());
  const auto registers = engine::data::registers_probe_set(1);
  for (const auto& set : {completion, registers}) {
    std::vector<std::int64_t> groups;
    std::vector<int> labels;
    for (const auto& example : set) {
      groups.push_back(example.group);
      labels.push_back(example.label);
    }
    const auto half = static_cast<int>(set.size() / 8);
    for (const auto& counts : count(grouped_folds(groups, labels, 4, 3), labels)) {
      EXPECT_EQ(counts[0], half);
      EXPECT_EQ(counts[1], half);
    }
  }
}

TEST(GroupedFoldsTest, TooFewGroupsAreRefused) {
  EXPECT_THROW(grouped_folds({5, 5, 6, 7}, {0, 1, 0, 1}, 4, 1), engine::ConfigError);
  EXPECT_THROW(grouped_folds({}, {}, 4, 1), engine::ConfigError);
}

}  // namespace
