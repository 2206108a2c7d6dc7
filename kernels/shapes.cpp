#include "kernels/shapes.h"

#include <string>

#include "kernels/error.h"

namespace kernels::shapes {
namespace {

std::string text(std::int64_t rows, std::int64_t cols) {
  return std::string("[").append(std::to_string(rows)).append(", ").append(std::to_string(cols)).append("]");
}

/// The checks of one operation; every failure names it.
class Checks {
 public:
  explicit Checks(const char* operation) : operation_(operation) {}

  /// A matrix that has any shape, but a consistent one.
  void valid(const char* name, ConstView v) const {
    if (v.rows < 0 || v.cols < 0) fail(name, "has the negative shape " + text(v.rows, v.cols));
    if (v.rows > 1 && v.stride < v.cols) {
      fail(name, "is " + text(v.rows, v.cols) + " with rows only " + std::to_string(v.stride) + " floats apart");
    }
    if (v.size() > 0 && !v.present()) fail(name, "is " + text(v.rows, v.cols) + " but has no data");
  }
  void matrix(const char* name, ConstView v, std::int64_t rows, std::int64_t cols) const {
    valid(name, v);
    if (v.rows != rows || v.cols != cols) {
      fail(name, "is " + text(v.rows, v.cols) + " but must be " + text(rows, cols));
    }
  }
  void optional(const char* name, ConstView v, std::int64_t rows, std::int64_t cols) const {
    if (v.present()) matrix(name, v, rows, cols);
  }
  void index(const char* name, ConstIndexView v, std::int64_t count) const {
    if (v.count != count) {
      fail(name, "has " + std::to_string(v.count) + " entries but must have " + std::to_string(count));
    }
    if (count > 0 && v.data == nullptr) fail(name, "has no data");
  }
  /// A gain and its gradient come together.
  void gain(ConstView gain, ConstView dgain, std::int64_t cols) const {
    optional("gain", gain, 1, cols);
    if (gain.present()) matrix("dgain", dgain, 1, cols);
    require("dgain", gain.present() || !dgain.present(), "is given without a gain");
  }
  void require(const char* name, bool holds, const char* problem) const {
    if (!holds) fail(name, problem);
  }
  [[noreturn]] void fail(const char* name, const std::string& problem) const {
    throw ShapeError(std::string(operation_) + ": " + name + " " + problem + ".");
  }

