// The operations a model is written in: each runs forward on the tape's backend and records its backward.
// Shapes as in kernels/backend.h: N token rows, D width. Parameters are leaves; token ids, positions and flags are
// device vectors.
#pragma once

#include "engine/tape.h"
#include "kernels/backend.h"

namespace engine::ops {

/// x[N,I] w[O,I]^T -> [N,O]
Variable linear(Tape& tape, Variable x, Variable w);
/// table[V,D] rows of the tokens -> [N,D]
Variable embed(Tape& tape, Variable table, kernels::ConstIndexView tokens);
/// RMS norm; an absent gain means 1.
Variable rms_norm(Tape& tape, Variable x, Variable gain);

struct ResidualNorm {
  Variable sum;   ///< x + scale * branch
  Variable norm;  ///< rms(sum) * gain
};
/// The end of a block's branch and the norm before the next one.
ResidualNorm residual_rms_norm(Tape& tape, Variable x, Variable branch, float scale, Variable gain);

/// What self-attention needs besides its input.
struct SelfAttentionShape {
  kernels::AttentionShape attention;
  float rope_base = 10000.0F;
  bool qk_norm = true;
  bool head_gate = false;
};

struct SelfAttention {
  Variable heads;            ///< [N, H*d]
  kernels::ConstView key;    ///< [N, G*d] after norm and rotation: what a cache holds
  kernels::ConstView value;  ///< [N, G*d]
};
/// projected[N, (H+2G)*d (+H)] holds queries, keys, values and, with a head gate, one logit a head.
SelfAttention self_attention(Tape& tape, Variable projected, kernels::ConstIndexView positions,
                             const SelfAttentionShape& shape);

/// The rows of a cache that one decoding step writes and reads.
struct CacheAccess {
  kernels::View key;               ///< [cache rows, G*d]
  kernels::View value;             ///< [cache rows, G*d]
  kernels::ConstIndexView rows;    ///< [R] where each row's own key and value go
  kernels::ConstIndexView first;   ///< [R] first cache row that it reads
  kernels::ConstIndexView length;  ///< [R] how many, its own included
};
/// One new position a row against its cache; forward only. -> [R, H*d]
Variable cached_attention(Tape& tape, Variable projected, kernels::ConstIndexView positions,
                          const SelfAttentionShape& shape, const CacheAccess& cache);

/// silu(gate) * up; gate_up[N,2F] -> [N,F]
Variable swiglu(Tape& tape, Variable gate_up);
/// Fusion with the previous row's state; see kernels::Backend::fuse.
Variable fuse(Tape& tape, const kernels::FusionShape& shape, Variable state, Variable token, Variable plain,
              Variable gain, kernels::ConstIndexView fused);
/// x + uniform noise of this amplitude
Variable add_uniform(Tape& tape, Variable x, float amplitude, const kernels::PhiloxStream& stream);
/// x + constant
Variable add_constant(Tape& tape, Variable x, kernels::ConstView constant);
/// The same value, through which no gradient flows.
Variable detach(Tape& tape, Variable x);

struct LossRows {
  kernels::ConstView nll;          ///< [N,1]
  kernels::ConstIndexView argmax;  ///< [N]
};
/// Output head and loss. The gradient for an objective of sum(row_weight * (nll + z_weight * logsumexp^2)) is written
/// at once.
LossRows head_loss(Tape& tape, Variable states, Variable head, kernels::ConstIndexView targets,
                   kernels::ConstView row_weight, float z_weight);

}  // namespace engine::ops
