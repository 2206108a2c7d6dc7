// Bytes as hex digits, to keep them in JSON.
#pragma once

#include <string>
#include <string_view>

namespace engine::data {

std::string to_hex(std::string_view bytes);
/// FormatError naming `file` for an odd length or another character than 0-9, a-f.
std::string from_hex(std::string_view digits, const std::string& file);

}  // namespace engine::data
