// Self-attention as one operation on the tape: norm and rotation of queries and keys, attention, optional head gate.
#include "engine/ops.h"

namespace engine::ops {

using kernels::ConstIndexView;
using kernels::ConstView;
using kernels::View;

namespace {

/// The parts of a projected row, in this order: queries, keys, values, head-gate logits.
struct Columns {
  std::int64_t query;      ///< H*d
  std::int64_t key_value;  ///< G*d
  std::int64_t heads;

  explicit Columns(const kernels::AttentionShape& a)
      : query(a.heads * a.head_dim), key_value(a.kv_heads * a.head_dim), heads(a.heads) {}

  template <class V>
  V rotated(const V& projected) const {
    return projected.column_range(0, query + key_value);
  }
  template <class V>
  V values(const V& projected) const {
    return projected.column_range(query + key_value, key_value);
  }
  template <class V>
  V gate(const V& projected) const {
    return projected.column_range(query + 2 * key_value, heads);
  }
  template <class V>
  V queries_of(const V& rotated) const {
    return rotated.column_range(0, query);
  }
  template <class V>
  V keys_of(const V& rotated) const {
    return rotated.column_range(query, key_value);
  }
};

/// What the backward reads again.
struct Saved {
  View rotated;    ///< [N, (H+G)*d]
  View inv_rms;    ///< [N, H+G]
  View attended;   ///< [N, H*d] before the head gate
  View logsumexp;  ///< [N, H]
};

void backward(Tape& t, Variable projected, Variable out, ConstIndexView positions, const SelfAttentionShape& shape,
              const Saved& saved) {
  if (!t.has_gradient(out)) return;
  const Columns columns(shape.attention);
  const View in = t.value(projected);
  const View din = t.gradient_target(projected).view;
  ConstView dattended = t.gradient(out);
  if (shape.head_gate) {
    const View dgated = t.arena().matrix(in.rows, columns.query);
    t.backend().head_gate_backward(dattended, saved.attended, columns.gate(in), dgated, columns.gate(din));
    dattended = dgated;
  }
  const View drotated = t.arena().matrix(in.rows, columns.query + columns.key_value);
  t.backend().attention_backward(dattended, columns.queries_of(saved.rotated), columns.keys_of(saved.rotated),
                                 columns.values(in), saved.attended, saved.logsumexp, positions, shape.attention,
                                 columns.queries_of(drotated), columns.keys_of(drotated), columns.values(din));
  t.backend().norm_rope_backward(drotated, columns.rotated(in), saved.inv_rms, positions, shape.attention.head_dim,
                                 shape.rope_base, shape.qk_norm, columns.rotated(din));
}

}  // namespace

SelfAttention self_attention(Tape& tape, Variable projected, ConstIndexView positions,
                             const SelfAttentionShape& shape) {
  const Columns columns(shape.attention);
  const View in = tape.value(projected);
  Arena& arena = tape.arena();
  const Variable out = tape.result(in.rows, columns.query, tape.differentiable(projected));
  Saved saved;
  saved.rotated = arena.matrix(in.rows, columns.query + columns.key_value);
  saved.inv_rms = arena.matrix(in.rows, shape.attention.heads + shape.attention.kv_heads);
  saved.attended = shape.head_gate ? arena.matrix(in.rows, columns.query) : tape.value(out);
  saved.logsumexp = arena.matrix(in.rows, shape.attention.heads);
  tape.backend().norm_rope(columns.rotated(in), positions, shape.attention.head_dim, shape.rope_base, shape.qk_norm,
                           saved.rotated, saved.inv_rms);
  const SelfAttention result{out, columns.keys_of(saved.rotated), columns.values(in)};
  tape.backend().attention(columns.queries_of(saved.rotated), result.key, result.value, positions, shape.attention,
                           saved.attended, saved.logsumexp);
  if (shape.head_gate) tape.backend().head_gate(saved.attended, columns.gate(in), tape.value(out));
  if (tape.differentiable(out)) {
    tape.record([=](Tape& t) { backward(t, projected, out, positions, shape, saved); });
  }
  return result;
}

Variable cached_attention(Tape& tape, Variable projected, ConstIndexView positions, const SelfAttentionShape& shape,
                          const CacheAccess& cache) {
  const Columns columns(shape.attention);
  const View in = tape.value(projected);
  kernels::Backend& backend = tape.backend();
  const View rotated = tape.arena().matrix(in.rows, columns.query + columns.key_value);
  const View inv_rms = tape.arena().matrix(in.rows, shape.attention.heads + shape.attention.kv_heads);
  backend.norm_rope(columns.rotated(in), positions, shape.attention.head_dim, shape.rope_base, shape.qk_norm, rotated,
                    inv_rms);
  backend.scatter_rows(columns.keys_of(rotated), cache.rows, cache.key);
  backend.scatter_rows(columns.values(in), cache.rows, cache.value);
  const Variable attended = tape.result(in.rows, columns.query, false);
  backend.decode_attention(columns.queries_of(rotated), cache.key, cache.value, cache.first, cache.length,
                           shape.attention, tape.value(attended));
  if (!shape.head_gate) return attended;
  const Variable gated = tape.result(in.rows, columns.query, false);
  backend.head_gate(tape.value(attended), columns.gate(in), tape.value(gated));
  return gated;
}

}  // namespace engine::ops
