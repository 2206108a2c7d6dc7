#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/data/batch_source.h"
#include "engine/data/task.h"
#include "engine/error.h"

namespace engine::data {
namespace {

using ::testing::HasSubstr;

DataConfig tasks_config(const std::string& tasks, std::int64_t seq = 44) {
  DataConfig config;
  config.tasks = nlohmann::json::parse(tasks);
  config.seq = seq;
  return config;
}

DataConfig demo() { return tasks_config(R"([{"name": "completion"}, {"name": "memory"}])"); }

std::string error_of(const DataConfig& config) {
  try {
    make_batch_source(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

bool same(const Batch& a, const Batch& b) {
  return a.tokens == b.tokens && a.positions == b.positions && a.targets == b.targets && a.weights == b.weights &&
         a.answer == b.answer && a.row_length == b.row_length;
}

std::size_t at(const Batch& batch, std::int64_t row, std::int64_t t) {
  return static_cast<std::size_t>(row * batch.seq + t);
}

/// Text of the tokens first .. last - 1 of a row; end of text is "|".
std::string text_of(const BatchSource& source, const Batch& batch, std::int64_t row, std::int64_t first,
                    std::int64_t last) {
  std::string text;
  for (std::int64_t t = first; t < last; ++t) {
    const std::int32_t token = batch.tokens[at(batch, row, t)];
    text += token == source.tokenizer().end_of_text() ? "|" : source.tokenizer().bytes(token);
  }
  return text;
}

/// Checks what holds for every batch: targets are the next token of the same document, padding is scored by nothing.
void expect_consistent(const BatchSource& source, const Batch& batch, double answer_weight, double other_weight) {
  const std::int32_t end = source.tokenizer().end_of_text();
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    ASSERT_GE(length, 2);
    ASSERT_LE(length, batch.seq);
    for (std::int64_t t = 0; t < batch.seq; ++t) {
      const std::size_t i = at(batch, row, t);
      const bool starts = t < length && (t == 0 || batch.tokens[i - 1] == end);
      EXPECT_EQ(batch.positions[i], starts ? 0 : batch.positions[i - 1] + 1);
      if (t >= length) {
        EXPECT_EQ(batch.tokens[i], end);
      }
      if (t >= length || batch.tokens[i] == end) {
        EXPECT_EQ(batch.targets[i], -1);
        EXPECT_EQ(batch.weights[i], 0.0F);
        EXPECT_EQ(batch.answer[i], 0);
        continue;
      }
      ASSERT_LT(t + 1, length);
      EXPECT_EQ(batch.targets[i], batch.tokens[i + 1]);
      const bool after_answer = batch.tokens[i + 1] == end;
      const bool counts = batch.answer[i] == 1 || after_answer;
      EXPECT_FLOAT_EQ(batch.weights[i], static_cast<float>(counts ? answer_weight : other_weight));
      EXPECT_FALSE(after_answer && batch.answer[i] == 1);
    }
  }
}

TEST(TaskBatches, RowsAreExamplesWithTheAnswerMarked) {
  DataConfig config = demo();
  config.answer_weight = 2.0;
  config.other_weight = 0.25;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(3, 5, 64);
  EXPECT_EQ(batch.rows, 64);
  EXPECT_EQ(batch.seq, 44);
  expect_consistent(*source, batch, 2.0, 0.25);
  const std::set<std::string> answers = {" done|", " more|", " zero|", " one|"};
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    EXPECT_EQ(answers.count(text_of(*source, batch, row, length - 2, length)), 1U);
    EXPECT_EQ(text_of(*source, batch, row, length - 3, length - 2), ":");
    for (std::int64_t t = 0; t < length; ++t) EXPECT_EQ(batch.answer[at(batch, row, t)], t == length - 3 ? 1 : 0);
  }
}

TEST(TaskBatches, AreFunctionsOfSeedAndStep) {
  const auto source = make_batch_source(demo());
  const auto other = make_batch_source(demo());
  const Batch third = source->training(1, 3, 16);
  const Batch second = source->training(1, 2, 16);
  EXPECT_TRUE(same(other->training(1, 2, 16), second));
  EXPECT_TRUE(same(other->training(1, 3, 16), third));
  EXPECT_TRUE(same(source->training(1, 3, 16), third));
  EXPECT_FALSE(same(second, third));
  EXPECT_FALSE(same(source->training(2, 3, 16), third));
}

TEST(TaskBatches, NoStepRepeatsRowsOfTheOneBefore) {
  const auto source = make_batch_source(demo());
  const Batch first = source->training(1, 0, 16);
  const Batch second = source->training(1, 1, 16);
  int repeated = 0;
  for (std::int64_t row = 0; row + 1 < 16; ++row) {
    repeated += text_of(*source, first, row + 1, 0, 44) == text_of(*source, second, row, 0, 44) ? 1 : 0;
  }
  EXPECT_LE(repeated, 2);
}

TEST(TaskBatches, ValidationRowsAreNumbered) {
  const auto source = make_batch_source(demo());
  const Batch whole = source->validation(0, 32);
  const Batch part = source->validation(20, 8);
  for (std::int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(text_of(*source, part, row, 0, 44), text_of(*source, whole, 20 + row, 0, 44));
  }
}

TEST(TaskBatches, NoTrainingRowIsAValidationRow) {
  const auto source = make_batch_source(demo());
  std::set<std::string> held;
  const Batch validation = source->validation(0, 512);
  for (std::int64_t row = 0; row < 512; ++row) held.insert(text_of(*source, validation, row, 0, 44));
  for (std::int64_t step = 0; step < 60; ++step) {
    const Batch batch = source->training(4, step, 64);
    for (std::int64_t row = 0; row < 64; ++row) EXPECT_EQ(held.count(text_of(*source, batch, row, 0, 44)), 0U);
  }
}

TEST(TaskBatches, SharesDrawTheTasks) {
  const auto source =
      make_batch_source(tasks_config(R"([{"name": "completion", "share": 3}, {"name": "memory", "share": 1}])"));
  int completion = 0;
  for (std::int64_t step = 0; step < 40; ++step) {
    const Batch batch = source->training(9, step, 50);
    for (std::int64_t row = 0; row < 50; ++row) completion += text_of(*source, batch, row, 0, 1) == "required" ? 1 : 0;
  }
  EXPECT_NEAR(completion, 1500, 80);  // four standard deviations of 2,000 draws
}

TEST(TaskBatches, PackedRowsHoldWholeDocuments) {
  DataConfig config = tasks_config(R"([{"name": "completion"}, {"name": "memory"}])", 150);
  config.packing = true;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(3, 5, 40);
  expect_consistent(*source, batch, 1.0, 1.0);
  std::int64_t documents = 0;
  for (std::int64_t row = 0; row < 40; ++row) {
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    EXPECT_EQ(text_of(*source, batch, row, length - 1, length), "|");
    EXPECT_GT(length, 150 - 34) << "the longest example has 34 tokens, so a shorter row had room for one more";
    for (std::int64_t t = 0; t < length; ++t) documents += batch.positions[at(batch, row, t)] == 0 ? 1 : 0;
  }
  EXPECT_GT(documents, 40 * 4);
  EXPECT_TRUE(same(batch, source->training(3, 5, 40)));
}

TEST(TaskBatches, TotalsAfterEveryDigitAreAnswers) {
  DataConfig config = tasks_config(R"([{"name": "running-sum", "supervision": "every"}])");
  config.other_weight = 0.0;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(1, 0, 32);
  expect_consistent(*source, batch, 1.0, 0.0);
  for (std::int64_t row = 0; row < 32; ++row) {
    const std::string text = text_of(*source, batch, row, 0, 44);
    std::int64_t answers = 0;
    for (std::int64_t t = 0; t < 44; ++t) answers += batch.answer[at(batch, row, t)];
    EXPECT_EQ(answers, std::count(text.begin(), text.end(), '\n'));
  }
}

TEST(TaskBatches, HiddenTotalsAreTargetsOfTheDigitsButNoTokens) {
  DataConfig config =
      tasks_config(R"([{"name": "running-sum", "supervision": "hidden", "min_length": 3, "max_length": 6}])", 14);
  config.other_weight = 0.25;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(1, 0, 64);
  for (std::int64_t row = 0; row < 64; ++row) {
    const std::int64_t length = batch.row_length[static_cast<std::size_t>(row)];
    ASSERT_EQ(text_of(*source, batch, row, 0, 4), "Add modulo 3:");
    int total = 0;
    for (std::int64_t t = 0; t + 1 < length; ++t) {
      const bool digit = t >= 4 && t + 3 < length;  // then "makes", the total that is said, and end of text
      const std::string token = text_of(*source, batch, row, t, t + 1);
      if (digit) total = (total + std::stoi(token)) % 3;
      EXPECT_EQ(batch.answer[at(batch, row, t)], digit || token == " makes" ? 1 : 0);
      EXPECT_FLOAT_EQ(batch.weights[at(batch, row, t)], t < 4 ? 0.25F : 1.0F);
      const std::string next = source->tokenizer().bytes(batch.tokens[at(batch, row, t + 1)]);
      EXPECT_EQ(source->tokenizer().bytes(batch.targets[at(batch, row, t)]),
                digit ? " " + std::to_string(total) : next);
    }
  }
  config.tokenizer = "byte";
  config.seq = 60;
  EXPECT_THAT(error_of(config), HasSubstr("must be one token"));
}

TEST(TaskBatches, TracesAreWeightedAsOtherTokens) {
  DataConfig config = tasks_config(R"([{"name": "division-terse"}])", 80);
  config.other_weight = 0.5;
  const auto source = make_batch_source(config);
  const Batch batch = source->training(1, 0, 16);
  expect_consistent(*source, batch, 1.0, 0.5);
  for (std::int64_t row = 0; row < 16; ++row) {
    std::string answer;
    for (std::int64_t t = 0; t + 1 < 80; ++t) {
      if (batch.answer[at(batch, row, t)] == 1) answer += text_of(*source, batch, row, t + 1, t + 2);
    }
    EXPECT_THAT(text_of(*source, batch, row, 0, 80), HasSubstr("Answer: " + answer + "|"));
    EXPECT_THAT(answer, ::testing::StartsWith("0."));
  }
}

TEST(TaskBatches, TooLongExamplesArePassedOver) {
  const auto source = make_batch_source(tasks_config(R"([{"name": "completion", "distractors": [0, 30]}])", 20));
  const Batch batch = source->training(1, 0, 64);
  expect_consistent(*source, batch, 1.0, 1.0);
  for (const std::int64_t length : batch.row_length) EXPECT_EQ(length, 16);
}

TEST(TaskBatches, SaysWhenNothingFits) {
  const std::string message = error_of(tasks_config(R"([{"name": "completion", "distractors": [30]}])", 20));
  EXPECT_THAT(message, HasSubstr("data.seq"));
  EXPECT_THAT(message, HasSubstr("use at least 136"));
  EXPECT_EQ(error_of(tasks_config(R"([{"name": "completion", "distractors": [30]}])", 136)), "no error");
}

TEST(TaskBatches, EveryTokenizerReadsThem) {
  for (const std::string name : {"symbols", "byte", "sentencepiece-bpe", "sentencepiece-unigram"}) {
    DataConfig config = demo();
    config.seq = 200;
    config.tokenizer = name;
    config.tokenizer_vocab = 294;
    const auto source = make_batch_source(config);
    const Batch batch = source->training(1, 0, 8);
    expect_consistent(*source, batch, 1.0, 1.0);
    EXPECT_THAT(text_of(*source, batch, 0, 0, 200), HasSubstr("scratch = "));
  }
}

TEST(TaskBatches, AGivenTokenizerIsUsed) {
  const std::shared_ptr<const Tokenizer> bytes = make_byte_tokenizer();
  DataConfig config = demo();
  config.seq = 200;
  EXPECT_EQ(&make_batch_source(config, bytes)->tokenizer(), bytes.get());
  const std::shared_ptr<const Tokenizer> wrong = make_symbol_tokenizer({"a"});
  EXPECT_THROW(make_batch_source(config, wrong), ConfigError);
}

TEST(TaskBatches, TheHashTellsSettingsApart) {
  const std::string hash = make_batch_source(demo())->data_hash();
  EXPECT_EQ(hash.size(), 16U);
  EXPECT_EQ(make_batch_source(demo())->data_hash(), hash);
  DataConfig other = demo();
  other.validation_share = 0.2;
  EXPECT_NE(make_batch_source(other)->data_hash(), hash);
  EXPECT_NE(make_batch_source(tasks_config(R"([{"name": "completion"}])"))->data_hash(), hash);
}

TEST(TaskBatches, TheDemoFitsItsRowsAndIsFast) {
  const auto source = make_batch_source(demo());
  std::int64_t longest = 0;
  const auto begin = std::chrono::steady_clock::now();
  constexpr int kSteps = 100;
  for (int step = 0; step < kSteps; ++step) {
    for (const std::int64_t length : source->training(1, step, 64).row_length) longest = std::max(longest, length);
  }
  const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  EXPECT_EQ(longest, 34);
  // Measured 0.08 ms a step when optimised; the bound leaves room for sanitizers and a busy machine.
  EXPECT_LT(spent.count() / kSteps, 5.0);
}

TEST(BatchSource, ChecksTheSettings) {
  EXPECT_THAT(error_of(DataConfig()), HasSubstr("exactly one of data.tasks, data.text and data.jsonl"));
  DataConfig config = demo();
  config.text = "file.txt";
  EXPECT_THAT(error_of(config), HasSubstr("exactly one"));
  config = demo();
  config.seq = 1;
  EXPECT_THAT(error_of(config), HasSubstr("data.seq"));
  config = demo();
  config.answer_weight = -1.0;
  EXPECT_THAT(error_of(config), HasSubstr("data.answer_weight"));
  config.answer_weight = config.other_weight = 0.0;
  EXPECT_THAT(error_of(config), HasSubstr("nothing would be learned"));
  config = demo();
  config.tokenizer = "words";
  EXPECT_THAT(error_of(config), HasSubstr("data.tokenizer"));
  EXPECT_THAT(error_of(tasks_config(R"([{"name": "completion", "share": 0}])")), HasSubstr("data.tasks[0].share"));
  EXPECT_THAT(error_of(tasks_config(R"([{"name": "memory"}, {"name": "completion", "x": 0}])")),
              HasSubstr("data.tasks[1].x"));
  EXPECT_THAT(error_of(tasks_config(R"({"name": "memory"})")), HasSubstr("data.tasks"));
}

}  // namespace
}  // namespace engine::data
