#include "engine/data/tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/error.h"

namespace engine::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string random_bytes(std::mt19937& random, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(random() & 255U);
  return bytes;
}

/// Text with everything that is awkward: several scripts, runs of spaces, tabs, the trainer's own marks.
std::string awkward_text(std::mt19937& random) {
  static const std::vector<std::string> kPieces = {"the cat ",
                                                   "  ",
                                                   "\n",
                                                   "\t",
                                                   "\xE2\x96\x81",
                                                   "\xE2\x96\x85",
                                                   "<0x41>",
                                                   "</s>",
                                                   "<unk>",
                                                   "1234",
                                                   "ünï",
                                                   "模型",
                                                   "\xF0\x9F\x98\x80",
                                                   std::string("\0", 1),
                                                   "\r\n",
                                                   "\xEF\xBF\xBD",
                                                   "e\xCC\x81",
                                                   "\xE2\x80\x8B",
                                                   "\xC2\xA0",
                                                   "\xFF",
                                                   "\xE2\x96",
                                                   "\xED\xA0\x80"};
  std::string text;
  for (int i = 0; i < 40; ++i) text += kPieces[random() % kPieces.size()];
  return text;
}

/// Words of random syllables, so that there is much to learn.
std::string training_text() {
  static const std::vector<std::string> kSyllables = {"ca", "tor", "mi", "len", "bru", "sha", "no", "vek", "ün", "模"};
  std::mt19937 random(1);
  std::string text = "The cat sat on the mat, and then the cat sat there.\n";
  for (int i = 0; i < 2000; ++i) {
    for (unsigned k = 1 + random() % 4; k > 0; --k) text += kSyllables[random() % kSyllables.size()];
    text += i % 9 == 8 ? " the cat sat\n" : " ";
  }
  return text;
}

std::shared_ptr<const Tokenizer> trained(const std::string& type) {
  static const std::shared_ptr<const Tokenizer> kBpe = train_sentencepiece(training_text(), "bpe", 340);
  static const std::shared_ptr<const Tokenizer> kUnigram = train_sentencepiece(training_text(), "unigram", 340);
  return type == "bpe" ? kBpe : kUnigram;
}

template <typename Action>
std::string config_error(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ByteTokenizer, HasAllBytesAndEndOfText) {
  const auto tokenizer = make_byte_tokenizer();
  EXPECT_EQ(tokenizer->vocab(), 257);
  EXPECT_EQ(tokenizer->end_of_text(), 256);
  EXPECT_THAT(tokenizer->encode("a\xFF"), ElementsAre(97, 255));
  EXPECT_EQ(tokenizer->bytes(256), "");
  EXPECT_EQ(tokenizer->label(256), "<eot>");
  EXPECT_EQ(tokenizer->label(0xE2), "<0xE2>");
  EXPECT_EQ(tokenizer->label('x'), "x");
}

TEST(ByteTokenizer, RandomBytesComeBack) {
  const auto tokenizer = make_byte_tokenizer();
  std::mt19937 random(5);
  for (std::size_t size = 0; size < 300; ++size) {
    const std::string bytes = random_bytes(random, size);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
  }
}

TEST(SymbolTokenizer, TakesTheLongestSymbol) {
  const auto tokenizer = make_symbol_tokenizer({" 1", " 12", "2", "3", "123", "\n"});
  EXPECT_THAT(tokenizer->encode(" 12 123\n 1123"), ElementsAre(1, 1, 3, 5, 0, 4));
}

TEST(SymbolTokenizer, KeepsTheOrderAndAppendsEndOfText) {
  const auto tokenizer = make_symbol_tokenizer({"b", "a", "ab"});
  EXPECT_EQ(tokenizer->vocab(), 4);
  EXPECT_EQ(tokenizer->end_of_text(), 3);
  EXPECT_THAT(tokenizer->encode("abba"), ElementsAre(2, 0, 1));
  EXPECT_EQ(tokenizer->label(2), "ab");
  EXPECT_EQ(tokenizer->label(3), "<eot>");
  EXPECT_EQ(tokenizer->bytes(3), "");
}

TEST(SymbolTokenizer, QuotesTheFirstUnknownPiece) {
  const auto tokenizer = make_symbol_tokenizer({"yes", " "});
  const std::string message = config_error([&] { static_cast<void>(tokenizer->encode("yes no")); });
  EXPECT_THAT(message, HasSubstr("\"no\""));
  EXPECT_THAT(message, HasSubstr("byte 4"));
}

TEST(SymbolTokenizer, RefusesEmptyRepeatedAndBrokenSymbols) {
  EXPECT_THROW(make_symbol_tokenizer({"a", ""}), FormatError);
  EXPECT_THROW(make_symbol_tokenizer({"a", "a"}), FormatError);
  EXPECT_THROW(make_symbol_tokenizer({"\xE2"}), FormatError);
}

class SentencePiece : public ::testing::TestWithParam<std::string> {};

TEST_P(SentencePiece, LearnsPiecesOfTheTextAndShortensIt) {
  const auto tokenizer = trained(GetParam());
  const std::string text = "The cat sat on the mat";
  EXPECT_EQ(tokenizer->vocab(), 340);
  EXPECT_LT(tokenizer->encode(text).size(), text.size() * 2 / 3);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

TEST_P(SentencePiece, AwkwardTextComesBackByteForByte) {
  const auto tokenizer = trained(GetParam());
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const std::string text = awkward_text(random);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
}

TEST_P(SentencePiece, RandomBytesComeBackByteForByte) {
  const auto tokenizer = trained(GetParam());
  std::mt19937 random(11);
  for (std::size_t size = 0; size < 200; ++size) {
    const std::string bytes = random_bytes(random, size);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(bytes)), bytes);
  }
}

