// Attention, forward; see attention_forward.cuh.
#include <cmath>

#include "kernels/cuda/attention_bf16.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/tiles_float.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {

void CudaBackend::attention(ConstView q, ConstView k, ConstView v, ConstIndexView positions,
                            const AttentionShape& shape, View y, View logsumexp) {
  shapes::attention(q, k, v, positions, shape, y, logsumexp);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  const Forward operands{q, k, v, positions.data, shape, scale, y, logsumexp};
  if (blas_.products() == Products::bf16) {
    attention_bf16(queue_, operands);
  } else {
    run_attention<FloatTiles>(queue_, operands);
  }
}

}  // namespace kernels::cuda
