#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>

#include "engine/data/batch_source.h"
#include "engine/error.h"

namespace engine::data {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

/// A folder of its own for each test, with a name that is not ASCII.
class TextBatches : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    folder_ = fs::temp_directory_path() / ("fullband 模型 ünï " + std::to_string(getpid()) + name);
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  static DataConfig text_config(const std::string& path, std::int64_t seq = 16) {
    DataConfig config;
    config.text = path;
    config.tokenizer = "byte";
    config.seq = seq;
    return config;
  }

  static DataConfig jsonl_config(const std::string& path, std::int64_t seq = 64) {
    DataConfig config = text_config("", seq);
    config.jsonl = path;
    return config;
  }

  fs::path folder_;
};

/// Words that tell their place: no two windows of eight letters are alike.
std::string numbered_words(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += "w" + std::to_string(100000 + i) + " ";
  return text;
}

std::string text_of(const BatchSource& source, const Batch& batch, std::int64_t row) {
  std::string text;
  const auto begin = static_cast<std::size_t>(row * batch.seq);
  const auto length = static_cast<std::size_t>(batch.row_length[static_cast<std::size_t>(row)]);
  for (std::size_t i = begin; i < begin + length; ++i) {
    const std::int32_t token = batch.tokens[i];
    text += token == source.tokenizer().end_of_text() ? "|" : source.tokenizer().bytes(token);
  }
  return text;
}

