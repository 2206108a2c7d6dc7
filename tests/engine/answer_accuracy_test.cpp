// Right answers place by place: the readings against each other on a model filled with noise.
#include "engine/answer_accuracy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::Estimate;

constexpr std::int64_t kDigits = 6;
constexpr std::int64_t kRows = 70;  // more than are read at once

class AnswerAccuracyTest : public testing::Test {
 protected:
  AnswerAccuracyTest() {
    engine::DataConfig data;
    data.tasks = nlohmann::json::parse(
        R"([{"name": "running-sum", "supervision": "hidden", "min_length": 6, "max_length": 6}])");
    data.seq = 15;
    const auto source = engine::data::make_batch_source(data);
    rows_ = source->validation(0, kRows);
    engine::Checkpoint checkpoint;
    checkpoint.config = support::tiny_config();
    checkpoint.config.vocab = source->tokenizer().vocab();
    checkpoint.model = support::noisy_tensors(checkpoint.config, 2);
    checkpoint.tokenizer = source->tokenizer().to_json();
    model_ = std::make_unique<engine::InferenceModel>(checkpoint, "cpu", 1);
  }

  std::vector<Estimate> read(const engine::RowReading& reading) { return accuracy_by_answer(*model_, rows_, reading); }

  engine::data::Batch rows_;
  std::unique_ptr<engine::InferenceModel> model_;
};

std::vector<double> values_of(const std::vector<Estimate>& estimates) {
  std::vector<double> values;
  for (const Estimate& estimate : estimates) values.push_back(estimate.value);
  return values;
}

TEST_F(AnswerAccuracyTest, EnoughPassesReadAsTheRecurrenceDoes) {
  const auto recurrent = read({"full", true, 1, 0});
  ASSERT_EQ(recurrent.size(), static_cast<std::size_t>(kDigits + 1)) << "after each digit and after \"makes\"";
  EXPECT_EQ(recurrent[0].rows, kRows);
  EXPECT_EQ(values_of(recurrent), values_of(read({"fused", false, 1, 14})));
  const auto standard = values_of(read({"standard", false, 1, 0}));
  EXPECT_NE(values_of(recurrent), standard) << "the feedback of a model of noise must count";
  for (const double value : standard) EXPECT_TRUE(value >= 0 && value <= 1);
}

TEST_F(AnswerAccuracyTest, APlainPromptIsReadAsInStandardAndNotMeasuredBefore) {
  const auto soft = read({"soft", true, 7, 0});  // four tokens before three digits
  const auto standard = read({"standard", false, 1, 0});
  EXPECT_TRUE(std::isnan(soft[0].value) && std::isnan(soft[1].value));
  EXPECT_EQ(soft[0].rows, 0);
  EXPECT_DOUBLE_EQ(soft[2].value, standard[2].value);
  const auto whole = read({"soft", true, 5 + kDigits, 0});
  EXPECT_DOUBLE_EQ(whole.back().value, standard.back().value);
}

TEST_F(AnswerAccuracyTest, EveryRowSaysExactlyOneToken) {
  for (const engine::RowReading& reading : {engine::RowReading{"standard", false, 1, 0}, {"full", true, 1, 0}}) {
    double shares = 0;
    for (std::int32_t token = 0; token < model_->config().vocab; ++token) {
      for (std::int64_t row = 0; row < kRows; ++row)
        rows_.targets[static_cast<std::size_t>(row * rows_.seq + 6)] = token;
      shares += read(reading)[2].value;
    }
    EXPECT_NEAR(shares, 1, 1e-9) << reading.name;
  }
}

TEST_F(AnswerAccuracyTest, RowsMustHaveTheSameAnswers) {
  rows_.answer[static_cast<std::size_t>(rows_.seq + 5)] = 0;
  EXPECT_THROW(read({"standard", false, 1, 0}), engine::ShapeError);
}

}  // namespace
