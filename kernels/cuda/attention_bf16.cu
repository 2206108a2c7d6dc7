#include "kernels/cuda/attention_bf16.h"

#include "kernels/cuda/tiles_bf16.cuh"

namespace kernels::cuda {

void attention_bf16(const Queue& queue, const Forward& operands) { run_attention<Bf16Tiles>(queue, operands); }

void attention_backward_bf16(const Queue& queue, const Backward& operands) {
  run_attention_backward<Bf16Tiles>(queue, operands);
}

}  // namespace kernels::cuda
