// What must hold for any bytes at all: a reader takes them or throws a typed error, and what it took can be written
// and read again. Shared by the libFuzzer programs (run.sh) and by the deterministic mutations of the test suite.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/json_io.h"
#include "engine/recipe.h"
#include "engine/safetensors.h"

namespace fuzz {

inline void require(bool holds, const char* what) {
  if (!holds) {
    throw std::logic_error(what);
  }
}

/// Returns whether the bytes were taken.
inline bool safetensors_target(std::span<const std::byte> bytes) {
  try {
    const engine::SafetensorsFile file = engine::read_safetensors(bytes, "input");
    for (const engine::StoredTensor& tensor : file.tensors) {
      require(tensor.to_float().size() == static_cast<std::size_t>(tensor.elements()), "an element is lost");
    }
    const std::string written = engine::safetensors_bytes(file.tensors, file.metadata);
    const engine::SafetensorsFile again = engine::read_safetensors(std::as_bytes(std::span(written)), "written");
    require(again.metadata == file.metadata && again.tensors.size() == file.tensors.size(), "something is lost");
    for (const engine::StoredTensor& tensor : again.tensors) {
      require(tensor == file.at(tensor.name), "a tensor has changed");
    }
    return true;
  } catch (const engine::FormatError&) {
    return false;
  }
}

inline bool model_target(std::span<const std::byte> bytes) {
  try {
    engine::read_model_bytes(bytes, "input");
    return true;
  } catch (const engine::FormatError&) {
    return false;
  }
}

inline bool recipe_target(std::string_view text) {
  try {
    const engine::Recipe recipe = engine::recipe_from_json(engine::parse_json(text, "input"));
    const std::string written = engine::dump_json(to_json(recipe));
    require(engine::recipe_from_json(engine::parse_json(written, "written")) == recipe, "a field has changed");
    recipe.validate();
    return true;
  } catch (const engine::FormatError&) {
    return false;
  } catch (const engine::ConfigError&) {
    return false;
  }
}

inline bool metrics_target(std::string_view text) {
  try {
    const nlohmann::json line = engine::parse_metrics_line(text, "input");
    engine::parse_metrics_line(engine::dump_json(line), "written");
    return true;
  } catch (const engine::FormatError&) {
    return false;
  }
}

}  // namespace fuzz
