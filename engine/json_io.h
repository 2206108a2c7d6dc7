// JSON as this program reads and writes it: strict syntax with the line of each error, no member twice, numbers in the
// C locale in the shortest form that round-trips, non-finite numbers as "NaN", "Infinity", "-Infinity".
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace engine {

/// Strict JSON. FormatError names `file` and the line: syntax, trailing text, a member given twice, nesting deeper than
/// 64, numbers too large for a double. `first_line` is the file's line that the text begins with.
nlohmann::json parse_json(std::string_view text, const std::string& file, std::int64_t first_line = 1);

/// One line of a metrics file: as parse_json, and bare NaN, Infinity and -Infinity are read too. Direct members of the
/// object that are null or one of the three strings become non-finite numbers.
nlohmann::json parse_metrics_line(std::string_view text, const std::string& file);

/// Non-finite numbers, at any depth, become the three strings. Indented by `indent` spaces, on one line if negative.
/// Error if a string is not UTF-8.
std::string dump_json(const nlohmann::json& value, int indent = -1);

/// The shortest double that prints like this float: 0.1F as 0.1, not 0.10000000149.
double shortest_double(float value);

/// Text from a file, fit for one line of a message: in quotes, cut at 80 bytes, all but printable ASCII as \xNN.
std::string printable(std::string_view text);

}  // namespace engine