 private:
  const char* operation_;
};

void rope_shape(const Checks& checks, ConstView x, std::int64_t head_dim) {
  checks.valid("x", x);
  if (head_dim <= 0 || head_dim % 2 != 0) {
    checks.fail("head_dim", "is " + std::to_string(head_dim) + " but must be even and positive to form rotated pairs");
  }
  if (x.cols % head_dim != 0) {
    checks.fail("x", "is " + text(x.rows, x.cols) + " and does not split into heads of " + std::to_string(head_dim));
  }
}

void attention_shape(const Checks& checks, const AttentionShape& shape) {
  if (shape.heads <= 0 || shape.kv_heads <= 0 || shape.heads % shape.kv_heads != 0) {
    checks.fail("heads", "is " + std::to_string(shape.heads) + " but must be a positive multiple of kv_heads (" +
                             std::to_string(shape.kv_heads) + ")");
  }
  checks.require("head_dim", shape.head_dim > 0, "must be positive");
  checks.require("window", shape.window >= 0, "must not be negative");
}

void attention_inputs(const Checks& checks, ConstView q, ConstView k, ConstView v, ConstIndexView positions,
                      const AttentionShape& shape, ConstView logsumexp) {
  attention_shape(checks, shape);
  checks.matrix("q", q, q.rows, shape.heads * shape.head_dim);
  checks.matrix("k", k, q.rows, shape.kv_heads * shape.head_dim);
  checks.matrix("v", v, q.rows, shape.kv_heads * shape.head_dim);
  checks.index("positions", positions, q.rows);
  checks.matrix("logsumexp", logsumexp, q.rows, shape.heads);
}

void fusion_inputs(const Checks& checks, const FusionShape& shape, ConstView state, ConstView token,
                   ConstIndexView fused, ConstView inv_rms) {
  checks.require("shift", shape.shift >= 0, "must not be negative");
  checks.valid("state", state);
  checks.matrix("token", token, state.rows, state.cols);
  checks.index("fused", fused, state.rows);
  if (shape.normalize) checks.matrix("inv_rms", inv_rms, state.rows, 1);
}

}  // namespace

void linear(ConstView x, ConstView w, ConstView y) {
  const Checks checks("linear");
  checks.valid("x", x);
  checks.matrix("w", w, w.rows, x.cols);
  checks.matrix("y", y, x.rows, w.rows);
}

void linear_backward_input(ConstView dy, ConstView w, ConstView dx) {
  const Checks checks("linear_backward_input");
  checks.valid("dy", dy);
  checks.matrix("w", w, dy.cols, w.cols);
  checks.matrix("dx", dx, dy.rows, w.cols);
}

void linear_backward_weight(ConstView dy, ConstView x, ConstView dw) {
  const Checks checks("linear_backward_weight");
  checks.valid("dy", dy);
  checks.matrix("x", x, dy.rows, x.cols);
  checks.matrix("dw", dw, dy.cols, x.cols);
}

void embed(ConstView table, ConstIndexView tokens, ConstView y) {
  const Checks checks("embed");
  checks.valid("table", table);
  checks.matrix("y", y, y.rows, table.cols);
  checks.index("tokens", tokens, y.rows);
}

void embed_backward(ConstView dy, ConstIndexView tokens, ConstView dtable) {
  const Checks checks("embed_backward");
  checks.valid("dy", dy);
  checks.index("tokens", tokens, dy.rows);
  checks.matrix("dtable", dtable, dtable.rows, dy.cols);
}

void rms_norm(ConstView x, ConstView gain, ConstView y, ConstView inv_rms) {
  const Checks checks("rms_norm");
  checks.valid("x", x);
  checks.optional("gain", gain, 1, x.cols);
  checks.matrix("y", y, x.rows, x.cols);
  checks.matrix("inv_rms", inv_rms, x.rows, 1);
}

void rms_norm_backward(ConstView dy, ConstView x, ConstView gain, ConstView inv_rms, ConstView dx, ConstView dgain) {
  const Checks checks("rms_norm_backward");
  checks.valid("x", x);
  checks.matrix("dy", dy, x.rows, x.cols);
  checks.matrix("inv_rms", inv_rms, x.rows, 1);
  checks.matrix("dx", dx, x.rows, x.cols);
  checks.gain(gain, dgain, x.cols);
}

void residual_rms_norm(ConstView x, ConstView branch, ConstView gain, ConstView sum, ConstView y, ConstView inv_rms) {
  const Checks checks("residual_rms_norm");
  checks.valid("x", x);
  checks.matrix("branch", branch, x.rows, x.cols);
  checks.optional("gain", gain, 1, x.cols);
  checks.matrix("sum", sum, x.rows, x.cols);
  checks.matrix("y", y, x.rows, x.cols);
  checks.matrix("inv_rms", inv_rms, x.rows, 1);
}

void residual_rms_norm_backward(ConstView dy, ConstView dsum, ConstView sum, ConstView gain, ConstView inv_rms,
                                ConstView dx, ConstView dbranch, ConstView dgain) {
  const Checks checks("residual_rms_norm_backward");
  checks.valid("sum", sum);
  checks.optional("dy", dy, sum.rows, sum.cols);
  checks.optional("dsum", dsum, sum.rows, sum.cols);
  checks.matrix("inv_rms", inv_rms, sum.rows, 1);
  checks.matrix("dx", dx, sum.rows, sum.cols);
  checks.matrix("dbranch", dbranch, sum.rows, sum.cols);
  checks.gain(gain, dgain, sum.cols);
}

void norm_rope(ConstView x, ConstIndexView positions, std::int64_t head_dim, bool normalize, ConstView y,
               ConstView inv_rms) {
  const Checks checks("norm_rope");
  rope_shape(checks, x, head_dim);
  checks.index("positions", positions, x.rows);
  checks.matrix("y", y, x.rows, x.cols);
  if (normalize) checks.matrix("inv_rms", inv_rms, x.rows, x.cols / head_dim);
}

void norm_rope_backward(ConstView dy, ConstView x, ConstView inv_rms, ConstIndexView positions, std::int64_t head_dim,
                        bool normalize, ConstView dx) {
  const Checks checks("norm_rope_backward");
  rope_shape(checks, x, head_dim);
  checks.index("positions", positions, x.rows);
  checks.matrix("dy", dy, x.rows, x.cols);
  checks.matrix("dx", dx, x.rows, x.cols);
  if (normalize) checks.matrix("inv_rms", inv_rms, x.rows, x.cols / head_dim);
}

void attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions, const AttentionShape& shape,
               ConstView y, ConstView logsumexp) {
  const Checks checks("attention");
  attention_inputs(checks, q, k, v, positions, shape, logsumexp);
  checks.matrix("y", y, q.rows, q.cols);
}

void attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y, ConstView logsumexp,
                        ConstIndexView positions, const AttentionShape& shape, ConstView dq, ConstView dk,
                        ConstView dv) {
  const Checks checks("attention_backward");
  attention_inputs(checks, q, k, v, positions, shape, logsumexp);
  checks.matrix("y", y, q.rows, q.cols);
  checks.matrix("dy", dy, q.rows, q.cols);
  checks.matrix("dq", dq, q.rows, q.cols);
  checks.matrix("dk", dk, k.rows, k.cols);
  checks.matrix("dv", dv, v.rows, v.cols);
}

