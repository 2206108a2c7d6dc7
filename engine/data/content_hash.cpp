#include "engine/data/content_hash.h"

#include <algorithm>
#include <cstddef>

namespace engine::data {

ContentHash& ContentHash::add(std::string_view text) {
  add(static_cast<std::int64_t>(text.size()));
  for (std::size_t at = 0; at < text.size(); at += 8) {
    std::uint64_t word = 0;
    const std::size_t end = std::min(text.size(), at + 8);
    for (std::size_t i = at; i < end; ++i) word = (word << 8U) | static_cast<unsigned char>(text[i]);
    add(static_cast<std::int64_t>(word));
  }
  return *this;
}

std::string ContentHash::hex() const {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  std::uint64_t rest = value();
  for (int i = 15; i >= 0; --i, rest >>= 4U) text[static_cast<std::size_t>(i)] = kDigits[rest & 15U];
  return text;
}

}  // namespace engine::data
