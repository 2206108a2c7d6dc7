// Host vectors on the device and back.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/arena.h"
#include "kernels/backend.h"

namespace engine {

/// Copies into arena memory, valid until the arena's reset.
kernels::IndexView upload_indices(kernels::Backend& backend, Arena& arena, const std::vector<std::int32_t>& values);
/// `values` as a matrix of `cols` columns, row-major.
kernels::View upload_matrix(kernels::Backend& backend, Arena& arena, const std::vector<float>& values,
                            std::int64_t cols);

/// Row-major values of a view of any stride.
std::vector<float> download_matrix(kernels::Backend& backend, kernels::ConstView view);
/// The same into `values`, whose memory is used again.
void download_matrix(kernels::Backend& backend, kernels::ConstView view, std::vector<float>& values);
std::vector<std::int32_t> download_indices(kernels::Backend& backend, kernels::ConstIndexView view);

}  // namespace engine
