// Makes the CUDA backend. The only header of this folder that the factory sees, free of CUDA's own.
#pragma once

#include <memory>
#include <string>

#include "kernels/backend.h"

namespace kernels::cuda {

/// Whether the driver offers a GPU and the libraries it needs are there.
bool is_usable();

/// `device` is "cuda" (the first GPU) or "cuda:N", optionally followed by the precision of products: ",float32" (the
/// default), ",tf32", or ",bf16" (bf16 operands, float32 sums). DeviceError says what is missing or wrong.
std::unique_ptr<Backend> make_cuda_backend(const std::string& device);

}  // namespace kernels::cuda
