// The stack f(u) -> h and what enters it (method page, "The stack", "What enters the stack"; paper, Eqs. 4 and 8).
// Written forward once on the tape; training, prefill and cached decoding all run through here.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/config.h"
#include "engine/parameters.h"
#include "engine/tape.h"
#include "kernels/backend.h"

namespace engine {

/// One layer's cached keys (after norm and rotation) and values, [cache rows, G*d] each.
struct LayerCache {
  kernels::View key;
  kernels::View value;
};

/// What a run of the stack does besides computing its result. Everything is optional.
struct StackHooks {
  /// Called with each residual: depth 0 is the layer-0 input, depth l the stream after block l. [N,D], valid during the
  /// call.
  std::function<void(std::int64_t depth, Variable residual)> on_residual;
  /// Called with the output of each block's last branch before it is added: residual(depth) = ... + branch_scale *
  /// branch. After a backward the branch's gradient over branch_scale is the whole gradient of that residual.
  std::function<void(std::int64_t depth, Variable branch)> on_branch;
  /// Caches to store keys and values into, one a layer, at these rows.
  const std::vector<LayerCache>* cache = nullptr;
  kernels::ConstIndexView cache_rows;
  /// Cached decoding: row r attends to cache rows first[r] .. first[r] + length[r] - 1 and not to the other rows of
  /// this call.
  bool decode = false;
  kernels::ConstIndexView decode_first;
  kernels::ConstIndexView decode_length;
};

struct StackOutput {
  Variable normed;   ///< what the head reads
  Variable carried;  ///< what the next position gets (state tap)
};

/// A model's parameters as variables of a tape, bound once: seal the tape afterwards and clear it before every step.
class Transformer {
 public:
  Transformer(Tape& tape, const Parameters& parameters);

  [[nodiscard]] const ModelConfig& config() const { return config_; }

  /// tokens -> embeddings [N,D]
  Variable embed(kernels::ConstIndexView tokens);
  /// Layer-0 input of plain positions, in pass 1 and Standard (false) or in a feedback pass (true).
  Variable plain_input(Variable embeddings, bool feedback_pass);
  /// The token's half of the fusion, from embeddings: the same in every pass of a step.
  Variable token_side(Variable embeddings);
  /// Layer-0 input: fused where fused[n], plain elsewhere. Row n reads the state of row n - shift.
  Variable fused_input(Variable states, Variable token_side, Variable plain, kernels::ConstIndexView fused,
                       std::int64_t shift);
  /// On: the stack keeps only what goes from block to block, and the backward computes the rest of a block again. Same
  /// numbers, a third more work, a fraction of the memory. Only for a stack without hooks.
  void set_recompute(bool recompute) { recompute_ = recompute; }
  /// The stack from layer-0 inputs [N,D]; positions are places in the document.
  StackOutput stack(Variable input, kernels::ConstIndexView positions, const StackHooks& hooks = {});
  /// [N,V] from normed states.
  Variable logits(Variable normed);
  [[nodiscard]] Variable head() const { return head_; }

  /// The variable that holds a parameter's gradient (a group's members share one).
  [[nodiscard]] bool has_gradient(const ParameterInfo& info) const;

 private:
  struct Block {
    Variable attn_norm, projections, out, mlp_norm, gate_up, down, attn_out_norm, mlp_out_norm;
  };

  /// What goes from block to block: the residual stream and its norm for the next branch.
  struct Stream {
    Variable sum, norm;
  };

  Variable bind(const ParameterInfo& first, std::int64_t rows);
  Variable bind(const std::string& name);
  Variable bind_columns(const std::string& name, std::int64_t first, std::int64_t count);
  Block bind_block(std::int64_t index);
  Variable attention_branch(const Block& block, std::int64_t layer, Variable normed, kernels::ConstIndexView positions,
                            const StackHooks& hooks);
  Variable mlp_branch(const Block& block, Variable normed);
  Stream run_block(std::int64_t layer, Stream stream, kernels::ConstIndexView positions, const StackHooks& hooks);
  /// The same block, of which only the result is kept until the backward.
  Stream recomputed_block(std::int64_t layer, Stream stream, kernels::ConstIndexView positions);

  Tape* tape_;
  const Parameters* parameters_;
  ModelConfig config_;
  bool recompute_ = false;
  Variable embedding_, head_, final_norm_, input_gain_, fusion_state_, fusion_token_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::int64_t, Variable>> leaf_ends_;  // end offset of each bound leaf, ascending
};

}  // namespace engine
