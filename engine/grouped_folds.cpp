#include "engine/grouped_folds.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "engine/error.h"
#include "kernels/philox.h"

namespace engine {
namespace {

constexpr std::uint32_t kFoldStream = 16;  // the probe sets draw from the streams before it

using LabelCounts = std::array<std::int64_t, 2>;
using Group = std::pair<std::int64_t, LabelCounts>;  // name, examples of each label

std::vector<Group> count_groups(const std::vector<std::int64_t>& groups, const std::vector<int>& labels) {
  std::map<std::int64_t, LabelCounts> counts;
  for (std::size_t n = 0; n < groups.size(); ++n) ++counts[groups[n]][labels[n] != 0 ? 1 : 0];
  return {counts.begin(), counts.end()};
}

/// Shuffled, then larger ones first: a large group that comes last would leave one fold too full.
void order_groups(std::vector<Group>& groups, std::uint64_t seed) {
  kernels::PhiloxReader random({seed, kernels::Purpose::analysis, 0, kFoldStream});
  for (std::size_t i = groups.size(); i > 1; --i) {
    std::swap(groups[i - 1], groups[random.next_below(static_cast<std::uint32_t>(i))]);
  }
  const auto size = [](const Group& group) { return group.second[0] + group.second[1]; };
  std::stable_sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) { return size(a) > size(b); });
}

/// The fold that has least of this group's labels; the emptiest, then the first among equals.
std::size_t best_fold(const std::vector<LabelCounts>& folds, const LabelCounts& group) {
  const auto cost = [&](const LabelCounts& fold) {
    return std::tuple(fold[0] * group[0] + fold[1] * group[1], fold[0] + fold[1]);
  };
  const auto best = std::min_element(folds.begin(), folds.end(),
                                     [&](const LabelCounts& a, const LabelCounts& b) { return cost(a) < cost(b); });
  return static_cast<std::size_t>(best - folds.begin());
}

}  // namespace

std::vector<int> grouped_folds(const std::vector<std::int64_t>& groups, const std::vector<int>& labels, int folds,
                               std::uint64_t seed) {
  std::vector<Group> order = count_groups(groups, labels);
  if (folds < 2 || static_cast<int>(order.size()) < folds) {
    throw ConfigError("folds", std::to_string(order.size()) + " groups cannot be split into " + std::to_string(folds) +
                                   " folds; use more examples");
  }
  order_groups(order, seed);
  std::vector<LabelCounts> filled(static_cast<std::size_t>(folds), LabelCounts{0, 0});
  std::map<std::int64_t, int> fold_of;
  for (const auto& [name, counts] : order) {
    const std::size_t fold = best_fold(filled, counts);
    filled[fold][0] += counts[0];
    filled[fold][1] += counts[1];
    fold_of[name] = static_cast<int>(fold);
  }
  std::vector<int> result;
  for (const std::int64_t group : groups) result.push_back(fold_of[group]);
  return result;
}

std::optional<std::int64_t> group_over_two_folds(const std::vector<std::int64_t>& groups,
                                                 const std::vector<int>& fold) {
  std::map<std::int64_t, int> fold_of;
  for (std::size_t n = 0; n < groups.size(); ++n) {
    const auto [known, added] = fold_of.emplace(groups[n], fold[n]);
    if (!added && known->second != fold[n]) return groups[n];
  }
  return std::nullopt;
}

}  // namespace engine
