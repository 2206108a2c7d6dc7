// Products with a weight, forward and backward.
#include "kernels/cuda/backend.h"
#include "kernels/shapes.h"

namespace kernels::cuda {
namespace {

float kept(Write write) { return write == Write::accumulate ? 1.0F : 0.0F; }

}  // namespace

void CudaBackend::linear(ConstView x, ConstView w, View y, Write write) {
  shapes::linear(x, w, y);
  blas_.multiply(1.0F, {x}, {w, true}, kept(write), y);
}

void CudaBackend::linear_backward_input(ConstView dy, ConstView w, View dx, Write write) {
  shapes::linear_backward_input(dy, w, dx);
  blas_.multiply(1.0F, {dy}, {w}, kept(write), dx);
}

void CudaBackend::linear_backward_weight(ConstView dy, ConstView x, View dw, Write write) {
  shapes::linear_backward_weight(dy, x, dw);
  blas_.multiply(1.0F, {dy, true}, {x}, kept(write), dw);
}

}  // namespace kernels::cuda
