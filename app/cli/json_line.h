// Results as JSON on one line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace app::cli {

/// The object and the line's end. Names of folders and prompts may hold any bytes: what is not UTF-8 becomes U+FFFD
/// rather than costing the result.
inline std::string json_line(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace app::cli
