// Cached decoding against the same decoding without a cache, and what the three modes share.
#include <gtest/gtest.h>

#include "engine/error.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::BatchDecoder;
using engine::DecodeMode;
using engine::download_matrix;
using engine::SamplerSettings;
using support::places;
using support::random_tokens;
using support::relative_difference;
using support::TestModel;
using support::Tokens;

constexpr double kTolerance = 5e-6;
constexpr double kRecurrenceTolerance = 5e-5;  // rounding grows over ten recurrent steps
constexpr DecodeMode kModes[] = {DecodeMode::standard, DecodeMode::soft, DecodeMode::fused};

class DecodingTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};
  Tokens prompt_ = random_tokens(5, config_.vocab, 1);
  Tokens continuation_ = random_tokens(6, config_.vocab, 2);

  std::vector<float> uncached(DecodeMode mode, int prefill_passes = 1) {
    return support::UncachedDecoder(test_, prompt_, continuation_).logits(mode, prefill_passes);
  }
  std::vector<float> cached(DecodeMode mode, int prefill_passes = 1) {
    return cached_logits(test_, prompt_, continuation_, mode, prefill_passes);
  }
  bool first_position_changes() const { return config_.norm_reading == engine::NormReading::listing3; }
};

TEST_P(DecodingTest, CachedEqualsUncachedInEveryMode) {
  for (const DecodeMode mode : kModes) {
    EXPECT_LE(relative_difference(cached(mode), uncached(mode)), kTolerance) << to_string(mode);
  }
}

TEST_P(DecodingTest, CachedEqualsUncachedAfterMoreFusedPrefillPasses) {
  for (const int passes : {2, 3}) {
    const auto got = cached(DecodeMode::fused, passes);
    EXPECT_LE(relative_difference(got, uncached(DecodeMode::fused, passes)), kTolerance) << passes;
    EXPECT_GT(relative_difference(got, cached(DecodeMode::fused, 1)), 1e-4) << "another pass must count";
  }
}

TEST_P(DecodingTest, TheModesDifferWhereTheyShould) {
  const auto standard = cached(DecodeMode::standard);
  const auto soft = cached(DecodeMode::soft);
  const auto fused = cached(DecodeMode::fused);
  const auto vocab = static_cast<std::ptrdiff_t>(config_.vocab);
  const auto first = [&](const std::vector<float>& logits) {
    return std::vector<float>(logits.begin(), logits.begin() + vocab);
  };
  EXPECT_EQ(first(soft), first(standard)) << "Soft's first token is Standard's";
  EXPECT_GT(relative_difference(first(fused), first(standard)), 1e-3);
  EXPECT_GT(relative_difference(soft, standard), 1e-3);
  EXPECT_GT(relative_difference(soft, fused), 1e-4);
}

/// A fused prefill that went after the plain one's cache would be twice as long and start at position T.
TEST_P(DecodingTest, FusedPrefillBuildsItsCacheFromPositionZero) {
  engine::PassRunner runner(*test_.backend, test_.parameters);
  runner.begin(prompt_, places(prompt_.size()));
  engine::Arena arena(*test_.backend);
  std::vector<engine::LayerCache> expected;
  const std::int64_t width = config_.kv_heads * config_.head_dim();
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    expected.push_back({arena.matrix(5, width), arena.matrix(5, width)});
  }
  engine::StackHooks store;
  store.cache = &expected;
  store.cache_rows = runner.keep_indices(places(5));
  runner.plain_pass();
  runner.feedback_pass(support::flags_after(1, 5), store);

  BatchDecoder decoder(*test_.backend, test_.parameters);
  decoder.prefill({prompt_}, DecodeMode::fused, 2);
  EXPECT_EQ(decoder.lengths(), (Tokens{5}));
  EXPECT_EQ(decoder.capacity(), 7);
  for (std::size_t layer = 0; layer < expected.size(); ++layer) {
    ASSERT_EQ(decoder.cache()[layer].key.rows, 7);
    for (const auto part : {&engine::LayerCache::key, &engine::LayerCache::value}) {
      EXPECT_LE(relative_difference(download_matrix(*test_.backend, (decoder.cache()[layer].*part).row_range(0, 5)),
                                    download_matrix(*test_.backend, expected[layer].*part)),
                1e-6);
    }
  }
  decoder.step({3});
  EXPECT_EQ(decoder.lengths(), (Tokens{6}));
}