void decode_attention(ConstView q, ConstView k_cache, ConstView v_cache, ConstIndexView first, ConstIndexView length,
                      const AttentionShape& shape, ConstView y) {
  const Checks checks("decode_attention");
  attention_shape(checks, shape);
  checks.matrix("q", q, q.rows, shape.heads * shape.head_dim);
  checks.matrix("k_cache", k_cache, k_cache.rows, shape.kv_heads * shape.head_dim);
  checks.matrix("v_cache", v_cache, k_cache.rows, k_cache.cols);
  checks.index("first", first, q.rows);
  checks.index("length", length, q.rows);
  checks.matrix("y", y, q.rows, q.cols);
}

void head_gate(ConstView x, ConstView logits, ConstView y) {
  const Checks checks("head_gate");
  checks.valid("x", x);
  checks.matrix("logits", logits, x.rows, logits.cols);
  checks.require("logits", logits.cols > 0 && x.cols % logits.cols == 0, "must have one column a head of x");
  checks.matrix("y", y, x.rows, x.cols);
}

void head_gate_backward(ConstView dy, ConstView x, ConstView logits, ConstView dx, ConstView dlogits) {
  const Checks checks("head_gate_backward");
  checks.valid("x", x);
  checks.matrix("dy", dy, x.rows, x.cols);
  checks.matrix("logits", logits, x.rows, logits.cols);
  checks.require("logits", logits.cols > 0 && x.cols % logits.cols == 0, "must have one column a head of x");
  checks.matrix("dx", dx, x.rows, x.cols);
  checks.matrix("dlogits", dlogits, x.rows, logits.cols);
}

void swiglu(ConstView gate_up, ConstView y) {
  const Checks checks("swiglu");
  checks.valid("y", y);
  checks.matrix("gate_up", gate_up, y.rows, 2 * y.cols);
}

void swiglu_backward(ConstView dy, ConstView gate_up, ConstView dgate_up) {
  const Checks checks("swiglu_backward");
  checks.valid("dy", dy);
  checks.matrix("gate_up", gate_up, dy.rows, 2 * dy.cols);
  checks.matrix("dgate_up", dgate_up, dy.rows, 2 * dy.cols);
}

void scaled(ConstView x, ConstView y) {
  const Checks checks("scaled");
  checks.valid("x", x);
  checks.matrix("y", y, x.rows, x.cols);
}

void fill(ConstView y) { Checks("fill").valid("y", y); }

void add_uniform(ConstView x, ConstView y) {
  const Checks checks("add_uniform");
  checks.valid("x", x);
  checks.matrix("y", y, x.rows, x.cols);
}

void gather_rows(ConstView x, ConstIndexView rows, ConstView y) {
  const Checks checks("gather_rows");
  checks.valid("x", x);
  checks.matrix("y", y, y.rows, x.cols);
  checks.index("rows", rows, y.rows);
}

void scatter_rows(ConstView x, ConstIndexView rows, ConstView y) {
  const Checks checks("scatter_rows");
  checks.valid("x", x);
  checks.matrix("y", y, y.rows, x.cols);
  checks.index("rows", rows, x.rows);
}

void row_distance(ConstView a, ConstView b, ConstView out) {
  const Checks checks("row_distance");
  checks.valid("a", a);
  checks.matrix("b", b, a.rows, a.cols);
  checks.matrix("out", out, a.rows, 1);
}

void fuse(const FusionShape& shape, ConstView state, ConstView token, ConstView plain, ConstView gain,
          ConstIndexView fused, ConstView y, ConstView inv_rms) {
  const Checks checks("fuse");
  fusion_inputs(checks, shape, state, token, fused, inv_rms);
  checks.matrix("plain", plain, state.rows, state.cols);
  checks.optional("gain", gain, 1, state.cols);
  checks.matrix("y", y, state.rows, state.cols);
}

void fuse_backward(const FusionShape& shape, ConstView dy, ConstView state, ConstView token, ConstView gain,
                   ConstView inv_rms, ConstIndexView fused, ConstView dstate, ConstView dtoken, ConstView dplain,
                   ConstView dgain) {
  const Checks checks("fuse_backward");
  fusion_inputs(checks, shape, state, token, fused, inv_rms);
  checks.matrix("dy", dy, state.rows, state.cols);
  checks.matrix("dstate", dstate, state.rows, state.cols);
  checks.matrix("dtoken", dtoken, state.rows, state.cols);
  checks.matrix("dplain", dplain, state.rows, state.cols);
  checks.gain(gain, dgain, state.cols);
}

