#include "engine/data/hex.h"

#include "engine/error.h"

namespace engine::data {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

unsigned digit_value(char digit, const std::string& file) {
  const std::size_t value = kDigits.find(digit);
  if (value == std::string_view::npos) throw FormatError(file, std::string("'") + digit + "' is not a hex digit");
  return static_cast<unsigned>(value);
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4U];
    text += kDigits[value & 15U];
  }
  return text;
}

std::string from_hex(std::string_view digits, const std::string& file) {
  if (digits.size() % 2 != 0) throw FormatError(file, "hex digits come in pairs, but their number is odd");
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(digit_value(digits[i], file) << 4U | digit_value(digits[i + 1], file));
  }
  return bytes;
}

}  // namespace engine::data