TEST_P(DecodingTest, PositionZeroIsPlainInEveryMode) {
  BatchDecoder decoder(*test_.backend, test_.parameters);
  decoder.prefill({{prompt_[0]}}, DecodeMode::standard, 1);
  const auto standard = download_matrix(*test_.backend, decoder.logits());
  for (const int passes : {1, 4}) {
    decoder.prefill({{prompt_[0]}}, DecodeMode::fused, 1, passes);
    const auto fused = download_matrix(*test_.backend, decoder.logits());
    if (first_position_changes()) {
      EXPECT_GT(relative_difference(fused, standard), 1e-3) << "its plain input is another in feedback passes";
    } else {
      EXPECT_LE(relative_difference(fused, standard), 1e-6);
    }
  }
}

/// The recurrence, one position at a time; under listing3 from the plain input of feedback passes.
TEST_P(DecodingTest, EnoughParallelPassesEqualTheSequentialRecurrence) {
  const Tokens sequence = support::joined(prompt_, continuation_);
  const auto count = static_cast<std::int64_t>(sequence.size());
  BatchDecoder sequential(*test_.backend, test_.parameters);
  sequential.prefill({{sequence[0]}}, first_position_changes() ? DecodeMode::fused : DecodeMode::soft, count);
  for (std::size_t n = 1; n < sequence.size(); ++n) sequential.step({sequence[n]});

  BatchDecoder parallel(*test_.backend, test_.parameters);
  const int passes = static_cast<int>(count) - 1 + (first_position_changes() ? 1 : 0);
  parallel.prefill({sequence}, DecodeMode::fused, 1, passes);
  EXPECT_LE(relative_difference(download_matrix(*test_.backend, parallel.logits()),
                                download_matrix(*test_.backend, sequential.logits())),
            kRecurrenceTolerance);
  EXPECT_LE(relative_difference(download_matrix(*test_.backend, parallel.carried()),
                                download_matrix(*test_.backend, sequential.carried())),
            kRecurrenceTolerance);
  for (std::size_t layer = 0; layer < parallel.cache().size(); ++layer) {
    EXPECT_LE(relative_difference(download_matrix(*test_.backend, parallel.cache()[layer].key.row_range(0, count)),
                                  download_matrix(*test_.backend, sequential.cache()[layer].key.row_range(0, count))),
              kRecurrenceTolerance);
  }
}

TEST_P(DecodingTest, RowsOfDifferentLengthsEqualEachRowAlone) {
  const std::vector<Tokens> prompts = {random_tokens(1, config_.vocab, 7), random_tokens(6, config_.vocab, 8),
                                       random_tokens(3, config_.vocab, 9)};
  for (const DecodeMode mode : kModes) {
    BatchDecoder together(*test_.backend, test_.parameters);
    together.prefill(prompts, mode, 4, 2);
    std::vector<std::unique_ptr<BatchDecoder>> single;
    for (const Tokens& prompt : prompts) {
      single.push_back(std::make_unique<BatchDecoder>(*test_.backend, test_.parameters));
      single.back()->prefill({prompt}, mode, 4, 2);
    }
    for (std::int64_t step = 0; step < 4; ++step) {
      const auto tokens = random_tokens(3, config_.vocab, 20 + static_cast<std::uint64_t>(step));
      for (std::size_t row = 0; row < prompts.size(); ++row) {
        EXPECT_LE(relative_difference(
                      download_matrix(*test_.backend, together.logits().row_range(static_cast<std::int64_t>(row), 1)),
                      download_matrix(*test_.backend, single[row]->logits())),
                  kTolerance)
            << to_string(mode) << ", row " << row << ", step " << step;
        single[row]->step({tokens[row]});
      }
      together.step(tokens);
    }
    EXPECT_EQ(together.lengths(), (Tokens{5, 10, 7}));
  }
}

