#include "engine/transformer.h"

#include <algorithm>

#include "engine/ops.h"

namespace engine {

using kernels::ConstIndexView;
using kernels::View;

Transformer::Transformer(Tape& tape, const Parameters& parameters)
    : tape_(&tape), parameters_(&parameters), config_(parameters.config()) {
  embedding_ = bind("embed.weight");
  for (std::int64_t i = 0; i < config_.layers; ++i) blocks_.push_back(bind_block(i));
  final_norm_ = bind("final_norm.gain");
  head_ = config_.tied ? embedding_ : bind("lm_head.weight");
  switch (config_.fusion) {
    case FusionType::gate:
    case FusionType::add:
      fusion_state_ = bind("fusion.wu");
      fusion_token_ = bind(config_.fusion == FusionType::gate ? "fusion.wg" : "fusion.we");
      break;
    case FusionType::concat:
      fusion_state_ = bind_columns("fusion.wc", 0, config_.dim);
      fusion_token_ = bind_columns("fusion.wc", config_.dim, config_.dim);
      break;
  }
  if (config_.norm_reading == NormReading::gain || config_.norm_reading == NormReading::listing3) {
    input_gain_ = bind("input_norm.gain");
  }
}

Variable Transformer::bind(const ParameterInfo& first, std::int64_t rows) {
  View value = parameters_->value(first);
  View gradient = parameters_->gradient(first);
  value.rows = rows;
  if (gradient.present()) gradient.rows = rows;
  const Variable leaf = tape_->leaf(value, gradient);
  leaf_ends_.emplace_back(first.offset + rows * first.cols, leaf);
  return leaf;
}

Variable Transformer::bind(const std::string& name) {
  const ParameterInfo& info = parameters_->info(name);
  return bind(info, info.rows);
}

Variable Transformer::bind_columns(const std::string& name, std::int64_t first, std::int64_t count) {
  const ParameterInfo& info = parameters_->info(name);
  const View gradient = parameters_->gradient(info);
  const Variable leaf = tape_->leaf(parameters_->value(info).column_range(first, count),
                                    gradient.present() ? gradient.column_range(first, count) : View{});
  leaf_ends_.emplace_back(info.offset + info.size(), leaf);
  return leaf;
}

Transformer::Block Transformer::bind_block(std::int64_t index) {
  const std::string name = "blocks." + std::to_string(index) + ".";
  const std::int64_t projections = (config_.heads + 2 * config_.kv_heads) * config_.head_dim();
  Block block;
  block.attn_norm = bind(name + "attn_norm.gain");
  block.projections = bind(parameters_->info(name + "attn.wq"), projections + (config_.head_gate ? config_.heads : 0));
  block.out = bind(name + "attn.wo");
  block.mlp_norm = bind(name + "mlp_norm.gain");
  block.gate_up = bind(parameters_->info(name + "mlp.wgate"), 2 * config_.ffn);
  block.down = bind(name + "mlp.wdown");
  if (config_.sandwich_norm) {
    block.attn_out_norm = bind(name + "attn_out_norm.gain");
    block.mlp_out_norm = bind(name + "mlp_out_norm.gain");
  }
  return block;
}

bool Transformer::has_gradient(const ParameterInfo& info) const {
  const auto leaf = std::find_if(leaf_ends_.begin(), leaf_ends_.end(),
                                 [&](const auto& end) { return end.first >= info.offset + info.size(); });
  return leaf != leaf_ends_.end() && tape_->has_gradient(leaf->second);
}

Variable Transformer::embed(ConstIndexView tokens) { return ops::embed(*tape_, embedding_, tokens); }

Variable Transformer::plain_input(Variable embeddings, bool feedback_pass) {
  switch (config_.norm_reading) {
    case NormReading::unit:
      return ops::rms_norm(*tape_, embeddings, {});
    case NormReading::gain:
      return ops::rms_norm(*tape_, embeddings, input_gain_);
    case NormReading::listing3:
      return feedback_pass ? ops::rms_norm(*tape_, embeddings, input_gain_) : embeddings;
    case NormReading::raw:
      return embeddings;
  }
  return embeddings;
}

Variable Transformer::token_side(Variable embeddings) {
  Variable token = embeddings;
  if (config_.norm_reading == NormReading::unit || config_.norm_reading == NormReading::gain) {
    token = ops::rms_norm(*tape_, embeddings, {});
  } else if (config_.norm_reading == NormReading::listing3) {
    token = ops::rms_norm(*tape_, embeddings, input_gain_);
  }
  return ops::linear(*tape_, token, fusion_token_);
}

Variable Transformer::fused_input(Variable states, Variable token_side, Variable plain, ConstIndexView fused,
                                  std::int64_t shift) {
  kernels::FusionShape shape;
  // concat is a sum of two products: [h ; e] W_C^T = h W_C[:, :D]^T + e W_C[:, D:]^T
  shape.kind = config_.fusion == FusionType::gate ? kernels::FusionKind::gate : kernels::FusionKind::add;
  shape.normalize = config_.norm_reading != NormReading::raw;
  shape.shift = shift;
  const Variable gain = config_.norm_reading == NormReading::unit ? Variable{} : input_gain_;
  return ops::fuse(*tape_, shape, ops::linear(*tape_, states, fusion_state_), token_side, plain, gain, fused);
}

Variable Transformer::attention_branch(const Block& block, std::int64_t layer, Variable normed,
                                       ConstIndexView positions, const StackHooks& hooks) {
  ops::SelfAttentionShape shape;
  shape.attention = {config_.heads, config_.kv_heads, config_.head_dim(),
                     config_.layer_is_full(layer) ? 0 : config_.window};
  shape.rope_base = config_.rope_base;
  shape.qk_norm = config_.qk_norm;
  shape.head_gate = config_.head_gate;
  const Variable projected = ops::linear(*tape_, normed, block.projections);
  Variable heads;
  if (hooks.decode) {
    const LayerCache& cache = (*hooks.cache)[static_cast<std::size_t>(layer)];
    heads = ops::cached_attention(*tape_, projected, positions, shape,
                                  {cache.key, cache.value, hooks.cache_rows, hooks.decode_first, hooks.decode_length});
  } else {
    const ops::SelfAttention attention = ops::self_attention(*tape_, projected, positions, shape);
    heads = attention.heads;
    if (hooks.cache != nullptr) {
      const LayerCache& cache = (*hooks.cache)[static_cast<std::size_t>(layer)];
      tape_->backend().scatter_rows(attention.key, hooks.cache_rows, cache.key);
      tape_->backend().scatter_rows(attention.value, hooks.cache_rows, cache.value);
    }
  }
  const Variable out = ops::linear(*tape_, heads, block.out);
  return config_.sandwich_norm ? ops::rms_norm(*tape_, out, block.attn_out_norm) : out;
}

Variable Transformer::mlp_branch(const Block& block, Variable normed) {
  const Variable hidden = ops::swiglu(*tape_, ops::linear(*tape_, normed, block.gate_up));
  const Variable out = ops::linear(*tape_, hidden, block.down);
  return config_.sandwich_norm ? ops::rms_norm(*tape_, out, block.mlp_out_norm) : out;
}

Transformer::Stream Transformer::run_block(std::int64_t layer, Stream stream, ConstIndexView positions,
                                           const StackHooks& hooks) {
  const Block& block = blocks_[static_cast<std::size_t>(layer)];
  const float scale = config_.branch_scale();
  const Variable attended = attention_branch(block, layer, stream.norm, positions, hooks);
  const auto middle = ops::residual_rms_norm(*tape_, stream.sum, attended, scale, block.mlp_norm);
  const bool last = layer + 1 == config_.layers;
  const Variable next_norm = last ? final_norm_ : blocks_[static_cast<std::size_t>(layer + 1)].attn_norm;
  const Variable branch = mlp_branch(block, middle.norm);
  if (hooks.on_branch) hooks.on_branch(layer + 1, branch);
  const auto end = ops::residual_rms_norm(*tape_, middle.sum, branch, scale, next_norm);
  return {end.sum, end.norm};
}

Transformer::Stream Transformer::recomputed_block(std::int64_t layer, Stream stream, ConstIndexView positions) {
  const View shape = tape_->value(stream.sum);
  const Stream kept{tape_->result(shape.rows, shape.cols, true), tape_->result(shape.rows, shape.cols, true)};
  tape_->without_memory([&] {
    const Stream end = run_block(layer, stream, positions, {});
    tape_->backend().scaled(tape_->value(end.sum), 1.0F, tape_->value(kept.sum), kernels::Write::assign);
    tape_->backend().scaled(tape_->value(end.norm), 1.0F, tape_->value(kept.norm), kernels::Write::assign);
  });
  tape_->record([this, layer, stream, positions, kept](Tape& tape) {
    if (!tape.has_gradient(kept.sum) && !tape.has_gradient(kept.norm)) return;
    tape.recompute([&] {
      const Stream end = run_block(layer, stream, positions, {});
      tape.hand_over(kept.sum, end.sum);
      tape.hand_over(kept.norm, end.norm);
    });
  });
  return kept;
}

StackOutput Transformer::stack(Variable input, ConstIndexView positions, const StackHooks& hooks) {
  if (hooks.on_residual) hooks.on_residual(0, input);
  Stream stream{input, ops::rms_norm(*tape_, input, blocks_.front().attn_norm)};
  const bool recompute = recompute_ && tape_->recording();
  for (std::int64_t layer = 0; layer < config_.layers; ++layer) {
    tape_->begin_scope();
    stream = recompute ? recomputed_block(layer, stream, positions) : run_block(layer, stream, positions, hooks);
    if (hooks.on_residual) hooks.on_residual(layer + 1, stream.sum);
  }
  return {stream.norm, config_.state_tap == StateTap::post_norm ? stream.norm : stream.sum};
}

Variable Transformer::logits(Variable normed) { return ops::linear(*tape_, normed, head_); }

}  // namespace engine
