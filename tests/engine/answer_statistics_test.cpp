// Accuracy, pass@k, length caps and paired counts of many answers.
#include "engine/answer_statistics.h"

#include <gtest/gtest.h>

#include <fstream>

#include "engine/error.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::Answer;
using engine::DecodeMode;
using engine::EvaluationSettings;
using engine::StopReason;

/// A model of noise that knows the words of a task: its answers have all lengths and are seldom right.
class NoisyModel {
 public:
  NoisyModel()
      : task_(engine::data::make_task(
            nlohmann::json::parse(R"({"name": "memory", "numerals": 12, "distractors": [0, 2]})"), 0.3)),
        questions_(engine::task_questions(*task_, 3, 11)),
        model_(checkpoint(), "cpu", 1) {}

  std::vector<Answer> answers(DecodeMode mode, const EvaluationSettings& wanted) {
    EvaluationSettings settings = wanted;
    settings.mode = mode;
    return engine::answer_questions(model_, questions_, settings);
  }
  const std::vector<engine::Question>& questions() const { return questions_; }
  const engine::data::Tokenizer& tokenizer() const { return model_.tokenizer(); }

 private:
  engine::Checkpoint checkpoint() const {
    engine::Checkpoint checkpoint;
    const auto tokenizer = engine::data::make_symbol_tokenizer(task_->symbols());
    checkpoint.config = support::tiny_config();
    checkpoint.config.vocab = tokenizer->vocab();
    checkpoint.model = support::noisy_tensors(checkpoint.config, 2);
    checkpoint.tokenizer = tokenizer->to_json();
    return checkpoint;
  }

  std::unique_ptr<engine::data::Task> task_;
  std::vector<engine::Question> questions_;
  engine::InferenceModel model_;
};

EvaluationSettings sampled(std::int64_t max_tokens, std::int64_t samples = 1) {
  EvaluationSettings settings;
  settings.sampler.temperature = 1.5F;
  settings.sampler.seed = 9;
  settings.max_tokens = max_tokens;
  settings.samples = samples;
  return settings;
}

std::vector<std::vector<std::int32_t>> ids(const std::vector<Answer>& answers) {
  std::vector<std::vector<std::int32_t>> result;
  for (const Answer& answer : answers) result.push_back(answer.ids);
  return result;
}

TEST(AnswerQuestionsTest, TheNumberOfRowsAtOnceChangesNoAnswer) {
  NoisyModel model;
  EvaluationSettings settings = sampled(12, 3);
  settings.rows_at_once = 64;
  const auto whole = model.answers(DecodeMode::soft, settings);
  ASSERT_EQ(whole.size(), 33U);
  for (const std::int64_t rows : {1, 4, 11}) {
    settings.rows_at_once = rows;
    EXPECT_EQ(ids(model.answers(DecodeMode::soft, settings)), ids(whole)) << rows;
  }
}

TEST(AnswerQuestionsTest, FirstSamplesDoNotDependOnHowManyAreDrawn) {
  NoisyModel model;
  const auto one = ids(model.answers(DecodeMode::standard, sampled(6)));
  auto three = ids(model.answers(DecodeMode::standard, sampled(6, 3)));
  EXPECT_NE(std::vector(three.begin() + 11, three.begin() + 22), one) << "samples draw for themselves";
  three.resize(11);
  EXPECT_EQ(three, one);
}

TEST(AnswerQuestionsTest, TheModesShareTheirRandomNumbers) {
  NoisyModel model;
  const auto standard = model.answers(DecodeMode::standard, sampled(6, 2));
  const auto soft = model.answers(DecodeMode::soft, sampled(6, 2));
  for (std::size_t i = 0; i < standard.size(); ++i) EXPECT_EQ(standard[i].ids[0], soft[i].ids[0]) << i;
  EXPECT_NE(ids(standard), ids(soft));
}

