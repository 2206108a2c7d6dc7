// Attention, backward; see attention_gradients.cuh.
#include <cmath>

#include "kernels/cuda/attention_bf16.h"
#include "kernels/cuda/backend.h"
#include "kernels/cuda/tiles_float.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

__global__ void means_kernel(Backward o) {
  const std::int64_t d = o.shape.head_dim;
  for (std::int64_t item = first_warp(); item < o.q.rows * o.shape.heads; item += all_warps()) {
    const std::int64_t n = item / o.shape.heads;
    const std::int64_t column = (item - n * o.shape.heads) * d;
    float sum = 0.0F;
    for (std::int64_t c = lane_index(); c < d; c += kWarp) sum += o.dy.row(n)[column + c] * o.y.row(n)[column + c];
    sum = warp_sum(sum);
    if (lane_index() == 0) o.means[item] = sum;
  }
}

}  // namespace

void CudaBackend::attention_backward(ConstView dy, ConstView q, ConstView k, ConstView v, ConstView y,
                                     ConstView logsumexp, ConstIndexView positions, const AttentionShape& shape,
                                     View dq, View dk, View dv) {
  shapes::attention_backward(dy, q, k, v, y, logsumexp, positions, shape, dq, dk, dv);
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.head_dim));
  float* means = workspace_.floats(q.rows * shape.heads);
  const Backward operands{dy, q, k, v, y, logsumexp, positions.data, shape, scale, means, dq, dk, dv};
  launch(queue_, "attention_backward", means_kernel, warps_over(q.rows * shape.heads), operands);
  if (blas_.products() == Products::bf16) {
    attention_backward_bf16(queue_, operands);
  } else {
    run_attention_backward<FloatTiles>(queue_, operands);
  }
}

}  // namespace kernels::cuda
