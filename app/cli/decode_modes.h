// The --mode argument that several verbs share.
#pragma once

#include <string>
#include <vector>

#include "app/cli/checks.h"
#include "engine/rollout_types.h"

namespace app::cli {

/// standard, soft, fused, or all three.
inline std::vector<engine::DecodeMode> decode_modes(const std::string& name) {
  std::vector<engine::DecodeMode> modes;
  for (const auto mode : {engine::DecodeMode::standard, engine::DecodeMode::soft, engine::DecodeMode::fused}) {
    if (name == "all" || name == engine::to_string(mode)) modes.push_back(mode);
  }
  return modes;
}

inline CLI::Validator known_mode() { return one_of({"standard", "soft", "fused", "all"}); }

}  // namespace app::cli
