#include "engine/data/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "engine/data/tokenizer.h"

namespace engine::data {
namespace {

std::string streamed(const std::string& bytes, std::size_t piece) {
  Utf8Stream stream;
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const std::string part = stream.push(std::string_view(bytes).substr(at, piece));
    EXPECT_EQ(first_invalid_byte(part), std::string::npos) << "a piece must be valid text by itself";
    text += part;
  }
  return text + stream.finish();
}

TEST(Utf8Stream, AnEmojiCutAnywhereComesOutWhole) {
  const std::string text = "é😀 模型 👩‍🚀!";
  for (std::size_t piece = 1; piece <= 6; ++piece) EXPECT_EQ(streamed(text, piece), text) << piece;
}

TEST(Utf8Stream, HoldsBackOnlyWhatCanStillBecomeACharacter) {
  Utf8Stream stream;
  EXPECT_EQ(stream.push("a\xF0\x9F"), "a");
  EXPECT_EQ(stream.push("\x98"), "");
  EXPECT_EQ(stream.push("\x80z"), "😀z");
  EXPECT_EQ(stream.push("\xF0\x9F"), "");
  EXPECT_EQ(stream.push("b"), "<0xF0><0x9F>b");
}

TEST(Utf8Stream, AnIncompleteEndIsShownAsBytes) {
  for (std::size_t limit = 1; limit <= 6; ++limit) {
    const std::string cut = std::string("ab😀").substr(0, limit);
    const std::vector<std::string> expected = {"a", "ab", "ab<0xF0>", "ab<0xF0><0x9F>", "ab<0xF0><0x9F><0x98>", "ab😀"};
    EXPECT_EQ(streamed(cut, 1), expected[limit - 1]);
  }
}

TEST(Utf8Stream, IsEmptyAgainAfterFinish) {
  Utf8Stream stream;
  stream.push("\xE2");
  EXPECT_EQ(stream.finish(), "<0xE2>");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(stream.push("a"), "a");
}

TEST(Utf8Stream, RandomBytesGiveTheSameTextInPiecesOfEverySize) {
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string bytes;
    for (int k = 0; k < 60; ++k) {
      // Lead and continuation bytes much more often than chance would have them.
      const unsigned kind = random() % 4;
      bytes += static_cast<char>(kind == 0 ? random() % 128 : kind == 1 ? 0xC0 + random() % 64 : 0x80 + random() % 64);
    }
    const std::string whole = streamed(bytes, bytes.size());
    EXPECT_EQ(first_invalid_byte(whole), std::string::npos);
    for (std::size_t piece = 1; piece <= 6; ++piece) EXPECT_EQ(streamed(bytes, piece), whole);
  }
}

TEST(Utf8Stream, EveryTokenOfAByteTokenizerAppearsSomewhere) {
  const auto tokenizer = make_byte_tokenizer();
  const std::string text = "grüße 😀";
  Utf8Stream stream;
  std::string shown;
  for (const std::int32_t token : tokenizer->encode(text)) shown += stream.push(tokenizer->bytes(token));
  EXPECT_EQ(shown + stream.finish(), text);
}

TEST(Utf8, RefusesOverlongSurrogateAndHugeForms) {
  const std::vector<std::string> wrong = {"\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",     "\xED\xA0\x80",
                                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80"};
  for (const std::string& bytes : wrong) EXPECT_EQ(first_invalid_byte("ok" + bytes), 2U);
  const std::vector<std::string> right = {"\xC2\x80",     "\xE0\xA0\x80",     "\xED\x9F\xBF",
                                          "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"};
  for (const std::string& bytes : right) EXPECT_EQ(first_invalid_byte(bytes), std::string::npos);
  EXPECT_EQ(first_invalid_byte("ab\xE2\x82"), 2U) << "an incomplete end is not valid";
}

TEST(Utf8, CharacterStartNeverCutsACharacter) {
  const std::string text = "a😀b";
  const std::vector<std::size_t> expected = {0, 1, 1, 1, 1, 5, 6};
  for (std::size_t at = 0; at < expected.size(); ++at) EXPECT_EQ(character_start(text, at), expected[at]);
}

}  // namespace
}  // namespace engine::data
