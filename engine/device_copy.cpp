#include "engine/device_copy.h"

namespace engine {

kernels::IndexView upload_indices(kernels::Backend& backend, Arena& arena, const std::vector<std::int32_t>& values) {
  const kernels::IndexView view = arena.indices(static_cast<std::int64_t>(values.size()));
  backend.upload(values.data(), view.data, view.count * std::int64_t{sizeof(std::int32_t)});
  return view;
}

kernels::View upload_matrix(kernels::Backend& backend, Arena& arena, const std::vector<float>& values,
                            std::int64_t cols) {
  const auto size = static_cast<std::int64_t>(values.size());
  const kernels::View view = arena.matrix(cols == 0 ? 0 : size / cols, cols);
  backend.upload(values.data(), view.data, size * std::int64_t{sizeof(float)});
  return view;
}

void download_matrix(kernels::Backend& backend, kernels::ConstView view, std::vector<float>& values) {
  values.resize(static_cast<std::size_t>(view.size()));
  if (view.contiguous()) {
    backend.download(view.data, values.data(), view.size() * std::int64_t{sizeof(float)});
    return;
  }
  for (std::int64_t r = 0; r < view.rows; ++r) {
    backend.download(view.row(r), values.data() + r * view.cols, view.cols * std::int64_t{sizeof(float)});
  }
}

std::vector<float> download_matrix(kernels::Backend& backend, kernels::ConstView view) {
  std::vector<float> values;
  download_matrix(backend, view, values);
  return values;
}

std::vector<std::int32_t> download_indices(kernels::Backend& backend, kernels::ConstIndexView view) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(view.count));
  backend.download(view.data, values.data(), view.count * std::int64_t{sizeof(std::int32_t)});
  return values;
}

}  // namespace engine
