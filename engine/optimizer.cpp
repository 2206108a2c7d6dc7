#include "engine/optimizer.h"

#include <algorithm>

#include "engine/device_copy.h"
#include "engine/error.h"

namespace engine {

using kernels::View;

namespace {

/// Whether a parameter's second moment is NorMuon's one number a row.
bool has_row_moment(const ParameterInfo& info, OptimizerType type) {
  return type == OptimizerType::normuon && is_muon_matrix(info);
}

HostTensor read_moment(kernels::Backend& backend, const std::string& name, const ParameterInfo& info, View view) {
  return {name, view.cols == info.cols ? info.shape : std::vector<std::int64_t>{view.rows, view.cols},
          download_matrix(backend, view)};
}

const HostTensor& find_tensor(const std::vector<HostTensor>& tensors, const std::string& name,
                              const std::string& source) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const HostTensor& t) { return t.name == name; });
  if (found == tensors.end()) throw FormatError(source, "tensor " + name + " is missing");
  return *found;
}

void write_moment(kernels::Backend& backend, const HostTensor& tensor, View view, const std::string& source) {
  if (static_cast<std::int64_t>(tensor.values.size()) != view.size()) {
    throw FormatError(source, "tensor " + tensor.name + " has another shape than the configuration says");
  }
  backend.upload(tensor.values.data(), view.data, view.size() * std::int64_t{sizeof(float)});
}

}  // namespace

Optimizer::Optimizer(kernels::Backend& backend, const Parameters& parameters)
    : backend_(&backend), parameters_(&parameters), counts_(parameters.layout().size(), 0) {
  const std::int64_t floats = parameter_floats(parameters.layout());
  for (kernels::Buffer* buffer : {&first_, &second_}) {
    *buffer = backend.allocate(floats * std::int64_t{sizeof(float)});
    backend.fill(buffer->matrix(1, floats), 0.0F);
  }
}

View Optimizer::moment(const kernels::Buffer& buffer, const ParameterInfo& info) const {
  return {static_cast<float*>(buffer.data()) + info.offset, info.rows, info.cols, info.cols};
}

void Optimizer::step(const OptimizerSettings& settings, const std::function<bool(const ParameterInfo&)>& has_gradient) {
  const auto& layout = parameters_->layout();
  const bool normuon = settings.type == OptimizerType::normuon;
  std::size_t first = 0;
  while (first < layout.size()) {
    if (!has_gradient(layout[first])) {
      ++first;
      continue;
    }
    if (normuon && is_muon_matrix(layout[first])) {
      const ParameterInfo& info = layout[first];
      View row_moment = moment(second_, info);
      row_moment = {row_moment.data, info.rows, 1, 1};
      backend_->normuon(parameters_->value(info), parameters_->gradient(info), moment(first_, info), row_moment,
                        {settings.rate, 0.95F, 0.95F, 1e-8F, settings.weight_decay});
      ++counts_[first++];
      continue;
    }
    // Neighbours with the same count of steps go in one call: the gaps between them hold zeros and stay zero.
    std::size_t last = first + 1;
    while (last < layout.size() && counts_[last] == counts_[first] && has_gradient(layout[last]) &&
           !(normuon && is_muon_matrix(layout[last]))) {
      ++last;
    }
    adam_range(first, last, settings, normuon);
    first = last;
  }
}

void Optimizer::adam_range(std::size_t first, std::size_t last, const OptimizerSettings& settings,
                           bool rest_of_normuon) {
  const auto& layout = parameters_->layout();
  const std::int64_t begin = layout[first].offset;
  const std::int64_t count = layout[last - 1].offset + layout[last - 1].size() - begin;
  const auto moments = [&](const kernels::Buffer& buffer) {
    return View{static_cast<float*>(buffer.data()) + begin, 1, count, count};
  };
  kernels::AdamStep step;
  step.rate = rest_of_normuon ? settings.adam_rate : settings.rate;
  step.weight_decay = rest_of_normuon ? 0.0F : settings.weight_decay;
  step.beta1 = settings.beta1;
  step.beta2 = settings.beta2;
  step.epsilon = settings.epsilon;
  step.step = counts_[first] + 1;
  backend_->adamw(parameters_->all_values().column_range(begin, count),
                  parameters_->all_gradients().column_range(begin, count), moments(first_), moments(second_), step);
  for (std::size_t i = first; i < last; ++i) ++counts_[i];
}

std::vector<HostTensor> Optimizer::store(OptimizerType type) const {
  std::vector<HostTensor> tensors;
  for (const ParameterInfo& info : parameters_->layout()) {
    tensors.push_back(read_moment(*backend_, "first." + info.name, info, moment(first_, info)));
    View second = moment(second_, info);
    if (has_row_moment(info, type)) second = {second.data, info.rows, 1, 1};
    tensors.push_back(read_moment(*backend_, "second." + info.name, info, second));
  }
  return tensors;
}

void Optimizer::load(const std::vector<HostTensor>& tensors, const std::vector<std::int64_t>& counts,
                     OptimizerType type, const std::string& source) {
  const auto& layout = parameters_->layout();
  if (tensors.size() != 2 * layout.size() || counts.size() != layout.size()) {
    throw FormatError(source, "the optimiser state does not belong to this model");
  }
  for (const ParameterInfo& info : layout) {
    write_moment(*backend_, find_tensor(tensors, "first." + info.name, source), moment(first_, info), source);
    View second = moment(second_, info);
    if (has_row_moment(info, type)) second = {second.data, info.rows, 1, 1};
    write_moment(*backend_, find_tensor(tensors, "second." + info.name, source), second, source);
  }
  counts_ = counts;
}

}  // namespace engine
