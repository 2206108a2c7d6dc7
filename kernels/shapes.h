// Operand checks shared by every backend: one function an operation, called before anything is written.
// Each throws ShapeError naming the operation, the operand and the shapes. The check_* functions at the end look at
// index values and therefore serve only backends whose memory the host can read.
#pragma once

#include "kernels/backend.h"
#include "kernels/tensor.h"

namespace kernels::shapes {

void linear(ConstView x, ConstView w, ConstView y);
void linear_backward_input(ConstView dy, ConstView w, ConstView dx);
void linear_backward_weight(ConstView dy, ConstView x, ConstView dw);

void embed(ConstView table, ConstIndexView tokens, ConstView y);
void embed_backward(ConstView dy, ConstIndexView tokens, ConstView dtable);

void rms_norm(ConstView x, ConstView gain, ConstView y, ConstView inv_rms);
void rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, ConstView dx, ConstView dgain);
void residual_rms_norm(ConstView x, ConstView branch, ConstView gain, ConstView sum, ConstView y, ConstView inv_rms);
void residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain, ConstView inv_rms,
                                ConstView dx, ConstView dbranch, ConstView dgain);
void norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, bool normalize, ConstView y,
               ConstView inv_rms);
void norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions, std::int64_t head_dim,
                        bool normalize, ConstView dx);

void attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape,
               ConstView y, ConstView logsumexp);
void attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y, ConstView logsumexp,
                        ConstIndexView positions, const AttentionShape& shape, ConstView dq, ConstView dk,
                        ConstView dv);
void decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first, ConstIndexView length,
                      const AttentionShape& shape, ConstView y);
void head_gate(ConstView x, ConstView logits, ConstView y);
void head_gate_backward(ConstView dy, ConstView x, ConstView logits, ConstView dx, ConstView dlogits);

void swiglu(ConstView gate_up, ConstView y);
void swiglu_backward(ConstView dy, ConstView gate_up, ConstView dgate_up);
void scaled(ConstView x, ConstView y);
void fill(ConstView y);
void add_uniform(ConstView x, ConstView y);
void gather_rows(ConstView x, ConstIndexView rows, ConstView y);
void scatter_rows(ConstView x, ConstIndexView rows, ConstView y);
void row_distance(ConstView a, ConstView b, ConstView out);

void fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
          ConstIndexView fused, ConstView y, ConstView inv_rms);
void fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token, ConstView gain,
                   ConstView inv_rms, ConstIndexView fused, ConstView dstate, ConstView dtoken, ConstView dplain,
                   ConstView dgain);

void head_loss(const HeadLoss& args);
void sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, ConstIndexView tokens, ConstView logprob,
            ConstView entropy);

void adamw(ConstView parameter, ConstView gradient, ConstView first_moment, ConstView second_moment,
           const AdamStep& step);
void normuon(ConstView parameter, ConstView gradient, ConstView momentum, ConstView row_moment);
void clip_by_norm(ConstView gradients, ConstView norm);

/// Every value lies in [low, high).
void check_range(const char* operation, const char* name, ConstIndexView values, std::int64_t low, std::int64_t high);
/// Every position is 0 (a document starts) or one more than the row before it.
void check_documents(const char* operation, ConstIndexView positions);
/// Every row reads at least one row of a cache of `rows` rows, and none outside it.
void check_cache_ranges(const char* operation, ConstIndexView first, ConstIndexView length, std::int64_t rows);
/// A fused row has a row `shift` before it.
void check_fused(const char* operation, ConstIndexView fused, std::int64_t shift);

}  // namespace kernels::shapes
