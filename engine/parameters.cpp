#include "engine/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/error.h"
#include "kernels/philox.h"

namespace engine {
namespace {

constexpr std::int64_t kAlignedFloats = 16;

/// Lays parameters out one after the other; a group's members have no gap between them.
class Layout {
 public:
  void gain(const std::string& name, std::int64_t width) {
    align();
    push({name, {width}, 1, width, 0});
  }
  void matrix(const std::string& name, std::int64_t rows, std::int64_t cols) {
    align();
    push({name, {rows, cols}, rows, cols, 0});
  }
  void same_group(const std::string& name, std::int64_t rows, std::int64_t cols) {
    push({name, {rows, cols}, rows, cols, 0});
  }

  std::vector<ParameterInfo> infos;

 private:
  void align() { end_ = (end_ + kAlignedFloats - 1) / kAlignedFloats * kAlignedFloats; }
  void push(ParameterInfo info) {
    info.offset = end_;
    end_ += info.size();
    infos.push_back(std::move(info));
  }

  std::int64_t end_ = 0;
};

void add_block(Layout& layout, const ModelConfig& c, std::int64_t index) {
  const std::string block = "blocks." + std::to_string(index) + ".";
  const std::int64_t key_width = c.kv_heads * c.head_dim();
  layout.gain(block + "attn_norm.gain", c.dim);
  layout.matrix(block + "attn.wq", c.heads * c.head_dim(), c.dim);
  layout.same_group(block + "attn.wk", key_width, c.dim);
  layout.same_group(block + "attn.wv", key_width, c.dim);
  if (c.head_gate) layout.same_group(block + "attn.wgate", c.heads, c.dim);
  layout.matrix(block + "attn.wo", c.dim, c.heads * c.head_dim());
  layout.gain(block + "mlp_norm.gain", c.dim);
  layout.matrix(block + "mlp.wgate", c.ffn, c.dim);
  layout.same_group(block + "mlp.wup", c.ffn, c.dim);
  layout.matrix(block + "mlp.wdown", c.dim, c.ffn);
  if (c.sandwich_norm) {
    layout.gain(block + "attn_out_norm.gain", c.dim);
    layout.gain(block + "mlp_out_norm.gain", c.dim);
  }
}

void add_fusion(Layout& layout, const ModelConfig& c) {
  if (c.fusion == FusionType::concat) {
    layout.matrix("fusion.wc", c.dim, 2 * c.dim);
    return;
  }
  layout.matrix("fusion.wu", c.dim, c.dim);
  layout.matrix(c.fusion == FusionType::gate ? "fusion.wg" : "fusion.we", c.dim, c.dim);
}

std::uint64_t name_hash(std::string_view name) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

void fill_uniform(std::vector<float>& values, kernels::PhiloxReader& random, double bound) {
  for (float& v : values) v = static_cast<float>(bound * (2.0 * random.next_unit() - 1.0));
}

/// Box-Muller, in double so that the tails are right.
void fill_normal(std::vector<float>& values, kernels::PhiloxReader& random, double deviation) {
  for (float& v : values) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.next_unit()));
    v = static_cast<float>(deviation * radius * std::cos(2.0 * std::numbers::pi * random.next_unit()));
  }
}

void fill_initial(HostTensor& tensor, const ParameterInfo& info, std::uint64_t seed) {
  constexpr float kInputGain = 0.05F;
  constexpr double kEmbeddingDeviation = 0.05;
  const bool fusion = info.name.starts_with("fusion.");
  const auto purpose = fusion ? kernels::Purpose::fusion_weights : kernels::Purpose::weights;
  kernels::PhiloxReader random({seed, purpose, name_hash(info.name), 0});
  if (info.name == "input_norm.gain") {
    std::fill(tensor.values.begin(), tensor.values.end(), kInputGain);
  } else if (info.is_gain()) {
    std::fill(tensor.values.begin(), tensor.values.end(), 1.0F);
  } else if (info.name == "embed.weight") {
    fill_normal(tensor.values, random, kEmbeddingDeviation);
  } else if (fusion) {
    fill_uniform(tensor.values, random, std::sqrt(3.0 / static_cast<double>(info.rows)));
  } else {
    fill_uniform(tensor.values, random, 1.0 / std::sqrt(static_cast<double>(info.cols)));
  }
}

}  // namespace

