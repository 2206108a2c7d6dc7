#include "engine/config.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/json_fields.h"
#include "engine/json_io.h"

namespace engine {
namespace {

constexpr std::array<EnumName<FusionType>, 3> kFusions = {
    {{FusionType::gate, "gate"}, {FusionType::add, "add"}, {FusionType::concat, "concat"}}};
constexpr std::array<EnumName<NormReading>, 4> kReadings = {{{NormReading::gain, "gain"},
                                                             {NormReading::unit, "unit"},
                                                             {NormReading::listing3, "listing3"},
                                                             {NormReading::raw, "raw"}}};
constexpr std::array<EnumName<StateTap>, 2> kTaps = {
    {{StateTap::post_norm, "post_norm"}, {StateTap::pre_norm, "pre_norm"}}};

constexpr std::int64_t kMaxVocab = 1 << 24;
constexpr std::int64_t kMaxWidth = 1 << 20;
constexpr std::int64_t kMaxLayers = 1024;
constexpr std::int64_t kMaxWindow = 1 << 30;

void require_multiple(const char* field, std::int64_t value, const char* of, std::int64_t divisor) {
  if (value % divisor != 0) {
    throw ConfigError(field, "must be a multiple of " + std::string(of) + " (" + std::to_string(divisor) + "), not " +
                                 std::to_string(value));
  }
}

}  // namespace

float ModelConfig::branch_scale() const {
  return depth_scale ? static_cast<float>(1.0 / std::sqrt(2.0 * static_cast<double>(layers))) : 1.0F;
}

void ModelConfig::validate() const {
  require_range("model.vocab", vocab, 2, kMaxVocab);
  require_range("model.dim", dim, 2, kMaxWidth);
  require_range("model.layers", layers, 1, kMaxLayers);
  require_range("model.heads", heads, 1, kMaxWidth);
  require_range("model.kv_heads", kv_heads, 1, heads);
  require_range("model.ffn", ffn, 1, kMaxWidth);
  require_range("model.window", window, 0, kMaxWindow);
  require_range("model.full_every", full_every, 0, kMaxLayers);
  require_positive("model.rope_base", rope_base, 1e12);
  require_multiple("model.dim", dim, "model.heads", heads);
  require_multiple("model.heads", heads, "model.kv_heads", kv_heads);
  if (head_dim() % 2 != 0) {
    throw ConfigError("model.heads",
                      "model.dim / model.heads must be even for rotary positions, not " + std::to_string(head_dim()));
  }
}

std::string to_string(FusionType value) { return name_of<FusionType>(value, kFusions); }
std::string to_string(NormReading value) { return name_of<NormReading>(value, kReadings); }
std::string to_string(StateTap value) { return name_of<StateTap>(value, kTaps); }

nlohmann::json to_json(const ModelConfig& config) {
  return {{"vocab", config.vocab},
          {"dim", config.dim},
          {"layers", config.layers},
          {"heads", config.heads},
          {"kv_heads", config.kv_heads},
          {"ffn", config.ffn},
          {"fusion", to_string(config.fusion)},
          {"norm_reading", to_string(config.norm_reading)},
          {"state_tap", to_string(config.state_tap)},
          {"qk_norm", config.qk_norm},
          {"sandwich_norm", config.sandwich_norm},
          {"head_gate", config.head_gate},
          {"window", config.window},
          {"full_every", config.full_every},
          {"depth_scale", config.depth_scale},
          {"tied", config.tied},
          {"rope_base", shortest_double(config.rope_base)}};
}

ModelConfig model_config_from_json(const nlohmann::json& object, const std::string& prefix) {
  ModelConfig config;
  FieldReader reader(object, prefix);
  reader.read("vocab", config.vocab);
  reader.read("dim", config.dim);
  reader.read("layers", config.layers);
  reader.read("heads", config.heads);
  reader.read("kv_heads", config.kv_heads);
  reader.read("ffn", config.ffn);
  reader.read<FusionType>("fusion", config.fusion, kFusions);
  reader.read<NormReading>("norm_reading", config.norm_reading, kReadings);
  reader.read<StateTap>("state_tap", config.state_tap, kTaps);
  reader.read("qk_norm", config.qk_norm);
  reader.read("sandwich_norm", config.sandwich_norm);
  reader.read("head_gate", config.head_gate);
  reader.read("window", config.window);
  reader.read("full_every", config.full_every);
  reader.read("depth_scale", config.depth_scale);
  reader.read("tied", config.tied);
  reader.read("rope_base", config.rope_base);
  reader.finish();
  return config;
}

}  // namespace engine
