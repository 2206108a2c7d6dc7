// Files of the resources folder that are part of the program: "recipes/demo.json", "models/demo.safetensors",
// "help/method.md".
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace resources {

struct File {
  std::string_view name;   ///< path below resources/
  std::string_view bytes;  ///< valid for the program's lifetime
};

/// All files, sorted by name.
std::span<const File> files();
/// The bytes of one file, or nothing.
std::optional<std::string_view> find(std::string_view name);

}  // namespace resources
