#include "engine/tape.h"

namespace engine {

void Tape::clear() {
  entries_.resize(sealed_);
  for (Entry& entry : entries_) entry.arrived = false;
  records_.clear();
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
  return add({arena_->matrix(rows, cols), {}, recording_ && differentiable, false});
}

kernels::ConstView Tape::gradient(Variable variable) const {
  const Entry& e = entry(variable);
  return e.arrived ? kernels::ConstView(e.gradient) : kernels::ConstView{};
}

GradientTarget Tape::gradient_target(Variable variable) {
  Entry& e = entries_[static_cast<std::size_t>(variable.id)];
  if (!e.gradient.present()) e.gradient = arena_->matrix(e.value.rows, e.value.cols);
  const kernels::Write write = e.arrived ? kernels::Write::accumulate : kernels::Write::assign;
  e.arrived = true;
  return {e.gradient, write};
}

void Tape::backward() {
  for (auto record = records_.rbegin(); record != records_.rend(); ++record) record->call(record->bytes, *this);
}

}  // namespace engine
