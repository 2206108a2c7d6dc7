// Which contents belong to validation: decided by a hash of the content alone, so that no training example can have
// one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/content_hash.h"
#include "engine/data/task.h"
#include "engine/error.h"

namespace engine::data {

/// A set of content hashes, given by a threshold below which they lie.
class HeldOut {
 public:
  /// Nothing is held out.
  HeldOut() = default;
  /// About `share` of a content space that is too large to list.
  static HeldOut by_share(double share);
  /// Exactly round(share * count) of the listed contents (duplicates count once); may be none.
  static HeldOut among(std::vector<std::uint64_t> contents, double share);
  /// As `among`, but a ConfigError naming `field` when either side would be empty; `what` names the contents.
  static HeldOut among_enough(std::vector<std::uint64_t> contents, double share, const std::string& field,
                              const std::string& what);

  [[nodiscard]] bool contains(std::uint64_t content) const { return content < threshold_; }
  [[nodiscard]] bool empty() const { return threshold_ == 0; }
  [[nodiscard]] bool belongs(std::uint64_t content, Split split) const {
    return contains(content) == (split == Split::validation);
  }

 private:
  explicit HeldOut(std::uint64_t threshold) : threshold_(threshold) {}
  std::uint64_t threshold_ = 0;
};

/// Draws until the content belongs to the split: `draw()` returns a content, `hash(content)` its hash.
/// ConfigError naming `field` where the split seems to have none.
template <typename Draw, typename Hash>
auto draw_of_split(const HeldOut& held_out, Split split, const std::string& field, Draw draw, Hash hash) {
  constexpr int kTries = 100000;
  for (int i = 0; i < kTries; ++i) {
    auto content = draw();
    if (held_out.belongs(hash(content), split)) return content;
  }
  throw ConfigError(field, std::string("this setting has too few different examples to keep ") +
                               (split == Split::validation ? "some for validation" : "some for training") +
                               "; use a larger one, or change data.validation_share");
}

}  // namespace engine::data
