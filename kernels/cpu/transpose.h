// Transposed copies, by squares of four.
#pragma once

#include <cstdint>

#include "kernels/tensor.h"

namespace kernels::cpu {

/// to[cols, stride] = x^T, with zeros where there is no row; stride at least x.rows.
void transpose(ConstView x, float* to, std::int64_t stride);

}  // namespace kernels::cpu
