#include "engine/pass_runner.h"

#include "engine/device_copy.h"

namespace engine {

using kernels::ConstView;
using kernels::View;
using kernels::Write;

PassRunner::PassRunner(kernels::Backend& backend, const Parameters& parameters)
    : backend_(&backend), base_(backend), pass_(backend), tape_(backend, base_), model_(tape_, parameters) {
  tape_.seal();
  tape_.set_recording(false);
}

void PassRunner::begin(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& positions) {
  tape_.clear();
  base_.reset();
  tape_.use_arena(base_);
  tokens_ = upload_indices(*backend_, base_, tokens);
  positions_ = upload_indices(*backend_, base_, positions);
  const Variable embeddings = model_.embed(tokens_);
  embeddings_ = tape_.value(embeddings);
  plain_pass1_ = tape_.value(model_.plain_input(embeddings, false));
  has_token_side_ = false;
  const std::int64_t n = tokens_.count;
  const std::int64_t dim = model_.config().dim;
  carried_[0] = base_.matrix(n, dim);
  carried_[1] = base_.matrix(n, dim);
  normed_ = base_.matrix(n, dim);
  current_ = 0;
}

void PassRunner::begin_pass() {
  tape_.clear();
  pass_.reset();
  tape_.use_arena(pass_);
}

void PassRunner::finish_pass(const StackOutput& top) {
  current_ = 1 - current_;
  backend_->scaled(tape_.value(top.carried), 1.0F, carried_[current_], Write::assign);
  backend_->scaled(tape_.value(top.normed), 1.0F, normed_, Write::assign);
}

void PassRunner::plain_pass(const StackHooks& hooks) {
  begin_pass();
  finish_pass(model_.stack(tape_.constant(plain_pass1_), positions_, hooks));
}

void PassRunner::feedback_pass(const std::vector<std::int32_t>& fused, const StackHooks& hooks, bool plain_as_in_pass1,
                               ConstView states) {
  if (!has_token_side_) {  // the same in every pass over these rows
    tape_.clear();
    tape_.use_arena(base_);
    const Variable embeddings = tape_.constant(embeddings_);
    token_side_ = tape_.value(model_.token_side(embeddings));
    plain_feedback_ = tape_.value(model_.plain_input(embeddings, true));
    has_token_side_ = true;
  }
  begin_pass();
  View from = carried_[current_];
  if (states.present()) {
    from = pass_.matrix(states.rows, states.cols);
    backend_->scaled(states, 1.0F, from, Write::assign);
  }
  const kernels::IndexView flags = upload_indices(*backend_, pass_, fused);
  const View plain = plain_as_in_pass1 ? plain_pass1_ : plain_feedback_;
  const Variable input =
      model_.fused_input(tape_.constant(from), tape_.constant(token_side_), tape_.constant(plain), flags, 1);
  finish_pass(model_.stack(input, positions_, hooks));
}

PassRunner::Scores PassRunner::score(const std::vector<std::int32_t>& targets) {
  begin_pass();
  const kernels::IndexView device_targets = upload_indices(*backend_, pass_, targets);
  const View weight = pass_.matrix(device_targets.count, 1);
  backend_->fill(weight, 1.0F);
  const ops::LossRows rows =
      ops::head_loss(tape_, tape_.constant(normed_), model_.head(), device_targets, weight, 0.0F);
  return {download_matrix(*backend_, rows.nll), download_indices(*backend_, rows.argmax)};
}

std::vector<float> PassRunner::logits(const std::vector<std::int32_t>& rows) {
  begin_pass();
  const kernels::IndexView device_rows = upload_indices(*backend_, pass_, rows);
  const View chosen = pass_.matrix(device_rows.count, normed_.cols);
  backend_->gather_rows(normed_, device_rows, chosen);
  return download_matrix(*backend_, tape_.value(model_.logits(tape_.constant(chosen))));
}

kernels::IndexView PassRunner::keep_indices(const std::vector<std::int32_t>& values) {
  return upload_indices(*backend_, base_, values);
}

}  // namespace engine