void head_loss(const HeadLoss& args) {
  const Checks checks("head_loss");
  const std::int64_t n = args.states.rows;
  checks.valid("states", args.states);
  checks.matrix("weight", args.weight, args.weight.rows, args.states.cols);
  checks.require("weight", args.weight.rows > 0 || n == 0, "has no rows: the vocabulary is empty");
  checks.index("targets", args.targets, n);
  checks.matrix("row_weight", args.row_weight, n, 1);
  checks.matrix("nll", args.nll, n, 1);
  checks.index("argmax", args.argmax, n);
  checks.optional("d_states", args.d_states, n, args.states.cols);
  checks.optional("d_weight", args.d_weight, args.weight.rows, args.weight.cols);
}

void sample(ConstView logits, const SamplerShape& shape, ConstView uniforms, ConstIndexView tokens, ConstView logprob,
            ConstView entropy) {
  const Checks checks("sample");
  checks.valid("logits", logits);
  checks.require("logits", logits.cols > 0 || logits.rows == 0, "has no columns: the vocabulary is empty");
  checks.require("temperature", shape.temperature >= 0.0F, "must be 0 (greedy) or positive");
  checks.require("top_k", shape.top_k >= 0, "must be 0 (off) or positive");
  checks.require("top_p", shape.top_p > 0.0F && shape.top_p <= 1.0F, "must be in (0, 1]; 1 is off");
  checks.matrix("uniforms", uniforms, logits.rows, 1);
  checks.index("tokens", tokens, logits.rows);
  checks.matrix("logprob", logprob, logits.rows, 1);
  checks.matrix("entropy", entropy, logits.rows, 1);
}

void adamw(ConstView parameter, ConstView gradient, ConstView first_moment, ConstView second_moment,
           const AdamStep& step) {
  const Checks checks("adamw");
  checks.valid("parameter", parameter);
  checks.matrix("gradient", gradient, parameter.rows, parameter.cols);
  checks.matrix("first_moment", first_moment, parameter.rows, parameter.cols);
  checks.matrix("second_moment", second_moment, parameter.rows, parameter.cols);
  if (step.step < 1) checks.fail("step", "is " + std::to_string(step.step) + " but counts from 1");
}

void normuon(ConstView parameter, ConstView gradient, ConstView momentum, ConstView row_moment) {
  const Checks checks("normuon");
  checks.valid("parameter", parameter);
  checks.matrix("gradient", gradient, parameter.rows, parameter.cols);
  checks.matrix("momentum", momentum, parameter.rows, parameter.cols);
  checks.matrix("row_moment", row_moment, parameter.rows, 1);
}

void clip_by_norm(ConstView gradients, ConstView norm) {
  const Checks checks("clip_by_norm");
  checks.valid("gradients", gradients);
  checks.matrix("norm", norm, 1, 1);
}

void check_range(const char* operation, const char* name, ConstIndexView values, std::int64_t low, std::int64_t high) {
  for (std::int64_t i = 0; i < values.count; ++i) {
    const std::int64_t value = values.data[i];
    if (value >= low && value < high) continue;
    Checks(operation).fail(name, "holds " + std::to_string(value) + " at row " + std::to_string(i) + ", outside [" +
                                     std::to_string(low) + ", " + std::to_string(high) + ")");
  }
}

void check_documents(const char* operation, ConstIndexView positions) {
  for (std::int64_t n = 0; n < positions.count; ++n) {
    const std::int64_t value = positions.data[n];
    if (value == 0 || (n > 0 && value == std::int64_t{positions.data[n - 1]} + 1)) continue;
    Checks(operation).fail("positions", "holds " + std::to_string(value) + " at row " + std::to_string(n) +
                                            "; a document counts up from 0");
  }
}

void check_cache_ranges(const char* operation, ConstIndexView first, ConstIndexView length, std::int64_t rows) {
  for (std::int64_t r = 0; r < first.count; ++r) {
    const std::int64_t begin = first.data[r];
    const std::int64_t count = length.data[r];
    if (begin >= 0 && count >= 1 && begin + count <= rows) continue;
    Checks(operation).fail("length", "asks at row " + std::to_string(r) + " for " + std::to_string(count) +
                                         " cache rows from " + std::to_string(begin) + " of " + std::to_string(rows));
  }
}

void check_fused(const char* operation, ConstIndexView fused, std::int64_t shift) {
  for (std::int64_t n = 0; n < fused.count && n < shift; ++n) {
    if (fused.data[n] == 0) continue;
    Checks(operation).fail("fused", "asks row " + std::to_string(n) + " for a state before the first row");
  }
}

}  // namespace kernels::shapes
