// Decoding as recorded work against decoding on the CPU.
#include <gtest/gtest.h>

#include "engine/batch_decoder.h"
#include "engine/device_copy.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::BatchDecoder;
using engine::DecodeMode;

constexpr std::int64_t kSteps = 5;

engine::ModelConfig config_with_options() {
  engine::ModelConfig config = support::tiny_config();
  config.head_gate = true;
  config.kv_heads = 1;
  config.window = 4;
  config.full_every = 2;
  return config;
}

/// The tokens of row `row` at step `step`: any, and different ones.
std::vector<std::int32_t> tokens_of(std::int64_t step) {
  return {static_cast<std::int32_t>(step % 11), static_cast<std::int32_t>((3 * step + 1) % 11)};
}

/// Logits after the prompts and after each step, of two rows of different lengths; one step is observed.
std::vector<float> logits(const std::string& device, DecodeMode mode, std::int64_t observed_step) {
  support::TestModel test(config_with_options(), 1, device);
  BatchDecoder decoder(*test.backend, test.parameters);
  std::vector<float> all;
  const auto keep = [&] {
    const std::vector<float> now = engine::download_matrix(*test.backend, decoder.logits());
    all.insert(all.end(), now.begin(), now.end());
  };
  for (int text = 0; text < 2; ++text) {  // the second prefill is longer, so that memory moves
    decoder.prefill({support::random_tokens(3 + 20 * text, 11, 1), support::random_tokens(6, 11, 2)}, mode, kSteps);
    keep();
    for (std::int64_t step = 0; step < kSteps; ++step) {
      std::int64_t depths = 0;
      const auto count = [&](std::int64_t, kernels::ConstView) { ++depths; };
      decoder.step(tokens_of(step), step == observed_step ? count : BatchDecoder::ResidualObserver{});
      EXPECT_EQ(depths, step == observed_step ? 3 : 0);
      keep();
    }
  }
  return all;
}

TEST(DeviceDecoding, LogitsAreThoseOfTheCpu) {
  for (const DecodeMode mode : {DecodeMode::standard, DecodeMode::soft, DecodeMode::fused}) {
    SCOPED_TRACE(to_string(mode));
    EXPECT_LE(support::relative_difference(logits("cuda:0", mode, 3), logits("cpu", mode, 3)), 5e-6);
  }
}

TEST(DeviceDecoding, AnObservedStepAndARecordedOneHaveTheSameBits) {
  EXPECT_EQ(logits("cuda:0", DecodeMode::soft, 4), logits("cuda:0", DecodeMode::soft, 2));
}

}  // namespace
