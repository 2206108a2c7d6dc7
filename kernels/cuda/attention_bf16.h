// Attention with products on tensor cores, apart because its code is for other GPUs than the rest: Ampere and newer.
#pragma once

#include "kernels/cuda/attention_forward.cuh"
#include "kernels/cuda/attention_gradients.cuh"

namespace kernels::cuda {

void attention_bf16(const Queue& queue, const Forward& operands);
void attention_backward_bf16(const Queue& queue, const Backward& operands);

}  // namespace kernels::cuda
