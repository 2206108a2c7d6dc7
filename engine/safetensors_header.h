// The header of a safetensors file, between its bytes and its checked entries. For safetensors.cpp alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/safetensors.h"

namespace engine {

constexpr std::uint64_t kLengthBytes = 8;

/// The header's length from the file's first 8 bytes, checked against the size of the file.
std::uint64_t safetensors_header_length(std::uint64_t first_bytes, std::uint64_t file_size, const std::string& source);
/// Every check on names, dtypes, shapes and offsets.
SafetensorsHeader parse_safetensors_header(std::string_view json, std::uint64_t file_size, const std::string& source);
/// Length and JSON, padded with spaces so that the data starts at a multiple of 8. `entries` in the order of bytes.
std::string safetensors_header_bytes(const SafetensorsHeader& header);

}  // namespace engine