std::vector<ParameterInfo> parameter_layout(const ModelConfig& config) {
  Layout layout;
  layout.matrix("embed.weight", config.vocab, config.dim);
  for (std::int64_t i = 0; i < config.layers; ++i) add_block(layout, config, i);
  layout.gain("final_norm.gain", config.dim);
  if (!config.tied) layout.matrix("lm_head.weight", config.vocab, config.dim);
  add_fusion(layout, config);
  if (config.norm_reading == NormReading::gain || config.norm_reading == NormReading::listing3) {
    layout.gain("input_norm.gain", config.dim);
  }
  return layout.infos;
}

bool is_muon_matrix(const ParameterInfo& info) {
  return !info.is_gain() && (info.name.starts_with("blocks.") || info.name.starts_with("fusion."));
}

std::int64_t parameter_floats(const std::vector<ParameterInfo>& layout) {
  return layout.empty() ? 0 : layout.back().offset + layout.back().size();
}

std::vector<HostTensor> initial_parameters(const ModelConfig& config, std::uint64_t seed) {
  std::vector<HostTensor> tensors;
  for (const ParameterInfo& info : parameter_layout(config)) {
    HostTensor tensor{info.name, info.shape, std::vector<float>(static_cast<std::size_t>(info.size()))};
    fill_initial(tensor, info, seed);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Parameters::Parameters(kernels::Backend& backend, const ModelConfig& config, bool with_gradients)
    : backend_(&backend), config_(config), layout_(parameter_layout(config)), floats_(parameter_floats(layout_)) {
  values_ = allocate_all();
  backend.fill(all_values(), 0.0F);
  if (with_gradients) {
    gradients_ = allocate_all();
    backend.fill(all_gradients(), 0.0F);
  }
}

kernels::Buffer Parameters::allocate_all() {
  try {
    return backend_->allocate(floats_ * std::int64_t{sizeof(float)});
  } catch (const OutOfMemory&) {
    throw TooLarge("there is no memory for the model's " + std::to_string(floats_) +
                   " parameters; lower model.dim, model.ffn or model.layers, or end other programs");
  }
}

const ParameterInfo& Parameters::info(std::string_view name) const {
  const auto found =
      std::find_if(layout_.begin(), layout_.end(), [&](const ParameterInfo& p) { return p.name == name; });
  if (found == layout_.end()) throw Error("no parameter is called " + std::string(name));
  return *found;
}

kernels::View Parameters::value(const ParameterInfo& info) const {
  return {static_cast<float*>(values_.data()) + info.offset, info.rows, info.cols, info.cols};
}

kernels::View Parameters::gradient(const ParameterInfo& info) const {
  if (gradients_.data() == nullptr) return {};
  return {static_cast<float*>(gradients_.data()) + info.offset, info.rows, info.cols, info.cols};
}

kernels::View Parameters::all_values() const { return values_.matrix(1, floats_); }
kernels::View Parameters::all_gradients() const { return gradients_.matrix(1, floats_); }

void Parameters::load(const std::vector<HostTensor>& tensors, const std::string& source) {
  for (const HostTensor& tensor : tensors) {
    const bool known =
        std::any_of(layout_.begin(), layout_.end(), [&](const ParameterInfo& p) { return p.name == tensor.name; });
    if (!known) throw FormatError(source, "tensor " + tensor.name + " does not belong to this model");
  }
  std::vector<const HostTensor*> in_order;  // all are found before one is taken, so that a refusal changes nothing
  for (const ParameterInfo& p : layout_) {
    const auto found =
        std::find_if(tensors.begin(), tensors.end(), [&](const HostTensor& t) { return t.name == p.name; });
    if (found == tensors.end()) throw FormatError(source, "tensor " + p.name + " is missing");
    if (found->shape != p.shape || static_cast<std::int64_t>(found->values.size()) != p.size()) {
      throw FormatError(source, "tensor " + p.name + " has another shape than the configuration says");
    }
    in_order.push_back(&*found);
  }
  for (std::size_t i = 0; i < layout_.size(); ++i) {
    const ParameterInfo& p = layout_[i];
    backend_->upload(in_order[i]->values.data(), value(p).data, p.size() * std::int64_t{sizeof(float)});
  }
}

std::vector<HostTensor> Parameters::store() const { return download(values_); }
std::vector<HostTensor> Parameters::store_gradients() const { return download(gradients_); }

std::vector<HostTensor> Parameters::download(const kernels::Buffer& buffer) const {
  std::vector<HostTensor> tensors;
  for (const ParameterInfo& p : layout_) {
    HostTensor tensor{p.name, p.shape, std::vector<float>(static_cast<std::size_t>(p.size()))};
    const float* from = static_cast<const float*>(buffer.data()) + p.offset;
    backend_->download(from, tensor.values.data(), p.size() * std::int64_t{sizeof(float)});
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace engine
