// Loss and accuracy against the number of fused prefill passes.
#include "engine/prefill_scaling.h"

#include <gtest/gtest.h>

#include "engine/error.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using support::Tokens;

/// The negative log-likelihood of a continuation, from decoding without a cache.
double uncached_nll(support::TestModel& test, const Tokens& prompt, const Tokens& completion, int passes) {
  const auto mode = passes == 0 ? engine::DecodeMode::soft : engine::DecodeMode::fused;
  const auto logits = support::UncachedDecoder(test, prompt, {completion.begin(), completion.end() - 1})
                          .logits(mode, std::max(1, passes));
  double nll = 0;
  for (std::size_t i = 0; i < completion.size(); ++i) {
    double sum = 0;
    for (std::size_t v = 0; v < 11; ++v) sum += std::exp(double{logits[i * 11 + v]});
    nll += std::log(sum) - double{logits[i * 11 + static_cast<std::size_t>(completion[i])]};
  }
  return nll;
}

TEST(CompletionNllTest, IsThatOfDecodingWithoutACacheAfterAnyNumberOfPasses) {
  support::TestModel test(support::tiny_config());
  engine::BatchDecoder decoder(*test.backend, test.parameters);
  const std::vector<Tokens> prompts = {{1, 2, 3, 4, 5}, {6, 7}};
  const std::vector<Tokens> completions = {{8, 0}, {3, 3, 10, 2}};
  std::vector<double> before;
  for (int passes = 0; passes <= 3; ++passes) {
    const auto nll = completion_nll(decoder, *test.backend, prompts, completions, passes);
    for (std::size_t r = 0; r < prompts.size(); ++r) {
      EXPECT_NEAR(nll[r], uncached_nll(test, prompts[r], completions[r], passes), 1e-4)
          << passes << " passes, row " << r;
    }
    if (passes < 3 && !before.empty()) {
      EXPECT_GT(std::abs(nll[0] - before[0]), 1e-4) << "a pass must count";
    }
    before = nll;
  }
}

TEST(PrefillScalingTest, PointsCarryLossChangeAndAccuracyOfTheirPasses) {
  const auto task = engine::data::make_task(
      nlohmann::json::parse(R"({"name": "memory", "numerals": 12, "distractors": [0, 2]})"), 0.3);
  const auto tokenizer = engine::data::make_symbol_tokenizer(task->symbols());
  engine::Checkpoint checkpoint;
  checkpoint.config = support::tiny_config();
  checkpoint.config.vocab = tokenizer->vocab();
  checkpoint.model = support::noisy_tensors(checkpoint.config, 2);
  checkpoint.tokenizer = tokenizer->to_json();
  engine::InferenceModel model(checkpoint, "cpu", 1);
  const auto questions = engine::task_questions(*task, 3, 9);
  engine::PrefillSettings settings;
  settings.most_passes = 2;
  settings.max_tokens = 8;
  settings.rows_at_once = 4;
  const auto points = engine::measure_prefill_scaling(model, questions, settings);
  ASSERT_EQ(points.size(), 3U);
  EXPECT_TRUE(std::isnan(points[0].loss_change.value));
  for (int passes = 0; passes <= 2; ++passes) {
    SCOPED_TRACE(passes);
    const auto& point = points[static_cast<std::size_t>(passes)];
    EXPECT_EQ(point.fused_passes, passes);
    EXPECT_EQ(point.loss.rows, 9);
    EXPECT_GT(point.loss.error, 0);
    engine::EvaluationSettings answers;
    answers.mode = passes == 0 ? engine::DecodeMode::soft : engine::DecodeMode::fused;
    answers.fused_prefill_passes = std::max(1, passes);
    answers.max_tokens = 8;
    const auto summary = engine::summarize(engine::answer_questions(model, questions, answers));
    EXPECT_NEAR(point.accuracy.value, summary.accuracy, 1e-12);
    EXPECT_EQ(point.capped, summary.capped);
  }
  EXPECT_NEAR(points[1].loss_change.value, points[1].loss.value - points[0].loss.value, 1e-9);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(engine::measure_prefill_scaling(model, questions, settings, {}, source.get_token()), engine::Cancelled);
}

}  // namespace
