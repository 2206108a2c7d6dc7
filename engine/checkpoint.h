// A checkpoint as a value: what is needed to go on training bit for bit, or to decode. Files: engine/run_store.h.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/config.h"

namespace engine {

/// A named float32 tensor in host memory, row-major. A gain has one dimension, a matrix two.
struct HostTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;

  friend bool operator==(const HostTensor&, const HostTensor&) = default;
};

struct Checkpoint {
  ModelConfig config;  ///< stored in model.safetensors' metadata, checked on load (norm reading and state tap included)
  std::vector<HostTensor> model;  ///< parameters by name
  std::vector<HostTensor> optim;  ///< optimiser state by name, empty when only decoding is wanted
  nlohmann::json state;      ///< step, token counters, wall time, schedule position, steps with gradient per parameter
  nlohmann::json tokenizer;  ///< engine::data::Tokenizer::to_json()
};

/// 16 hex digits over sorted name, dtype, shape and bytes; the container and the order do not matter.
std::string tensor_hash(const std::vector<HostTensor>& tensors);

}  // namespace engine
