// The states that probes look at, and the exchange of carried states, against parallel passes without any cache.
#include "engine/probe_reading.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/error.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::AnswerTokens;
using engine::download_matrix;
using engine::kAllPositions;
using engine::PrefillCondition;
using engine::ProbePrompt;
using engine::ProbeReading;
using support::relative_difference;
using support::TestModel;
using support::Tokens;

constexpr double kTolerance = 5e-5;  // rounding grows over recurrent steps

/// Two lengths in mixed order, one last token, labels of both kinds, two groups a slice.
std::vector<ProbePrompt> mixed_prompts(std::int64_t vocab) {
  std::vector<ProbePrompt> prompts;
  for (std::int64_t n = 0; n < 12; ++n) {
    Tokens tokens = support::random_tokens(n % 3 == 0 ? 5 : 7, vocab, static_cast<std::uint64_t>(n) + 1);
    tokens.back() = 4;
    prompts.push_back({tokens, static_cast<int>(n % 2), n % 4, 0});
  }
  return prompts;
}

/// Passes over one sequence in which the last positions are fused and the others keep their inputs of pass 1.
class ParallelReader {
 public:
  explicit ParallelReader(TestModel& test) : runner_(*test.backend, test.parameters), backend_(*test.backend) {}

  /// Residuals [D] of the last position, depth by depth.
  std::vector<std::vector<float>> residuals(const Tokens& tokens, std::int64_t recurrent) {
    std::vector<std::vector<float>> result;
    engine::StackHooks keep;
    keep.on_residual = [&](std::int64_t, engine::Variable residual) {
      const auto value = runner_.value(residual);
      result.push_back(download_matrix(backend_, value.row_range(value.rows - 1, 1)));
    };
    runner_.begin(tokens, support::places(tokens.size()));
    runner_.plain_pass(recurrent == 0 ? keep : engine::StackHooks{});
    const auto count = static_cast<std::int64_t>(tokens.size());
    const std::int64_t passes = std::min(recurrent, count - 1);
    const Tokens fused = support::flags_after(static_cast<std::size_t>(count - passes), tokens.size());
    for (std::int64_t pass = 1; pass <= passes; ++pass) {
      runner_.feedback_pass(fused, pass == passes ? keep : engine::StackHooks{}, /*plain_as_in_pass1=*/true);
    }
    return result;
  }

  /// Carried states [T,D] after a plain pass.
  std::vector<float> plain_states(const Tokens& tokens) {
    runner_.begin(tokens, support::places(tokens.size()));
    runner_.plain_pass();
    return download_matrix(backend_, runner_.carried());
  }

  /// The answer after a prompt whose last token reads `state` instead of the state before it.
  int answer(const Tokens& prompt, const std::vector<float>& state, const AnswerTokens& answers) {
    const Tokens tokens = support::joined(prompt, answers.shared);
    runner_.begin(tokens, support::places(tokens.size()));
    runner_.plain_pass();
    const Tokens fused = support::flags_after(prompt.size() - 1, tokens.size());
    engine::Arena arena(backend_);
    for (std::size_t pass = 0; pass <= answers.shared.size(); ++pass) {
      std::vector<float> states = download_matrix(backend_, runner_.carried());
      std::copy(state.begin(), state.end(),
                states.begin() + static_cast<std::ptrdiff_t>((prompt.size() - 2) * state.size()));
      const auto dim = static_cast<std::int64_t>(state.size());
      runner_.feedback_pass(fused, {}, true, engine::upload_matrix(backend_, arena, states, dim));
    }
    const auto logits = runner_.logits({static_cast<std::int32_t>(tokens.size()) - 1});
    const auto at = [&](std::int32_t token) { return logits[static_cast<std::size_t>(token)]; };
    return at(answers.one) > at(answers.zero) ? 1 : 0;
  }

 private:
  engine::PassRunner runner_;
  kernels::Backend& backend_;
};

class ProbeReadingTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  ProbeReading read(const std::vector<ProbePrompt>& prompts, const PrefillCondition& condition,
                    const AnswerTokens& answers = {{}, 1, 2}) {
    return read_prompts(*test_.backend, test_.parameters, prompts, answers, condition, 3);
  }
  std::vector<float> state_of(const ProbeReading& reading, std::size_t depth, std::size_t prompt) const {
    const auto dim = static_cast<std::ptrdiff_t>(config_.dim);
    const auto first = reading.states[depth].begin() + static_cast<std::ptrdiff_t>(prompt) * dim;
    return {first, first + dim};
  }

  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};
};

TEST_P(ProbeReadingTest, StatesEqualThoseOfParallelPasses) {
  const auto prompts = mixed_prompts(config_.vocab);
  ParallelReader parallel(test_);
  for (const PrefillCondition& condition : engine::prefill_conditions()) {
    const ProbeReading reading = read(prompts, condition);
    ASSERT_EQ(reading.states.size(), static_cast<std::size_t>(config_.layers) + 1);
    for (std::size_t n = 0; n < prompts.size(); ++n) {
      const auto expected = parallel.residuals(prompts[n].tokens, condition.recurrent);
      for (std::size_t depth = 0; depth < expected.size(); ++depth) {
        EXPECT_LE(relative_difference(state_of(reading, depth, n), expected[depth]), kTolerance)
            << condition.name << ", prompt " << n << ", depth " << depth;
      }
    }
  }
}

