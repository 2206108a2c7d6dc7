// Small models filled with noise, and batches to run through them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/arena.h"
#include "engine/config.h"
#include "engine/data/batch_source.h"
#include "engine/parameters.h"
#include "engine/tape.h"
#include "engine/transformer.h"
#include "kernels/backend.h"

namespace support {

/// The device that model tests run on; where the GPU engine's sources run on the host, that.
inline std::string test_device() {
#if defined(FULLBAND_CUDA_HOST)
  return "cuda:0";
#else
  return "cpu";
#endif
}
inline std::vector<std::string> devices() { return {test_device()}; }

inline engine::ModelConfig tiny_config() {
  engine::ModelConfig config;
  config.vocab = 11;
  config.dim = 8;
  config.layers = 2;
  config.heads = 2;
  config.kv_heads = 2;
  config.ffn = 12;
  return config;
}

/// A configuration and the option that it is about.
struct ConfigCase {
  std::string name;
  engine::ModelConfig config;
};

inline void PrintTo(const ConfigCase& c, std::ostream* out) { *out << c.name; }

/// All fusions with all norm readings and state taps, then each remaining option alone and all of them at once.
inline std::vector<ConfigCase> config_cases() {
  using engine::FusionType;
  using engine::NormReading;
  using engine::StateTap;
  std::vector<ConfigCase> cases;
  for (const auto fusion : {FusionType::gate, FusionType::add, FusionType::concat}) {
    for (const auto reading : {NormReading::gain, NormReading::unit, NormReading::listing3, NormReading::raw}) {
      for (const auto tap : {StateTap::post_norm, StateTap::pre_norm}) {
        engine::ModelConfig config = tiny_config();
        config.fusion = fusion;
        config.norm_reading = reading;
        config.state_tap = tap;
        cases.push_back({to_string(fusion) + "_" + to_string(reading) + "_" + to_string(tap), config});
      }
    }
  }
  const auto with = [&cases](const std::string& name, auto change) {
    engine::ModelConfig config = tiny_config();
    change(config);
    cases.push_back({name, config});
  };
  with("sandwich", [](auto& c) { c.sandwich_norm = true; });
  with("head_gate", [](auto& c) { c.head_gate = true; });
  with("grouped_query", [](auto& c) { c.kv_heads = 1; });
  with("window", [](auto& c) { c.window = 3, c.full_every = 2; });
  with("untied", [](auto& c) { c.tied = false; });
  with("no_depth_scale", [](auto& c) { c.depth_scale = false; });
  with("no_qk_norm", [](auto& c) { c.qk_norm = false; });
  with("everything", [](auto& c) {
    c.sandwich_norm = c.head_gate = true;
    c.kv_heads = 1, c.window = 2, c.full_every = 2;
    c.tied = c.depth_scale = c.qk_norm = false;
  });
  return cases;
}

inline std::string config_case_name(const ::testing::TestParamInfo<ConfigCase>& info) { return info.param.name; }

/// Start values plus noise on every tensor, so that no projection and no gain is special.
inline std::vector<engine::HostTensor> noisy_tensors(const engine::ModelConfig& config, std::uint64_t seed) {
  std::vector<engine::HostTensor> tensors = engine::initial_parameters(config, seed);
  std::mt19937_64 random(seed + 17);
  std::normal_distribution<float> normal;
  for (engine::HostTensor& tensor : tensors) {
    const bool gain = tensor.shape.size() == 1;
    const float scale = gain ? 0.2F : 0.5F / std::sqrt(static_cast<float>(tensor.shape.back()));
    const float shift = tensor.name == "input_norm.gain" ? 0.7F : 0.0F;  // its start value 0.05 would hide differences
    for (float& value : tensor.values) value += shift + scale * normal(random);
  }
  return tensors;
}

inline std::shared_ptr<kernels::Backend> test_backend(const std::string& device = test_device()) {
  constexpr int kThreads = 2;
  return kernels::make_backend(device, kThreads);
}

/// A backend, parameters filled with noise, and the model bound to a tape.
struct TestModel {
  std::shared_ptr<kernels::Backend> backend;
  engine::Parameters parameters;
  engine::Arena arena;
  engine::Tape tape;
  engine::Transformer model;

  explicit TestModel(const engine::ModelConfig& config, std::uint64_t seed = 1,
                     const std::string& device = test_device())
      : backend(test_backend(device)),
        parameters(*backend, config, true),
        arena(*backend),
        tape(*backend, arena),
        model(tape, parameters) {
    parameters.load(noisy_tensors(config, seed), "test model");
    backend->fill(parameters.all_gradients(), 123.0F);  // a gradient that is never assigned must show
    tape.seal();
  }
};

inline std::vector<std::int32_t> random_tokens(std::int64_t count, std::int64_t vocab, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<std::int32_t> uniform(0, static_cast<std::int32_t>(vocab) - 1);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens) token = uniform(random);
  return tokens;
}

inline std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float scale = 1.0F) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0F, scale);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = normal(random);
  return values;
}

/// Tokens of one document with their targets and loss weights.
struct TestDocument {
  std::vector<std::int32_t> tokens, targets;
  std::vector<float> weights;
};

/// Random tokens; every fourth target is not scored, the others have weight 1 or 0.5.
inline TestDocument random_document(std::int64_t length, std::int64_t vocab, std::uint64_t seed) {
  TestDocument document{random_tokens(length, vocab, seed), random_tokens(length, vocab, seed + 1000), {}};
  for (std::int64_t t = 0; t < length; ++t) {
    const bool scored = t % 4 != 2;
    if (!scored) document.targets[static_cast<std::size_t>(t)] = -1;
    document.weights.push_back(scored ? (t % 3 == 0 ? 0.5F : 1.0F) : 0.0F);
  }
  return document;
}

/// Rows of documents one after the other, then padding with the given token.
inline engine::data::Batch make_batch(const std::vector<std::vector<TestDocument>>& rows, std::int64_t seq,
                                      std::int32_t padding = 0) {
  engine::data::Batch batch;
  batch.rows = static_cast<std::int64_t>(rows.size());
  batch.seq = seq;
  for (const auto& row : rows) {
    std::int64_t length = 0;
    for (const TestDocument& document : row) {
      for (std::size_t t = 0; t < document.tokens.size(); ++t) {
        batch.tokens.push_back(document.tokens[t]);
        batch.targets.push_back(document.targets[t]);
        batch.weights.push_back(document.weights[t]);
        batch.positions.push_back(static_cast<std::int32_t>(t));
        ++length;
      }
    }
    batch.row_length.push_back(length);
    for (std::int64_t t = length; t < seq; ++t) {
      batch.tokens.push_back(padding);
      batch.targets.push_back(-1);
      batch.weights.push_back(0.0F);
      batch.positions.push_back(t == 0 ? 0 : batch.positions.back() + 1);
    }
  }
  batch.answer.assign(batch.tokens.size(), 0);
  return batch;
}

/// || got - expected || / || expected ||; 0 when both are zero, infinite when sizes or numbers cannot be compared.
template <class A, class B>
double relative_difference(const std::vector<A>& got, const std::vector<B>& expected) {
  if (got.size() != expected.size()) return INFINITY;
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double d = static_cast<double>(got[i]) - static_cast<double>(expected[i]);
    if (!std::isfinite(d)) return INFINITY;
    difference += d * d;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return difference == 0 ? 0 : std::sqrt(difference / norm);
}

}  // namespace support
