// Folds for cross-validation in which no group is split (method page, "Linear probes"): what shares a schedule or a
// pair of numerals is never trained on in one fold and tested in another.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

/// The fold (0 .. folds-1) of every example, [N]. Whole groups are dealt out, larger ones first and in an order drawn
/// from `seed`, each to the fold that has least of its labels (0 or 1). ConfigError for fewer groups than folds.
std::vector<int> grouped_folds(const std::vector<std::int64_t>& groups, const std::vector<int>& labels, int folds,
                               std::uint64_t seed);

/// A group with examples in two folds, if there is one: test accuracies would then be too high.
std::optional<std::int64_t> group_over_two_folds(const std::vector<std::int64_t>& groups, const std::vector<int>& fold);

}  // namespace engine
