// The calls of cuBLAS in use, looked up when the first GPU is opened: a program that stays on the CPU neither loads the
// library, which takes a tenth of a second, nor needs it.
#pragma once

#include <cublas_v2.h>

namespace kernels::cuda {

struct CublasCalls {
  decltype(&cublasCreate) create = nullptr;
  decltype(&cublasDestroy) destroy = nullptr;
  decltype(&cublasSetStream) set_stream = nullptr;
  decltype(&cublasSetWorkspace) set_workspace = nullptr;
  decltype(&cublasGemmEx_64) gemm = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

/// DeviceError when the library is missing or too old.
const CublasCalls& cublas();

}  // namespace kernels::cuda