/// A shorter cap looked like shorter answers; every figure is given at the same cap, as if it had been run with it.
TEST(AccuracyAtCapsTest, ALongRunAtACapIsTheRunWithThatCap) {
  NoisyModel model;
  const auto whole = model.answers(DecodeMode::standard, sampled(40, 4));
  const auto at_caps = engine::accuracy_at_caps(whole, model.questions(), model.tokenizer(), {1, 3, 10, 40});
  for (const auto& at_cap : at_caps) {
    SCOPED_TRACE(at_cap.cap);
    const auto run = engine::summarize(model.answers(DecodeMode::standard, sampled(at_cap.cap, 4)), 4);
    EXPECT_NEAR(at_cap.accuracy.value, run.accuracy, 1e-12);
    EXPECT_EQ(at_cap.capped, run.capped);
    EXPECT_EQ(at_cap.accuracy.rows, 11);
  }
  EXPECT_GT(at_caps.front().capped, at_caps.back().capped) << "some answers must end by themselves";
  EXPECT_GT(at_caps.back().accuracy.value, 0) << "some answers must be right";
}

Answer answer(std::int64_t tokens, StopReason stop, bool correct = false) {
  Answer result;
  result.tokens = tokens;
  result.stop = stop;
  result.correct = correct;
  return result;
}

TEST(LengthHistogramTest, CappedAnswersAreMarkedAndEveryAnswerCounts) {
  const std::vector<Answer> answers = {answer(1, StopReason::end_of_text), answer(5, StopReason::end_of_text),
                                       answer(9, StopReason::end_of_text), answer(10, StopReason::length_cap),
                                       answer(10, StopReason::length_cap), answer(10, StopReason::end_of_text)};
  const auto fine = engine::length_histogram(answers, 10);
  ASSERT_EQ(fine.size(), 10U);
  EXPECT_EQ(fine[4].finished, 1);
  EXPECT_EQ(fine[9].finished, 1);
  EXPECT_EQ(fine[9].capped, 2);
  const auto coarse = engine::length_histogram(answers, 10, 3);
  ASSERT_EQ(coarse.size(), 3U);
  EXPECT_EQ(coarse[1].first, 5);
  EXPECT_EQ(coarse[1].last, 8);
  EXPECT_EQ(coarse[2].last, 10);
  EXPECT_EQ(coarse[2].finished, 2);
  EXPECT_EQ(coarse[2].capped, 2);
}

TEST(PassAtKTest, IsTheShareOfDrawsThatHoldARightAnswer) {
  EXPECT_DOUBLE_EQ(engine::pass_at_k(5, 2, 1), 0.4);
  EXPECT_DOUBLE_EQ(engine::pass_at_k(5, 2, 2), 1 - 3.0 / 10.0);  // three of the ten pairs hold none
  EXPECT_DOUBLE_EQ(engine::pass_at_k(5, 2, 4), 1);
  EXPECT_DOUBLE_EQ(engine::pass_at_k(5, 0, 5), 0);
  EXPECT_NEAR(engine::pass_at_k(200, 1, 100), 0.5, 1e-12);
  EXPECT_THROW(engine::pass_at_k(5, 2, 6), engine::ConfigError);
}

TEST(PassAtKTest, SamplesOfAQuestionBelongTogether) {
  // Question 0: right, right. Question 1: wrong, wrong. Question 2: wrong, right.
  const auto stop = StopReason::end_of_text;
  const std::vector<Answer> answers = {answer(1, stop, true), answer(1, stop, false), answer(1, stop, false),
                                       answer(1, stop, true), answer(1, stop, false), answer(1, stop, true)};
  const auto result = engine::pass_at_each_k(answers, 2);
  ASSERT_EQ(result.size(), 2U);
  EXPECT_NEAR(result[0].share.value, 0.5, 1e-12);
  EXPECT_NEAR(result[1].share.value, 2.0 / 3.0, 1e-12);
  EXPECT_EQ(result[1].share.rows, 3);
  const auto summary = engine::summarize(answers, 2);
  EXPECT_EQ(summary.rows, 3);
  EXPECT_NEAR(summary.accuracy, 0.5, 1e-12);
  EXPECT_NEAR(summary.accuracy_error, std::sqrt(0.5) / 3, 1e-12) << "questions are the units, not answers";
}

