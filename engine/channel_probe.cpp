#include "engine/channel_probe.h"

#include "engine/device_copy.h"
#include "engine/ops.h"

namespace engine {

using kernels::View;
using kernels::Write;

ChannelProbe::ChannelProbe(kernels::Backend& backend, const Parameters& parameters, const data::Batch& batch)
    : backend_(&backend),
      batch_(&batch),
      base_(backend),
      pass_(backend),
      tape_(backend, base_),
      model_(tape_, parameters) {
  tape_.seal();
  tape_.set_recording(false);
  positions_ = upload_indices(backend, base_, batch.positions);
  targets_ = upload_indices(backend, base_, batch.targets);
  const Variable embeddings = model_.embed(upload_indices(backend, base_, batch.tokens));
  token_side_ = tape_.value(model_.token_side(embeddings));
  plain_pass1_ = tape_.value(model_.plain_input(embeddings, false));
  plain_feedback_ = tape_.value(model_.plain_input(embeddings, true));
  const auto count = static_cast<std::int64_t>(batch.tokens.size());
  states_ = base_.matrix(count, model_.config().dim);
  weight_ = base_.matrix(count, 1);
  backend.fill(weight_, 1.0F);
  flags_ = base_.indices(count);
}

void ChannelProbe::begin_pass() {
  tape_.clear();
  pass_.reset();
  tape_.use_arena(pass_);
}

std::vector<float> ChannelProbe::stack_and_score(Variable input, const ResidualObserver& on_residual,
                                                 bool keep_states) {
  StackHooks hooks;
  if (on_residual) {
    hooks.on_residual = [&](std::int64_t depth, Variable residual) {
      on_residual(depth, download_matrix(*backend_, tape_.value(residual)));
    };
  }
  const StackOutput top = model_.stack(input, positions_, hooks);
  if (keep_states) backend_->scaled(tape_.value(top.carried), 1.0F, states_, Write::assign);
  return download_matrix(*backend_, ops::head_loss(tape_, top.normed, model_.head(), targets_, weight_, 0.0F).nll);
}

std::vector<float> ChannelProbe::prepare(const std::vector<std::int32_t>& fused, int feedback_passes,
                                         const ResidualObserver& on_plain_residual) {
  fused_ = fused;
  backend_->upload(fused.data(), flags_.data, static_cast<std::int64_t>(fused.size() * sizeof(std::int32_t)));
  begin_pass();
  std::vector<float> nll = stack_and_score(tape_.constant(plain_pass1_), on_plain_residual, /*keep_states=*/true);
  for (int pass = 1; pass < feedback_passes; ++pass) {
    begin_pass();
    stack_and_score(changed_input({}), {}, /*keep_states=*/true);
  }
  return nll;
}

Variable ChannelProbe::changed_input(const Change& change) {
  View states = states_;
  View token_side = token_side_;
  if (!change.states.empty()) states = upload_matrix(*backend_, pass_, change.states, states_.cols);
  if (!change.token_side.empty()) token_side = upload_matrix(*backend_, pass_, change.token_side, token_side_.cols);
  const Variable input = model_.fused_input(tape_.constant(states), tape_.constant(token_side),
                                            tape_.constant(plain_feedback_), flags_, 1);
  if (change.input_scale == 1.0F) return input;
  std::vector<std::int32_t> rows;
  for (std::size_t n = 0; n < fused_.size(); ++n) {
    if (fused_[n] != 0) rows.push_back(static_cast<std::int32_t>(n));
  }
  const kernels::IndexView fused_rows = upload_indices(*backend_, pass_, rows);
  const View chosen = pass_.matrix(fused_rows.count, states_.cols);
  const View scaled = pass_.matrix(fused_rows.count, states_.cols);
  backend_->gather_rows(tape_.value(input), fused_rows, chosen);
  backend_->scaled(chosen, change.input_scale, scaled, Write::assign);
  backend_->scatter_rows(scaled, fused_rows, tape_.value(input));
  return input;
}

std::vector<float> ChannelProbe::run(const Change& change, const ResidualObserver& on_residual) {
  begin_pass();
  return stack_and_score(changed_input(change), on_residual, /*keep_states=*/false);
}

std::vector<float> ChannelProbe::states() const { return download_matrix(*backend_, states_); }
std::vector<float> ChannelProbe::token_side() const { return download_matrix(*backend_, token_side_); }

}  // namespace engine
