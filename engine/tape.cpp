#include "engine/tape.h"

namespace engine {

void Tape::clear() {
  clear_keeping_gradients();
  for (Entry& entry : entries_) entry.arrived = false;
}

void Tape::clear_keeping_gradients() {
  entries_.resize(sealed_);
  records_.clear();
  scopes_.clear();
  in_backward_ = false;
  if (scratch_ != nullptr) scratch_->reset();
}

void Tape::begin_scope() {
  if (recording_ && scratch_ != nullptr && !in_backward_)
    scopes_.push_back({records_.size(), entries_.size(), {}, true});
}

Variable Tape::add(const Entry& entry) {
  entries_.push_back(entry);
  return {static_cast<std::int32_t>(entries_.size() - 1)};
}

Variable Tape::constant(kernels::View value) { return add({value, {}, false, false}); }

Variable Tape::leaf(kernels::View value, kernels::View gradient) {
  return add({value, gradient, gradient.present(), false});
}

Variable Tape::result(std::int64_t rows, std::int64_t cols, bool differentiable) {
  return add({arena().matrix(rows, cols), {}, recording_ && differentiable, false});
}

kernels::ConstView Tape::gradient(Variable variable) const {
  const Entry& e = entry(variable);
  return e.arrived ? kernels::ConstView(e.gradient) : kernels::ConstView{};
}

GradientTarget Tape::gradient_target(Variable variable) {
  Entry& e = entries_[static_cast<std::size_t>(variable.id)];
  if (!e.gradient.present()) {
    const bool own = backward_in_scope() && static_cast<std::size_t>(variable.id) >= scope_entry_;
    e.gradient = (own ? scratch_ : arena_)->matrix(e.value.rows, e.value.cols);
  }
  const kernels::Write write = e.arrived ? kernels::Write::accumulate : kernels::Write::assign;
  e.arrived = true;
  return {e.gradient, write};
}

void Tape::backward() {
  in_backward_ = true;
  while (!scopes_.empty()) {
    const Place scope = scopes_.back();
    scopes_.pop_back();
    scope_entry_ = scope.entry;
    run_backwards(scope.record);
    records_.resize(scope.record);
    scratch_->rewind({});
  }
  scope_entry_ = 0;
  run_backwards(0);
  in_backward_ = false;
}

void Tape::run_backwards(std::size_t first) {
  for (std::size_t i = records_.size(); i > first; --i) {
    const Record record = records_[i - 1];  // a copy, because what it calls may record anew
    record.call(record.bytes, *this);
  }
}

Tape::Place Tape::begin_forgetting() {
  const Place place{records_.size(), entries_.size(), arena_->mark(), recording_};
  recording_ = false;
  return place;
}

void Tape::forget(const Place& place) {
  recording_ = place.recording;
  records_.resize(place.record);
  entries_.resize(place.entry);
  arena_->rewind(place.memory);
}

void Tape::hand_over(Variable from, Variable to) {
  const Entry& source = entry(from);
  Entry& target = entries_[static_cast<std::size_t>(to.id)];
  target.gradient = source.gradient;
  target.arrived = source.arrived;
}

}  // namespace engine
