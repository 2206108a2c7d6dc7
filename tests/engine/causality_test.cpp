// What may depend on what: no position sees the future in any pass, documents of a packed row do not see each other,
// and padding is seen by nothing.
#include <gtest/gtest.h>

#include "engine/pass_runner.h"
#include "engine/stability.h"
#include "engine/validation.h"
#include "tests/engine/support/pass_probe.h"

namespace {

using engine::data::Batch;
using support::make_batch;
using support::OracleTask;
using support::random_document;
using support::TestDocument;
using support::TestModel;

constexpr int kPasses = 4;

/// Carried states [kPasses][N*D] of pass 1 and feedback passes with everything fused that may be.
std::vector<std::vector<float>> carried_states(TestModel& test, const Batch& batch) {
  const auto fused = engine::fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
  engine::PassRunner runner(*test.backend, test.parameters);
  runner.begin(batch.tokens, batch.positions);
  std::vector<std::vector<float>> states;
  for (int pass = 0; pass < kPasses; ++pass) {
    if (pass == 0) {
      runner.plain_pass();
    } else {
      runner.feedback_pass(fused);
    }
    states.push_back(engine::download_matrix(*test.backend, runner.carried()));
  }
  return states;
}

bool position_moved(const std::vector<float>& a, const std::vector<float>& b, std::int64_t n, std::int64_t dim) {
  const auto begin = static_cast<std::size_t>(n * dim);
  return !std::equal(a.begin() + static_cast<std::ptrdiff_t>(begin),
                     a.begin() + static_cast<std::ptrdiff_t>(begin) + dim,
                     b.begin() + static_cast<std::ptrdiff_t>(begin));
}

class CausalityTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = GetParam().config;
};

TEST_P(CausalityTest, AChangedTokenMovesOnlyItselfAndLaterPositions) {
  constexpr std::int64_t kLength = 7;
  TestModel test(config_);
  Batch batch = make_batch({{random_document(kLength, config_.vocab, 4)}}, kLength);
  const auto before = carried_states(test, batch);
  for (std::int64_t t = 0; t < kLength; ++t) {
    Batch changed = batch;
    std::int32_t& token = changed.tokens[static_cast<std::size_t>(t)];
    token = (token + 1) % static_cast<std::int32_t>(config_.vocab);
    const auto after = carried_states(test, changed);
    for (std::size_t pass = 0; pass < kPasses; ++pass) {
      for (std::int64_t n = 0; n < kLength; ++n) {
        const bool moved = position_moved(before[pass], after[pass], n, config_.dim);
        SCOPED_TRACE("pass " + std::to_string(pass + 1) + ", token " + std::to_string(t) + ", position " +
                     std::to_string(n));
        if (n < t) {
          EXPECT_FALSE(moved);
        } else if (n <= t + 1) {  // the next one through attention or the carried state, in every pass
          EXPECT_TRUE(moved);
        }
      }
    }
  }
}

/// Losses, carried states and gradients of packed documents against those of rows of their own.
TEST_P(CausalityTest, PackedDocumentsGiveTheNumbersOfRowsOfTheirOwn) {
  const TestDocument a = random_document(3, config_.vocab, 1);
  const TestDocument b = random_document(4, config_.vocab, 2);
  const TestDocument c = random_document(2, config_.vocab, 3);
  OracleTask packed;
  packed.config = config_;
  packed.passes = 3;
  packed.batch = make_batch({{a, b, c}}, 9);
  OracleTask apart = packed;
  apart.batch = make_batch({{a}, {b}, {c}}, 4);
  for (OracleTask* task : {&packed, &apart}) {
    const auto plain = std::vector<std::int64_t>(static_cast<std::size_t>(task->batch.rows), 1);
    task->fused.assign(2, engine::fused_flags(task->batch, plain));
  }
  TestModel test(config_);
  const auto together = support::run_task(test, packed);
  const auto alone = support::run_task(test, apart);
  EXPECT_LE(support::relative_difference(together.losses, alone.losses), 1e-6);
  for (std::size_t i = 0; i < alone.gradients.size(); ++i) {
    EXPECT_LE(support::relative_difference(together.gradients[i].values, alone.gradients[i].values), 1e-5)
        << alone.gradients[i].name;
  }
  const std::vector<std::size_t> place = {0, 1, 2, 4, 5, 6, 7, 8, 9};  // where the packed positions stand when apart
  const auto states_together = carried_states(test, packed.batch);
  const auto states_alone = carried_states(test, apart.batch);
  const auto dim = static_cast<std::size_t>(config_.dim);
  for (std::size_t pass = 0; pass < kPasses; ++pass) {
    for (std::size_t n = 0; n < place.size(); ++n) {
      for (std::size_t i = 0; i < dim; ++i) {
        EXPECT_NEAR(states_together[pass][n * dim + i], states_alone[pass][place[n] * dim + i], 2e-5)
            << "pass " << pass + 1 << ", position " << n;
      }
    }
  }
}

