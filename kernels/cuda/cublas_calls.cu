#include "kernels/cuda/cublas_calls.h"

#include "kernels/error.h"

#if !defined(FULLBAND_CUDA_HOST)
#include <dlfcn.h>

#include <string>
#endif

namespace kernels::cuda {

#if defined(FULLBAND_CUDA_HOST)

const CublasCalls& cublas() {
  static const CublasCalls calls{&cublasCreate,       &cublasDestroy,   &cublasSetStream,
                                 &cublasSetWorkspace, &cublasGemmEx_64, &cublasGetStatusString};
  return calls;
}

#else

namespace {

/// By the name that the loader knows, else where the toolkit lay when the program was built. Never closed.
void* open_library() {
  const std::string name = "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR);
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) library = dlopen((FULLBAND_CUDA_LIBRARIES "/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  throw DeviceError("The library " + name + " is missing, which the GPU needs; install the CUDA Toolkit " +
                    std::to_string(CUBLAS_VER_MAJOR) + " or use the device 'cpu'.");
}

template <typename Call>
void find(void* library, const char* name, Call& call) {
  call = reinterpret_cast<Call>(dlsym(library, name));
  if (call != nullptr) return;
  throw DeviceError(std::string("cuBLAS has no '") + name + "'; install the CUDA Toolkit " +
                    std::to_string(CUBLAS_VER_MAJOR) + " or use the device 'cpu'.");
}

CublasCalls load() {
  void* library = open_library();
  CublasCalls calls;
  find(library, "cublasCreate_v2", calls.create);
  find(library, "cublasDestroy_v2", calls.destroy);
  find(library, "cublasSetStream_v2", calls.set_stream);
  find(library, "cublasSetWorkspace_v2", calls.set_workspace);
  find(library, "cublasGemmEx_64", calls.gemm);
  find(library, "cublasGetStatusString", calls.status_string);
  return calls;
}

}  // namespace

const CublasCalls& cublas() {
  static const CublasCalls calls = load();
  return calls;
}

#endif

}  // namespace kernels::cuda
