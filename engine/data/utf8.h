// UTF-8 as a stream of bytes: which bytes form a character, which are wrong, which wait for more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace engine::data {

enum class Utf8State { complete, incomplete, invalid };

struct Utf8Character {
  Utf8State state = Utf8State::invalid;
  std::size_t length = 1;  ///< bytes; 1 when invalid, all that is left when incomplete
};

/// The first character of `text`, which must not be empty. Strict (Unicode 15, table 3-7): no overlong forms,
/// surrogates or values above U+10FFFF; incomplete only if more bytes could make it valid.
Utf8Character first_character(std::string_view text);

/// Offset of the first byte that is not valid UTF-8, or npos. An incomplete last character is not valid.
std::size_t first_invalid_byte(std::string_view text);

/// The largest place <= `at` that does not cut a character of valid text.
std::size_t character_start(std::string_view text, std::size_t at);

/// "<0xE2>"
std::string byte_label(unsigned char byte);

}  // namespace engine::data