std::string error_of(const DataConfig& config) {
  try {
    make_batch_source(config);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(TextBatches, TheEndOfTheFileIsHeldOutWhole) {
  const std::string text = numbered_words(0, 500);
  const auto source = make_batch_source(text_config(write("a.txt", text)));
  const std::size_t cut = text.size() * 9 / 10;
  for (std::int64_t step = 0; step < 200; ++step) {
    const Batch batch = source->training(3, step, 8);
    for (std::int64_t row = 0; row < 8; ++row) {
      EXPECT_EQ(batch.row_length[static_cast<std::size_t>(row)], 16);
      const std::size_t found = text.find(text_of(*source, batch, row));
      ASSERT_NE(found, std::string::npos);
      EXPECT_LT(found + 16, cut + 1) << "the row, and the target after it, must end before the held-out text";
    }
  }
  std::string held;
  const std::int64_t tiles = static_cast<std::int64_t>(text.size() - cut + 15) / 16;
  for (std::int64_t row = 0; row < tiles; ++row) held += text_of(*source, source->validation(row, 1), 0);
  EXPECT_EQ(held, text.substr(cut) + (held.back() == '|' ? "|" : ""));
}

TEST_F(TextBatches, EveryNextTokenIsATarget) {
  const std::string text = numbered_words(0, 200);
  DataConfig config = text_config(write("a.txt", text));
  config.other_weight = 0.5;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(1, 0, 10);
  for (std::int64_t row = 0; row < 10; ++row) {
    const std::size_t found = text.find(text_of(*source, batch, row));
    for (std::size_t t = 0; t < 16; ++t) {
      const std::size_t i = static_cast<std::size_t>(row) * 16 + t;
      EXPECT_EQ(batch.targets[i], static_cast<unsigned char>(text[found + t + 1]));
      EXPECT_EQ(batch.positions[i], static_cast<std::int32_t>(t));
      EXPECT_EQ(batch.weights[i], 0.5F);
      EXPECT_EQ(batch.answer[i], 0);
    }
  }
}

TEST_F(TextBatches, WindowsReachEveryPlaceOfTheTrainingText) {
  const std::string text = numbered_words(0, 20);
  const auto source = make_batch_source(text_config(write("a.txt", text)));
  std::set<std::size_t> places;
  for (std::int64_t step = 0; step < 200; ++step) {
    const Batch batch = source->training(3, step, 8);
    for (std::int64_t row = 0; row < 8; ++row) places.insert(text.find(text_of(*source, batch, row)));
  }
  const std::size_t kept = text.size() * 9 / 10;
  EXPECT_EQ(places.size(), kept - 16);
  EXPECT_EQ(*places.begin(), 0U);
}

TEST_F(TextBatches, AFolderIsReadInOrderOfItsPaths) {
  write("corpus/b.txt", numbered_words(0, 50));
  write("corpus/sub/a.txt", numbered_words(50, 50));
  write("corpus/.hidden", "\xFF");
  write("corpus/.git/x", "\xFF");
  const auto source = make_batch_source(text_config((folder_ / "corpus").string()));
  std::string held;
  for (std::int64_t row = 0; row < 6; ++row) held += text_of(*source, source->validation(row, 1), 0);
  EXPECT_THAT(held, HasSubstr("w100049 |"));
  EXPECT_THAT(held, HasSubstr("w100099 |"));
  EXPECT_LT(held.find("w100049"), held.find("w100099"));
}

TEST_F(TextBatches, ShortFilesStandWholeAndCanBePacked) {
  for (int i = 0; i < 40; ++i) write("corpus/" + std::to_string(i), "f" + std::to_string(100 + i));
  write("corpus/long", numbered_words(0, 20));
  DataConfig config = text_config((folder_ / "corpus").string(), 24);
  config.packing = true;
  const auto source = make_batch_source(config);
  bool several = false;
  for (std::int64_t step = 0; step < 20; ++step) {
    const Batch batch = source->training(1, step, 4);
    for (std::int64_t row = 0; row < 4; ++row) {
      int documents = 0;
      for (std::size_t t = 0; t < static_cast<std::size_t>(batch.row_length[static_cast<std::size_t>(row)]); ++t) {
        const std::size_t i = static_cast<std::size_t>(row) * 24 + t;
        EXPECT_FALSE(batch.positions[i] == 0 && t > 0 && batch.targets[i - 1] != -1);
        documents += batch.positions[i] == 0 ? 1 : 0;
      }
      several = several || documents > 2;
    }
  }
  EXPECT_TRUE(several);
}

TEST_F(TextBatches, AreFunctionsOfSeedAndStep) {
  const auto source = make_batch_source(text_config(write("a.txt", numbered_words(0, 300))));
  const Batch second = source->training(1, 2, 8);
  const Batch first = source->training(1, 1, 8);
  EXPECT_EQ(source->training(1, 2, 8).tokens, second.tokens);
  EXPECT_NE(first.tokens, second.tokens);
  EXPECT_NE(source->training(2, 1, 8).tokens, first.tokens);
}

TEST_F(TextBatches, ACutNeverSplitsACharacter) {
  std::string text;
  for (int i = 0; i < 101; ++i) text += "模😀";
  for (const double share : {0.05, 0.1, 0.111, 0.3}) {
    DataConfig config = text_config(write("a.txt", text), 64);
    config.validation_share = share;
    const auto source = make_batch_source(config);
    const std::string held = text_of(*source, source->validation(0, 1), 0);
    EXPECT_NE(static_cast<unsigned char>(held[0]) & 0xC0, 0x80);
  }
}

TEST_F(TextBatches, SentencePieceLearnsFromTheTrainingTextAlone) {
  std::mt19937 random(2);
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += std::string(1, static_cast<char>('a' + random() % 5)) + (i % 3 == 0 ? " " : "e");
  DataConfig config = text_config(write("a.txt", text + std::string(400, 'z') + " zzzz"));
  config.tokenizer = "sentencepiece-bpe";
  config.tokenizer_vocab = 300;
  const auto source = make_batch_source(config);
  EXPECT_EQ(source->tokenizer().vocab(), 300);
  for (std::int32_t token = 0; token < 300; ++token) {
    EXPECT_EQ(source->tokenizer().bytes(token).find("zz"), std::string::npos);
  }
}

TEST_F(TextBatches, NamesFileAndByteOfWhatCannotBeRead) {
  EXPECT_THAT(error_of(text_config((folder_ / "missing.txt").string())), HasSubstr("missing.txt"));
  EXPECT_THAT(error_of(text_config(write("empty.txt", ""))), HasSubstr("empty.txt: this file is empty"));
  const std::string message = error_of(text_config(write("latin1.txt",
                                                         "one\ntwo\ngr\xFC\xDF"
                                                         "e")));
  EXPECT_THAT(message, HasSubstr("latin1.txt: line 3: byte 10 (<0xFC>) is not valid UTF-8"));
  fs::create_directories(folder_ / "nothing");
  EXPECT_THAT(error_of(text_config((folder_ / "nothing").string())), HasSubstr("has no files"));
  EXPECT_THAT(error_of(text_config(write("tiny.txt", "ab"))), HasSubstr("data.text: the text is too short"));
}

TEST_F(TextBatches, RefusesSettingsThatFitNoText) {
  DataConfig config = text_config(write("a.txt", numbered_words(0, 300)));
  config.tokenizer = "symbols";
  EXPECT_THAT(error_of(config), HasSubstr("data.tokenizer: symbols are the words of tasks"));
  config.tokenizer = "byte";
  config.other_weight = 0.0;
  EXPECT_THAT(error_of(config), HasSubstr("data.other_weight"));
}

TEST_F(TextBatches, TheHashFollowsTheBytes) {
  const std::string path = write("a.txt", numbered_words(0, 300));
  const std::string hash = make_batch_source(text_config(path))->data_hash();
  EXPECT_EQ(make_batch_source(text_config(write("b.txt", numbered_words(0, 300))))->data_hash(), hash);
  EXPECT_NE(make_batch_source(text_config(write("c.txt", numbered_words(0, 299) + "w100299x")))->data_hash(), hash);
}

std::string jsonl_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += nlohmann::json({{"id", i}, {"text", "document " + std::to_string(i / 2)}}).dump() + "\n";
  return text;
}

TEST_F(TextBatches, EqualDocumentsStayOnOneSide) {
  const auto source = make_batch_source(jsonl_config(write("a.jsonl", jsonl_lines(200))));
  std::set<std::string> held;
  for (std::int64_t row = 0; row < 20; ++row) held.insert(text_of(*source, source->validation(row, 1), 0));
  EXPECT_EQ(held.size(), 10U) << "a tenth of 100 different documents";
  std::set<std::string> trained;
  for (std::int64_t step = 0; step < 200; ++step) {
    const Batch batch = source->training(1, step, 8);
    for (std::int64_t row = 0; row < 8; ++row) trained.insert(text_of(*source, batch, row));
  }
  EXPECT_EQ(trained.size(), 90U);
  for (const std::string& document : trained) {
    EXPECT_EQ(held.count(document), 0U);
    EXPECT_EQ(document.back(), '|');
  }
}

TEST_F(TextBatches, LongDocumentsAreSeenInWindows) {
  const std::string text = numbered_words(0, 60);
  const std::string lines =
      nlohmann::json({{"text", text}}).dump() + "\n\n" + nlohmann::json({{"text", "short one"}}).dump();
  DataConfig config = jsonl_config(write("a.jsonl", lines), 32);
  config.validation_share = 0.5;
  const auto source = make_batch_source(config);
  for (std::int64_t step = 0; step < 20; ++step) {
    for (const std::int64_t length : source->training(1, step, 4).row_length) EXPECT_LE(length, 32);
  }
}

TEST_F(TextBatches, AnotherFieldCanBeNamed) {
  std::string lines;
  for (int i = 0; i < 30; ++i) lines += R"({"text": 5, "body": "b)" + std::to_string(i) + "\"}\r\n";
  DataConfig config = jsonl_config(write("a.jsonl", lines));
  config.jsonl_field = "body";
  EXPECT_EQ(text_of(*make_batch_source(config), make_batch_source(config)->training(1, 0, 1), 0)[0], 'b');
}

