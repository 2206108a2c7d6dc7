// The head-wise output gate: one number a head scales that head's output. A warp is one head of one row.
#include "kernels/cuda/backend.h"
#include "kernels/cuda/row_math.cuh"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

__global__ void head_gate_kernel(ConstView x, ConstView logits, View y) {
  const std::int64_t width = x.cols / logits.cols;
  for_elements(x.rows, x.cols,
               [&](std::int64_t n, std::int64_t c) { y.row(n)[c] = x.row(n)[c] * sigmoid(logits.row(n)[c / width]); });
}

__global__ void head_gate_backward_kernel(ConstView dy, ConstView x, ConstView logits, View dx, View dlogits) {
  const std::int64_t heads = logits.cols;
  const std::int64_t width = x.cols / heads;
  for (std::int64_t item = first_warp(); item < x.rows * heads; item += all_warps()) {
    const std::int64_t n = item / heads;
    const std::int64_t h = item - n * heads;
    const float gate = sigmoid(logits.row(n)[h]);
    float sum = 0.0F;
    for (std::int64_t c = h * width + lane_index(); c < (h + 1) * width; c += kWarp) {
      const float d = dy.row(n)[c];
      sum += d * x.row(n)[c];
      dx.row(n)[c] = d * gate;
    }
    sum = warp_sum(sum);
    if (lane_index() == 0) dlogits.row(n)[h] = sum * gate * (1.0F - gate);
  }
}

}  // namespace

void CudaBackend::head_gate(ConstView x, ConstView logits, View y) {
  shapes::head_gate(x, logits, y);
  launch(queue_, "head_gate", head_gate_kernel, elements_of(x.rows, x.cols), x, logits, y);
}

void CudaBackend::head_gate_backward(ConstView dy, ConstView x, ConstView logits, View dx, View dlogits) {
  shapes::head_gate_backward(dy, x, logits, dx, dlogits);
  launch(queue_, "head_gate_backward", head_gate_backward_kernel, warps_over(x.rows * logits.cols), dy, x, logits, dx,
         dlogits);
}

}  // namespace kernels::cuda
