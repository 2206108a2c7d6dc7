// A small checkpoint filled with noise that depends on a seed, for tests of files.
#pragma once

#include <cstdint>
#include <random>

#include "engine/checkpoint.h"
#include "engine/parameters.h"

namespace support {

inline engine::ModelConfig sample_config() {
  engine::ModelConfig config;
  config.vocab = 10;
  config.dim = 8;
  config.layers = 1;
  config.heads = 2;
  config.kv_heads = 2;
  config.ffn = 12;
  return config;
}

inline std::vector<engine::HostTensor> noise_like(const std::vector<engine::ParameterInfo>& layout, std::uint64_t seed,
                                                  const std::string& prefix = "") {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  std::vector<engine::HostTensor> tensors;
  for (const engine::ParameterInfo& info : layout) {
    engine::HostTensor tensor{prefix + info.name, info.shape, {}};
    for (std::int64_t i = 0; i < info.size(); ++i) {
      tensor.values.push_back(normal(random));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

inline engine::Checkpoint sample_checkpoint(std::int64_t step) {
  engine::Checkpoint checkpoint;
  checkpoint.config = sample_config();
  const auto layout = engine::parameter_layout(checkpoint.config);
  checkpoint.model = noise_like(layout, static_cast<std::uint64_t>(step));
  checkpoint.optim = noise_like(layout, static_cast<std::uint64_t>(step) + 1'000'000, "m.");
  checkpoint.state = {{"step", step}, {"tokens", step * 7}};
  checkpoint.tokenizer = {{"kind", "symbols"}, {"symbols", {"a", "b\n", "\xc3\xbc"}}};
  return checkpoint;
}

}  // namespace support