TEST_P(ProbeReadingTest, TheLayerZeroInputIsOneConstantInStandardAlone) {
  const auto prompts = mixed_prompts(config_.vocab);
  const ProbeReading standard = read(prompts, {"standard", 0});
  const ProbeReading recurrent = read(prompts, {"recurrent-1", 1});
  for (std::size_t n = 1; n < prompts.size(); ++n) {
    EXPECT_EQ(state_of(standard, 0, n), state_of(standard, 0, 0));
    const auto top = static_cast<std::size_t>(config_.layers);
    EXPECT_NE(state_of(standard, top, n), state_of(standard, top, 0));
    EXPECT_NE(state_of(recurrent, 0, n), state_of(recurrent, 0, 0));
  }
}

/// Slices of two prompts leave one donor each: of the other label in even slices, of the same label in odd ones.
TEST_P(ProbeReadingTest, AnswersWithAnotherPromptsStateEqualThoseOfParallelPasses) {
  std::vector<ProbePrompt> prompts;
  for (std::int64_t n = 0; n < 40; ++n) {
    Tokens tokens = support::random_tokens(6, config_.vocab, static_cast<std::uint64_t>(n) + 50);
    tokens.back() = 4;
    const std::int64_t slice = n / 2;
    prompts.push_back({tokens, slice % 2 == 0 ? static_cast<int>(n % 2) : 1, n, slice});
  }
  ParallelReader parallel(test_);
  int changed = 0;
  for (const AnswerTokens& answers :
       {AnswerTokens{{}, 1, 2}, AnswerTokens{{3}, 5, 0}, AnswerTokens{{}, 6, 9}, AnswerTokens{{}, 8, 10}}) {
    const ProbeReading reading = read(prompts, {"recurrent-1", 1}, answers);
    for (std::size_t n = 0; n < prompts.size(); ++n) {
      const auto dim = static_cast<std::ptrdiff_t>(config_.dim);
      const auto state = [&](std::size_t prompt) {
        const std::vector<float> all = parallel.plain_states(prompts[prompt].tokens);
        return std::vector<float>(all.end() - 2 * dim, all.end() - dim);
      };
      const int expected = parallel.answer(prompts[n].tokens, state(n ^ 1U), answers);
      const bool other = prompts[n].slice % 2 == 0;
      EXPECT_EQ(reading.with_other_label[n], other ? expected : -1) << n;
      EXPECT_EQ(reading.with_same_label[n], other ? -1 : expected) << n;
      EXPECT_EQ(reading.answer[n], parallel.answer(prompts[n].tokens, state(n), answers)) << n;
      changed += expected != reading.answer[n] ? 1 : 0;
    }
  }
  EXPECT_GT(changed, 0) << "some answer must follow the state, or the comparison says little";
}

INSTANTIATE_TEST_SUITE_P(Configs, ProbeReadingTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

class ProbeReadingDetailsTest : public ::testing::Test {
 protected:
  engine::ModelConfig config_ = support::tiny_config();
  TestModel test_{config_};
};

TEST_F(ProbeReadingDetailsTest, NoGroupGivesAStateToItself) {
  std::vector<ProbePrompt> prompts = mixed_prompts(config_.vocab);
  for (ProbePrompt& prompt : prompts) prompt.group = 7;
  const ProbeReading reading =
      read_prompts(*test_.backend, test_.parameters, prompts, {{}, 1, 2}, {"full", kAllPositions}, 1);
  EXPECT_EQ(reading.with_other_label, std::vector<int>(prompts.size(), -1));
  EXPECT_EQ(reading.with_same_label, std::vector<int>(prompts.size(), -1));
}

TEST_F(ProbeReadingDetailsTest, ManyPromptsReadLikeEachAlone) {
  std::vector<ProbePrompt> prompts;
  for (std::int64_t n = 0; n < 700; ++n) {
    prompts.push_back({support::random_tokens(4 + n % 2, config_.vocab, static_cast<std::uint64_t>(n)), 0, n, 0});
  }
  std::vector<std::int64_t> progress;
  const PrefillCondition condition{"recurrent-2", 2};
  const auto all = read_prompts(*test_.backend, test_.parameters, prompts, {{}, 1, 2}, condition, 1,
                                [&](std::int64_t done) { progress.push_back(done); });
  EXPECT_GT(progress.size(), 2U) << "more than one batch a length";
  EXPECT_EQ(progress.back(), 700);
  for (const std::size_t n : {0U, 1U, 333U, 698U, 699U}) {
    const auto alone = read_prompts(*test_.backend, test_.parameters, {prompts[n]}, {{}, 1, 2}, condition, 1);
    const auto first = all.states[2].begin() + static_cast<std::ptrdiff_t>(n) * config_.dim;
    EXPECT_LE(relative_difference(alone.states[2], std::vector<float>(first, first + config_.dim)), 1e-5) << n;
    EXPECT_EQ(alone.answer[0], all.answer[n]);
  }
}

TEST_F(ProbeReadingDetailsTest, StopsWhenAskedAndRefusesOneToken) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(read_prompts(*test_.backend, test_.parameters, mixed_prompts(config_.vocab), {{}, 1, 2}, {"standard", 0},
                            1, {}, source.get_token()),
               engine::Cancelled);
  EXPECT_THROW(read_prompts(*test_.backend, test_.parameters, {{{3}, 0, 0, 0}}, {{}, 1, 2}, {"standard", 0}, 1),
               engine::ConfigError);
}

TEST_F(ProbeReadingDetailsTest, SteppingBackBeforeThePromptIsRefused) {
  engine::BatchDecoder decoder(*test_.backend, test_.parameters);
  decoder.prefill({{1, 2, 3}}, engine::DecodeMode::soft, 1);
  engine::Arena arena(*test_.backend);
  const auto state = engine::upload_matrix(*test_.backend, arena, support::random_floats(config_.dim, 1), config_.dim);
  EXPECT_THROW(decoder.step_back(4, state), engine::Error);
}

}  // namespace