INSTANTIATE_TEST_SUITE_P(Options, DecodingTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

/// Ids that a decoder draws in one mode.
Tokens generate(kernels::Backend& backend, const engine::Parameters& parameters, DecodeMode mode,
                const SamplerSettings& sampler, std::int64_t count) {
  BatchDecoder decoder(backend, parameters);
  decoder.prefill({{1, 2, 3}}, mode, count);
  Tokens ids;
  for (std::int64_t i = 0; i < count; ++i) {
    ids.push_back(decoder.sample(sampler, i)[0].id);
    decoder.step({ids.back()});
  }
  return ids;
}

class SharedSamplerTest : public ::testing::TestWithParam<SamplerSettings> {};

TEST_P(SharedSamplerTest, SoftsFirstTokenIsStandardsUnderEverySampler) {
  int later_differences = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    TestModel test(support::tiny_config(), seed);
    SamplerSettings sampler = GetParam();
    sampler.seed = seed;
    const Tokens standard = generate(*test.backend, test.parameters, DecodeMode::standard, sampler, 8);
    const Tokens soft = generate(*test.backend, test.parameters, DecodeMode::soft, sampler, 8);
    EXPECT_EQ(standard[0], soft[0]) << "seed " << seed;
    later_differences += standard != soft ? 1 : 0;
  }
  EXPECT_GT(later_differences, 0) << "the modes must not be one";
}

TEST_P(SharedSamplerTest, TheSameSeedGivesTheSameTokensOnAnyNumberOfThreads) {
  TestModel test(support::tiny_config(), 4);
  const auto one_thread = kernels::make_backend("cpu", 1);
  engine::Parameters parameters(*one_thread, support::tiny_config(), false);
  parameters.load(support::noisy_tensors(support::tiny_config(), 4), "test model");
  for (const DecodeMode mode : kModes) {
    const Tokens expected = generate(*test.backend, test.parameters, mode, GetParam(), 8);
    EXPECT_EQ(generate(*test.backend, test.parameters, mode, GetParam(), 8), expected);
    EXPECT_EQ(generate(*one_thread, parameters, mode, GetParam(), 8), expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Samplers, SharedSamplerTest,
                         ::testing::Values(SamplerSettings{}, SamplerSettings{0.7F, 0, 1.0F, 3},
                                           SamplerSettings{1.0F, 4, 1.0F, 3}, SamplerSettings{1.3F, 0, 0.8F, 3}));

TEST(SamplingTest, DrawsDependOnSeedTokenNumberAndRow) {
  TestModel test(support::tiny_config());
  BatchDecoder decoder(*test.backend, test.parameters);
  const Tokens prompt = {1, 2, 3};
  decoder.prefill(std::vector<Tokens>(40, prompt), DecodeMode::standard, 1);
  const auto ids = [&](std::uint64_t seed, std::int64_t index) {
    Tokens drawn;
    for (const auto& token : decoder.sample({2.0F, 0, 1.0F, seed}, index)) drawn.push_back(token.id);
    return drawn;
  };
  const Tokens first = ids(1, 0);
  EXPECT_EQ(ids(1, 0), first);
  EXPECT_NE(ids(2, 0), first);
  EXPECT_NE(ids(1, 1), first);
  EXPECT_NE(Tokens(40, first[0]), first) << "rows draw for themselves";
}

TEST(SamplingTest, LogProbabilityAndEntropyAreThoseOfTheUnfilteredDistribution) {
  TestModel test(support::tiny_config());
  BatchDecoder decoder(*test.backend, test.parameters);
  decoder.prefill({{4, 5}}, DecodeMode::soft, 1);
  const auto logits = download_matrix(*test.backend, decoder.logits());
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit));
  double entropy = 0;
  for (const float logit : logits) {
    const double logprob = static_cast<double>(logit) - std::log(total);
    entropy -= std::exp(logprob) * logprob;
  }
  const auto token = decoder.sample({0.5F, 2, 0.9F, 1}, 0)[0];
  EXPECT_NEAR(token.logprob, logits[static_cast<std::size_t>(token.id)] - std::log(total), 1e-5);
  EXPECT_NEAR(token.entropy, entropy, 1e-5);
}

TEST(DecodingErrorTest, PromptsAndRoomAreChecked) {
  TestModel test(support::tiny_config());
  BatchDecoder decoder(*test.backend, test.parameters);
  EXPECT_THROW(decoder.prefill({{1}, {}}, DecodeMode::soft, 1), engine::ConfigError);
  EXPECT_THROW(decoder.prefill({{1, 11}}, DecodeMode::soft, 1), engine::ShapeError);
  EXPECT_THROW(decoder.prefill({{-1}}, DecodeMode::standard, 1), engine::ShapeError);
  decoder.prefill({{1, 2}}, DecodeMode::soft, 1);  // usable after a refusal
  decoder.step({3});
  EXPECT_THROW(decoder.step({4}), engine::Error);
  EXPECT_EQ(decoder.lengths(), (Tokens{3}));
}

}  // namespace