TEST_P(SentencePiece, NeverYieldsEndOfTextOrUnknown) {
  const auto tokenizer = trained(GetParam());
  std::mt19937 random(13);
  for (int i = 0; i < 100; ++i) {
    for (const std::int32_t token : tokenizer->encode(awkward_text(random))) {
      EXPECT_NE(token, tokenizer->end_of_text());
      EXPECT_FALSE(tokenizer->bytes(token).empty());
    }
  }
}

TEST_P(SentencePiece, TrainingIsDeterministic) {
  const auto again = train_sentencepiece(training_text(), GetParam(), 340);
  EXPECT_EQ(again->to_json(), trained(GetParam())->to_json());
}

TEST_P(SentencePiece, LongLinesAreRead) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "word" + std::to_string(i % 7) + " ünï ";
  const auto tokenizer = train_sentencepiece(text, GetParam(), 274);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
}

TEST_P(SentencePiece, NamesTheVocabularyThatIsPossible) {
  const auto train = [&](std::int64_t vocab) {
    return config_error([&] { train_sentencepiece("aaa bbb ccc\nabc abc\n", GetParam(), vocab); });
  };
  const std::string large = train(4000);
  EXPECT_THAT(large, HasSubstr("data.tokenizer_vocab: the text is too small for 4000 pieces; use at most "));
  const std::int64_t most = std::stoll(large.substr(large.rfind(' ')));
  EXPECT_EQ(train(most), "no error");
  const std::string small = train(10);
  EXPECT_THAT(small, HasSubstr("data.tokenizer_vocab: 10 pieces are too few"));
  const std::int64_t least = std::stoll(small.substr(small.rfind(' ')));
  EXPECT_GT(least, 256);
}

TEST_P(SentencePiece, TextWithoutWordsIsAConfigError) {
  EXPECT_THAT(config_error([&] { train_sentencepiece("", GetParam(), 300); }), HasSubstr("data.tokenizer_vocab"));
  EXPECT_THAT(config_error([&] { train_sentencepiece("\n\n\n", GetParam(), 300); }), HasSubstr("data.tokenizer_vocab"));
}

TEST_P(SentencePiece, WritesNothing) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  config_error([&] { train_sentencepiece("a b c", GetParam(), 5000); });
  train_sentencepiece(training_text(), GetParam(), 320);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

INSTANTIATE_TEST_SUITE_P(Types, SentencePiece, ::testing::Values("bpe", "unigram"),
                         [](const auto& parameter) { return parameter.param; });

TEST(TokenizerJson, EveryKindComesBackTheSame) {
  const std::string text = "The cat 12";
  const std::vector<std::shared_ptr<const Tokenizer>> tokenizers = {
      make_byte_tokenizer(), make_symbol_tokenizer({"The", " cat", " ", "1", "2"}), trained("bpe"), trained("unigram")};
  for (const auto& tokenizer : tokenizers) {
    const nlohmann::json saved = nlohmann::json::parse(tokenizer->to_json().dump());
    const auto loaded = tokenizer_from_json(saved);
    EXPECT_EQ(loaded->kind(), tokenizer->kind());
    EXPECT_EQ(loaded->vocab(), tokenizer->vocab());
    EXPECT_EQ(loaded->end_of_text(), tokenizer->end_of_text());
    EXPECT_EQ(loaded->encode(text), tokenizer->encode(text));
    EXPECT_EQ(loaded->to_json(), tokenizer->to_json());
  }
}

TEST(TokenizerJson, RefusesWhatItDidNotWrite) {
  const std::vector<std::string> broken = {R"([])",
                                           R"({})",
                                           R"({"kind": 3})",
                                           R"({"kind": "wordpiece"})",
                                           R"({"kind": "symbols"})",
                                           R"({"kind": "symbols", "symbols": [1]})",
                                           R"({"kind": "symbols", "symbols": ["a", "a"]})",
                                           R"({"kind": "sentencepiece"})",
                                           R"({"kind": "sentencepiece", "model": ""})",
                                           R"({"kind": "sentencepiece", "model": "0"})",
                                           R"({"kind": "sentencepiece", "model": "zz"})",
                                           R"({"kind": "sentencepiece", "model": "00ff00ff"})"};
  for (const std::string& text : broken)
    EXPECT_THROW(tokenizer_from_json(nlohmann::json::parse(text)), FormatError) << text;
}

TEST(TokenizerJson, DamagedModelsAreRefusedOrHarmless) {
  const nlohmann::json saved = trained("bpe")->to_json();
  std::mt19937 random(17);
  for (int i = 0; i < 200; ++i) {
    nlohmann::json damaged = saved;
    std::string model = saved["model"].get<std::string>();
    for (int k = 0; k < 4; ++k) model[random() % model.size()] = "0123456789abcdef"[random() % 16];
    if (i % 4 == 0) model.resize(random() % model.size());
    damaged["model"] = model;
    try {
      const auto tokenizer = tokenizer_from_json(damaged);
      for (std::int32_t token = -2; token < tokenizer->vocab() + 2; ++token) static_cast<void>(tokenizer->label(token));
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr("tokenizer"));
    }
  }
}

TEST(TokenizerLabels, OutOfRangeTokensAreHarmless) {
  const std::vector<std::shared_ptr<const Tokenizer>> tokenizers = {make_byte_tokenizer(), make_symbol_tokenizer({"a"}),
                                                                    trained("bpe")};
  for (const auto& tokenizer : tokenizers) {
    for (const std::int32_t token : {-1, static_cast<std::int32_t>(tokenizer->vocab()), 1 << 30}) {
      EXPECT_EQ(tokenizer->bytes(token), "");
      EXPECT_EQ(tokenizer->label(token).front(), '<');
    }
  }
}

}  // namespace
}  // namespace engine::data