TEST_P(CausalityTest, PaddingMovesNoNumberOfTraining) {
  TestModel test(config_);
  OracleTask task = support::sample_task(config_, 3);
  task.batch = make_batch({{random_document(3, config_.vocab, 1)}, {random_document(6, config_.vocab, 2)}}, 7, 0);
  for (auto& flags : task.fused) flags = engine::fused_flags(task.batch, {1, 2});
  const auto before = support::run_task(test, task);
  task.batch = make_batch({{random_document(3, config_.vocab, 1)}, {random_document(6, config_.vocab, 2)}}, 7, 9);
  for (auto& jitter : task.jitter) {  // the noise of padded states is padding as well
    for (std::int64_t n : {3, 4, 5, 6, 13}) jitter[static_cast<std::size_t>(n * config_.dim)] += 1.0F;
  }
  const auto after = support::run_task(test, task);
  EXPECT_EQ(before.losses, after.losses);
  EXPECT_EQ(before.nll, after.nll);
  for (std::size_t i = 0; i < before.gradients.size(); ++i) {
    EXPECT_LE(support::relative_difference(after.gradients[i].values, before.gradients[i].values), 1e-6)
        << before.gradients[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(Options, CausalityTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

/// Held-out rows that are the same but for their padding.
class PaddedSource : public engine::data::BatchSource {
 public:
  explicit PaddedSource(std::int32_t padding) : padding_(padding), tokenizer_(engine::data::make_byte_tokenizer()) {}
  [[nodiscard]] const engine::data::Tokenizer& tokenizer() const override { return *tokenizer_; }
  [[nodiscard]] Batch training(std::uint64_t, std::int64_t, std::int64_t) const override { return {}; }
  [[nodiscard]] Batch validation(std::int64_t first, std::int64_t rows) const override {
    std::vector<std::vector<TestDocument>> documents;
    for (std::int64_t row = first; row < first + rows; ++row) {
      documents.push_back({random_document(2 + row % 4, 11, 40 + static_cast<std::uint64_t>(row))});
    }
    Batch batch = make_batch(documents, 7, padding_);
    for (std::size_t n = 0; n < batch.answer.size(); ++n) batch.answer[n] = batch.targets[n] >= 0 ? 1 : 0;
    return batch;
  }
  [[nodiscard]] std::string data_hash() const override { return ""; }

 private:
  std::int32_t padding_;
  std::unique_ptr<engine::data::Tokenizer> tokenizer_;
};

TEST(ValidationTest, PaddingMovesNoReportedNumberAndChunksDoNotMatter) {
  TestModel test(support::tiny_config());
  const auto run = [&](std::int32_t padding, std::int64_t chunk) {
    return validate(*test.backend, test.parameters, PaddedSource(padding), 9, 3, chunk);
  };
  const auto expected = run(0, 9);
  ASSERT_EQ(expected.pass_loss.size(), 3U);
  for (const auto& other : {run(7, 9), run(3, 4), run(10, 1)}) {
    EXPECT_EQ(other.rows, 9);
    EXPECT_LE(support::relative_difference(other.pass_loss, expected.pass_loss), 1e-6);
    EXPECT_LE(support::relative_difference(other.pass_error, expected.pass_error), 1e-5);
    EXPECT_EQ(other.pass_accuracy, expected.pass_accuracy);
  }
}

TEST(ValidationTest, IsTheMeanOverTargetsWithTheErrorOfRowMeans) {
  TestModel test(support::tiny_config());
  const PaddedSource source(0);
  const auto got = validate(*test.backend, test.parameters, source, 5, 2, 2);
  OracleTask task;
  task.config = support::tiny_config();
  task.passes = 2;
  task.batch = source.validation(0, 5);
  for (float& weight : task.batch.weights) weight = weight > 0 ? 1.0F : 0.0F;  // every scored target counts once
  task.fused = {engine::fused_flags(task.batch, {1, 1, 1, 1, 1})};
  const auto tensors = support::noisy_tensors(task.config, 1);
  EXPECT_LE(support::relative_difference(got.pass_loss, support::run_oracle(task, tensors).losses), 1e-6);
  double sum = 0;
  double squares = 0;
  for (std::int64_t row = 0; row < 5; ++row) {
    OracleTask one = task;
    one.batch = source.validation(row, 1);
    for (float& weight : one.batch.weights) weight = weight > 0 ? 1.0F : 0.0F;
    one.fused = {engine::fused_flags(one.batch, {1})};
    const double loss = support::run_oracle(one, tensors).losses[1];
    sum += loss;
    squares += loss * loss;
  }
  EXPECT_NEAR(got.pass_error[1], std::sqrt((squares / 5 - sum * sum / 25) / 4), 1e-5);
}

TEST(StabilityPaddingTest, PaddingMovesNoUnpaddedPosition) {
  TestModel test(support::tiny_config());
  const auto run = [&](std::int32_t padding) {
    const Batch batch = make_batch({{random_document(3, 11, 1)}, {random_document(5, 11, 2)}}, 6, padding);
    return measure_stability(*test.backend, test.parameters, batch, 3);
  };
  const auto a = run(0);
  const auto b = run(8);
  EXPECT_EQ(a.nll, b.nll);
  for (std::size_t f = 0; f < 3; ++f) {
    for (const std::size_t n : {0U, 1U, 2U, 6U, 7U, 8U, 9U, 10U}) EXPECT_EQ(a.update[f][n], b.update[f][n]);
  }
}

}  // namespace