/// All right on a few rows is not certainty: a standard error of 0 would say so.
TEST(SummaryTest, TheIntervalStaysOpenWhereAllIsRight) {
  const auto summary = engine::summarize(std::vector<Answer>(32, answer(2, StopReason::end_of_text, true)));
  EXPECT_EQ(summary.accuracy_error, 0);
  EXPECT_NEAR(summary.accuracy_low, 32 / (32 + 1.959964 * 1.959964), 1e-9);
  EXPECT_NEAR(summary.accuracy_high, 1, 1e-12);
  std::vector<Answer> mixed(20, answer(2, StopReason::end_of_text, true));
  mixed.resize(32, answer(2, StopReason::end_of_text, false));
  const auto some = engine::summarize(mixed);
  for (const double end : {some.accuracy_low, some.accuracy_high}) {  // where the score test just rejects
    EXPECT_NEAR(std::abs(20.0 / 32 - end), 1.959964 * std::sqrt(end * (1 - end) / 32), 1e-9);
  }
}

TEST(McNemarTest, IsTheExactTwoSidedBinomialTest) {
  // scipy.stats.binomtest(min(a, b), a + b).pvalue
  EXPECT_NEAR(engine::exact_mcnemar(1, 9), 0.021484375, 1e-12);
  EXPECT_NEAR(engine::exact_mcnemar(9, 1), 0.021484375, 1e-12);
  EXPECT_NEAR(engine::exact_mcnemar(12, 5), 0.143463134765625, 1e-12);
  EXPECT_DOUBLE_EQ(engine::exact_mcnemar(4, 4), 1);
  EXPECT_DOUBLE_EQ(engine::exact_mcnemar(0, 0), 1);
  EXPECT_NEAR(engine::exact_mcnemar(470, 530), 0.062, 1e-3);
}

/// The same gap: with pairs that agree it is clear, independent error bars would call it noise.
TEST(PairedCountsTest, PairsTellWhatIndependentErrorBarsCannot) {
  std::vector<Answer> first;
  std::vector<Answer> second;
  for (int q = 0; q < 100; ++q) {
    first.push_back(answer(1, StopReason::end_of_text, q < 50));
    second.push_back(answer(1, StopReason::end_of_text, q < 58));
  }
  const auto counts = engine::paired_counts(first, second, 100);
  EXPECT_EQ(counts.both, 50);
  EXPECT_EQ(counts.only_first, 0);
  EXPECT_EQ(counts.only_second, 8);
  EXPECT_EQ(counts.neither, 42);
  EXPECT_NEAR(counts.p_value, 2 * std::pow(0.5, 8), 1e-12);
  EXPECT_NEAR(counts.difference.value, 0.08, 1e-12);
  EXPECT_LT(counts.difference.error, 0.03);
  EXPECT_GT(std::hypot(engine::summarize(first).accuracy_error, engine::summarize(second).accuracy_error), 0.06);
}

TEST(RowMeanTest, RowsAreTheUnitsOfTheError) {
  engine::RowMean numbers;
  for (const double x : {1.0, 2.0, 4.0, 9.0}) numbers.add_row(x, 1);
  EXPECT_DOUBLE_EQ(numbers.estimate().value, 4);
  EXPECT_NEAR(numbers.estimate().error, std::sqrt(38.0 / 3 / 4), 1e-12);
  engine::RowMean repeated;  // the same rows with each number ten times know no more
  for (const double x : {1.0, 2.0, 4.0, 9.0}) repeated.add_row(10 * x, 10);
  repeated.add_row(123, 0);
  EXPECT_NEAR(repeated.estimate().error, numbers.estimate().error, 1e-12);
  EXPECT_EQ(repeated.estimate().counts, 40);
  engine::RowMean one;
  one.add_row(5, 1);
  EXPECT_TRUE(std::isnan(one.estimate().error)) << "one row has no spread, which is not a spread of 0";
}

TEST(JsonlQuestionsTest, AnAnswerIsAWholeWord) {
  const auto file = std::filesystem::temp_directory_path() / "fullband-questions.jsonl";
  std::ofstream(file) << R"({"prompt": "p", "answer": " 3\n"})"
                      << "\n";
  const auto questions = engine::jsonl_questions(file.string());
  std::filesystem::remove(file);
  EXPECT_EQ(questions[0].example.completion, " 3\n");
  EXPECT_TRUE(questions[0].correct("1 + 2 = 3 \n"));
  EXPECT_FALSE(questions[0].correct("10 + 3 = 13"));
}

}  // namespace
