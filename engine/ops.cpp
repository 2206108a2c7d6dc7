#include "engine/ops.h"

namespace engine::ops {

using kernels::ConstIndexView;
using kernels::ConstView;
using kernels::View;
using kernels::Write;

namespace {

ConstView value_or_absent(const Tape& tape, Variable variable) {
  return variable.present() ? ConstView(tape.value(variable)) : ConstView{};
}

/// The target of an optional parameter: absent when there is none or nobody wants its gradient.
GradientTarget optional_target(Tape& tape, Variable variable) {
  if (!variable.present() || !tape.differentiable(variable)) return {};
  return tape.gradient_target(variable);
}

/// Backwards that always write an input's gradient write it to memory that nobody reads when the input is constant.
GradientTarget target_or_scratch(Tape& tape, Variable variable) {
  if (tape.differentiable(variable)) return tape.gradient_target(variable);
  const View value = tape.value(variable);
  return {tape.arena().matrix(value.rows, value.cols), Write::assign};
}

/// The target of an optional gain; memory that nobody reads when its gradient is not wanted.
GradientTarget gain_target(Tape& tape, Variable gain) {
  return gain.present() ? target_or_scratch(tape, gain) : GradientTarget{};
}

}  // namespace

Variable linear(Tape& tape, Variable x, Variable w) {
  const Variable y =
      tape.result(tape.value(x).rows, tape.value(w).rows, tape.differentiable(x) || tape.differentiable(w));
  tape.backend().linear(tape.value(x), tape.value(w), tape.value(y), Write::assign);
  if (!tape.differentiable(y)) return y;
  tape.record([x, w, y](Tape& t) {
    const ConstView dy = t.gradient(y);
    if (!dy.present()) return;
    if (t.differentiable(x)) {
      const GradientTarget dx = t.gradient_target(x);
      t.backend().linear_backward_input(dy, t.value(w), dx.view, dx.write);
    }
    if (t.differentiable(w)) {
      const GradientTarget dw = t.gradient_target(w);
      t.backend().linear_backward_weight(dy, t.value(x), dw.view, dw.write);
    }
  });
  return y;
}

Variable embed(Tape& tape, Variable table, ConstIndexView tokens) {
  const Variable y = tape.result(tokens.count, tape.value(table).cols, tape.differentiable(table));
  tape.backend().embed(tape.value(table), tokens, tape.value(y));
  if (!tape.differentiable(y)) return y;
  tape.record([table, tokens, y](Tape& t) {
    const ConstView dy = t.gradient(y);
    if (!dy.present()) return;
    const GradientTarget dtable = t.gradient_target(table);
    t.backend().embed_backward(dy, tokens, dtable.view, dtable.write);
  });
  return y;
}

Variable rms_norm(Tape& tape, Variable x, Variable gain) {
  const View in = tape.value(x);
  const bool differentiable = tape.differentiable(x) || (gain.present() && tape.differentiable(gain));
  const Variable y = tape.result(in.rows, in.cols, differentiable);
  const View inv_rms = tape.arena().matrix(in.rows, 1);
  tape.backend().rms_norm(in, value_or_absent(tape, gain), tape.value(y), inv_rms);
  if (!tape.differentiable(y)) return y;
  tape.record([x, gain, y, inv_rms](Tape& t) {
    const ConstView dy = t.gradient(y);
    if (!dy.present()) return;
    const GradientTarget dx = target_or_scratch(t, x);
    const GradientTarget dgain = gain_target(t, gain);
    t.backend().rms_norm_backward(dy, t.value(x), value_or_absent(t, gain), inv_rms, dx.view, dx.write, dgain.view,
                                  dgain.write);
  });
  return y;
}

ResidualNorm residual_rms_norm(Tape& tape, Variable x, Variable branch, float scale, Variable gain) {
  const View in = tape.value(x);
  const bool differentiable = tape.differentiable(x) || tape.differentiable(branch);
  const Variable sum = tape.result(in.rows, in.cols, differentiable);
  const Variable norm = tape.result(in.rows, in.cols, differentiable);
  const View inv_rms = tape.arena().matrix(in.rows, 1);
  tape.backend().residual_rms_norm(in, tape.value(branch), scale, tape.value(gain), tape.value(sum), tape.value(norm),
                                   inv_rms);
  if (!differentiable) return {sum, norm};
  tape.record([=](Tape& t) {
    if (!t.has_gradient(norm) && !t.has_gradient(sum)) return;
    const GradientTarget dx = target_or_scratch(t, x);
    const GradientTarget dbranch = target_or_scratch(t, branch);
    const GradientTarget dgain = gain_target(t, gain);
    t.backend().residual_rms_norm_backward(t.gradient(norm), t.gradient(sum), t.value(sum), t.value(gain), inv_rms,
                                           scale, dx.view, dx.write, dbranch.view, dgain.view, dgain.write);
  });
  return {sum, norm};
}

Variable swiglu(Tape& tape, Variable gate_up) {
  const View in = tape.value(gate_up);
  const Variable y = tape.result(in.rows, in.cols / 2, tape.differentiable(gate_up));
  tape.backend().swiglu(in, tape.value(y));
  if (!tape.differentiable(y)) return y;
  tape.record([gate_up, y](Tape& t) {
    if (!t.has_gradient(y)) return;
    t.backend().swiglu_backward(t.gradient(y), t.value(gate_up), t.gradient_target(gate_up).view);
  });
  return y;
}

Variable fuse(Tape& tape, const kernels::FusionShape& shape, Variable state, Variable token, Variable plain,
              Variable gain, ConstIndexView fused) {
  const View in = tape.value(token);
  const ConstView gain_value = value_or_absent(tape, gain);
  const Variable y = tape.result(in.rows, in.cols, tape.recording());
  const View inv_rms = tape.arena().matrix(in.rows, 1);
  tape.backend().fuse(shape, tape.value(state), in, tape.value(plain), gain_value, fused, tape.value(y), inv_rms);
  if (!tape.differentiable(y)) return y;
  tape.record([=](Tape& t) {
    if (!t.has_gradient(y)) return;
    const GradientTarget dstate = target_or_scratch(t, state);
    const GradientTarget dtoken = target_or_scratch(t, token);
    const GradientTarget dplain = target_or_scratch(t, plain);
    const GradientTarget dgain = gain_target(t, gain);
    t.backend().fuse_backward(shape, t.gradient(y), t.value(state), t.value(token), gain_value, inv_rms, fused,
                              dstate.view, dtoken.view, dtoken.write, dplain.view, dplain.write, dgain.view,
                              dgain.write);
  });
  return y;
}

Variable add_uniform(Tape& tape, Variable x, float amplitude, const kernels::PhiloxStream& stream) {
  const View in = tape.value(x);
  const Variable y = tape.result(in.rows, in.cols, tape.differentiable(x));
  tape.backend().add_uniform(in, amplitude, stream, tape.value(y));
  if (!tape.differentiable(y)) return y;
  tape.record([x, y](Tape& t) {
    if (!t.has_gradient(y)) return;
    const GradientTarget dx = t.gradient_target(x);
    t.backend().scaled(t.gradient(y), 1.0F, dx.view, dx.write);
  });
  return y;
}

Variable add_constant(Tape& tape, Variable x, ConstView constant) {
  const View in = tape.value(x);
  const Variable y = tape.result(in.rows, in.cols, tape.differentiable(x));
  tape.backend().scaled(in, 1.0F, tape.value(y), Write::assign);
  tape.backend().scaled(constant, 1.0F, tape.value(y), Write::accumulate);
  if (!tape.differentiable(y)) return y;
  tape.record([x, y](Tape& t) {
    if (!t.has_gradient(y)) return;
    const GradientTarget dx = t.gradient_target(x);
    t.backend().scaled(t.gradient(y), 1.0F, dx.view, dx.write);
  });
  return y;
}

Variable detach(Tape& tape, Variable x) { return tape.constant(tape.value(x)); }

LossRows head_loss(Tape& tape, Variable states, Variable head, ConstIndexView targets, ConstView row_weight,
                   float z_weight) {
  kernels::HeadLoss args;
  args.states = tape.value(states);
  args.weight = tape.value(head);
  args.targets = targets;
  args.row_weight = row_weight;
  args.z_weight = z_weight;
  args.nll = tape.arena().matrix(targets.count, 1);
  args.argmax = tape.arena().indices(targets.count);
  if (tape.recording()) {
    const GradientTarget d_states = optional_target(tape, states);
    const GradientTarget d_weight = optional_target(tape, head);
    args.d_states = d_states.view;
    args.d_states_write = d_states.write;
    args.d_weight = d_weight.view;
    args.d_weight_write = d_weight.write;
  }
  tape.backend().head_loss(args);
  return {args.nll, args.argmax};
}

}  // namespace engine::ops
