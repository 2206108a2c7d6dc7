#include "engine/data/held_out.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace engine::data {

HeldOut HeldOut::by_share(double share) { return HeldOut(static_cast<std::uint64_t>(share * 0x1p64)); }

HeldOut HeldOut::among(std::vector<std::uint64_t> contents, double share) {
  std::sort(contents.begin(), contents.end());
  contents.erase(std::unique(contents.begin(), contents.end()), contents.end());
  const auto held = static_cast<std::size_t>(std::lround(share * static_cast<double>(contents.size())));
  if (held == 0) return HeldOut();
  return HeldOut(contents[held - 1] + 1);
}

HeldOut HeldOut::among_enough(std::vector<std::uint64_t> contents, double share, const std::string& field,
                              const std::string& what) {
  const HeldOut result = among(contents, share);
  const auto inside = [&](std::uint64_t content) { return result.contains(content); };
  const auto held = std::count_if(contents.begin(), contents.end(), inside);
  if (held > 0 && held < static_cast<std::ptrdiff_t>(contents.size())) return result;
  throw ConfigError(field, "only " + std::to_string(contents.size()) + " " + what +
                               ", too few to hold out a share of " + std::to_string(share) +
                               " for validation; use a larger value, or change data.validation_share");
}

}  // namespace engine::data
