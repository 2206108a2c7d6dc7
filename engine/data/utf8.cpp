#include "engine/data/utf8.h"

#include "engine/data/tokenizer.h"

namespace engine::data {
namespace {

struct LeadByte {
  std::size_t length = 0;  ///< 0: cannot start a character
  unsigned char second_least = 0x80;
  unsigned char second_most = 0xBF;
};

LeadByte lead_byte(unsigned char byte) {
  if (byte < 0x80) return {1};
  if (byte >= 0xC2 && byte <= 0xDF) return {2};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {3};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0};
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const LeadByte lead = lead_byte(static_cast<unsigned char>(text[0]));
  if (lead.length == 0) return {Utf8State::invalid, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == text.size()) return {Utf8State::incomplete, i};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char least = i == 1 ? lead.second_least : 0x80;
    const unsigned char most = i == 1 ? lead.second_most : 0xBF;
    if (byte < least || byte > most) return {Utf8State::invalid, 1};
  }
  return {Utf8State::complete, lead.length};
}

std::size_t first_invalid_byte(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const Utf8Character character = first_character(text.substr(at));
    if (character.state != Utf8State::complete) return at;
    at += character.length;
  }
  return std::string_view::npos;
}

std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return at;
}

std::string byte_label(unsigned char byte) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  return std::string("<0x") + kDigits[byte >> 4U] + kDigits[byte & 15U] + ">";
}

std::string Utf8Stream::push(std::string_view bytes) {
  pending_.append(bytes);
  std::string text;
  std::size_t at = 0;
  while (at < pending_.size()) {
    const Utf8Character character = first_character(std::string_view(pending_).substr(at));
    if (character.state == Utf8State::incomplete) break;
    if (character.state == Utf8State::complete) {
      text.append(pending_, at, character.length);
    } else {
      text += byte_label(static_cast<unsigned char>(pending_[at]));
    }
    at += character.length;
  }
  pending_.erase(0, at);
  return text;
}

std::string Utf8Stream::finish() {
  std::string text;
  for (const char byte : pending_) text += byte_label(static_cast<unsigned char>(byte));
  pending_.clear();
  return text;
}

}  // namespace engine::data
