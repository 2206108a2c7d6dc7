// The --mode and --temperature arguments that several verbs share.
#pragma once

#include <CLI/CLI.hpp>
#include <cmath>
#include <string>
#include <vector>

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

inline CLI::Validator known_mode() { return CLI::IsMember({"standard", "soft", "fused", "all"}); }

inline CLI::Validator finite_not_negative() {
  const auto check = [](std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool good = end != text.c_str() && *end == '\0' && std::isfinite(value) && value >= 0;
    return good ? "" : text + " is not a finite number of at least 0";
  };
  return {check, "NUMBER", "finite"};
}

}  // namespace app::cli
