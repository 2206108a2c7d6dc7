// What a model is: every architectural choice, stored in run.json and in each checkpoint's metadata. See the method
// page.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace engine {

/// How the carried state meets the token's embedding (paper, Eq. 4).
enum class FusionType { gate, add, concat };

/// What enters the stack for plain and fused positions (method page, "What enters the stack").
enum class NormReading { gain, unit, listing3, raw };

/// Which top state is carried: after the final norm, or before it.
enum class StateTap { post_norm, pre_norm };

struct ModelConfig {
  std::int64_t vocab = 64;
  std::int64_t dim = 64;
  std::int64_t layers = 4;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 4;  ///< fewer than heads: grouped-query attention
  std::int64_t ffn = 160;     ///< SwiGLU width
  FusionType fusion = FusionType::gate;
  NormReading norm_reading = NormReading::gain;
  StateTap state_tap = StateTap::post_norm;
  bool qk_norm = true;          ///< RMS norm without gain on every query and key head
  bool sandwich_norm = false;   ///< RMS norm with gain on each branch's output
  bool head_gate = false;       ///< head-wise sigmoid gate on attention's output
  std::int64_t window = 0;      ///< sliding window in positions, the current one included; 0 = full
  std::int64_t full_every = 0;  ///< with a window: every n-th layer (from 1) stays full
  bool depth_scale = true;      ///< branch outputs times 1/sqrt(2 layers)
  bool tied = true;             ///< the output head is the embedding
  float rope_base = 10000.0F;

  [[nodiscard]] std::int64_t head_dim() const { return dim / heads; }
  [[nodiscard]] bool layer_is_full(std::int64_t layer) const {  // layer from 0
    return window == 0 || (full_every > 0 && (layer + 1) % full_every == 0);
  }
  [[nodiscard]] float branch_scale() const;
  /// Throws ConfigError naming the field ("model.heads") that cannot be used.
  void validate() const;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

std::string to_string(FusionType value);
std::string to_string(NormReading value);
std::string to_string(StateTap value);

/// JSON object with the member names above; enums as their names.
nlohmann::json to_json(const ModelConfig& config);
/// Missing members keep their defaults; unknown members and wrong types are a ConfigError naming `prefix` + member.
ModelConfig model_config_from_json(const nlohmann::json& object, const std::string& prefix = "model.");

}  // namespace engine