TEST_F(TextBatches, NamesTheLineOfWhatIsWrong) {
  const auto error = [&](const std::string& line) {
    return error_of(jsonl_config(write("a.jsonl", jsonl_lines(3) + "\n" + line + "\n" + jsonl_lines(2))));
  };
  EXPECT_THAT(error("{\"text\": "), HasSubstr("a.jsonl: line 5: this is not valid JSON"));
  EXPECT_THAT(error("[1]"), HasSubstr("line 5: this is not an object"));
  EXPECT_THAT(error(R"({"body": "x"})"), HasSubstr("line 5: there is no member \"text\""));
  EXPECT_THAT(error(R"({"text": 5})"), HasSubstr("line 5: the member \"text\" is not a text"));
  EXPECT_THAT(error(R"({"text": ""})"), HasSubstr("line 5: the member \"text\" is empty"));
  EXPECT_THAT(error("{\"text\": \"\xFF\"}"), HasSubstr("line 5: byte "));
  EXPECT_THAT(error_of(jsonl_config(write("b.jsonl", ""))), HasSubstr("this file is empty"));
  EXPECT_THAT(error_of(jsonl_config(write("c.jsonl", "\n\n"))), HasSubstr("data.jsonl: only 0 different documents"));
  EXPECT_THAT(error_of(jsonl_config(write("d.jsonl", "{\"text\": \"only\"}\n"))), HasSubstr("data.jsonl: only 1 "));
}

}  // namespace
}  // namespace engine::data
