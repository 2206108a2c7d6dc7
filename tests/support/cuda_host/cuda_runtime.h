// The part of the CUDA runtime that kernels/cuda uses, on the host: found in place of the toolkit's header, so that the
// same sources compile as C++ and run without a device. Calls run at once and in order. See scheduler.h for kernels.
//
// Stricter than a device: memory holds NaN until written, the host cannot touch it outside copies, every allocation has
// guard bytes that are checked after each kernel, and warp operations want the whole warp.
#pragma once

#include <math.h>  // isfinite and its like in the global namespace, as in device code

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#include "tests/support/cuda_host/scheduler.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __launch_bounds__(...)

struct dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
  constexpr explicit dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

inline constinit thread_local dim3 threadIdx{0, 0, 0};
inline constinit thread_local dim3 blockIdx{0, 0, 0};
inline constinit thread_local dim3 blockDim{};
inline constinit thread_local dim3 gridDim{};
constexpr int warpSize = 32;

/// Four floats that a device reads and writes at once.
struct alignas(16) float4 {
  float x, y, z, w;
};

// ---- inside kernels -------------------------------------------------------------------------------------------------
inline void __syncthreads() { cuda_host::block_barrier(); }

namespace cuda_host {

template <typename T>
T shuffle(T value, int source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = warp_exchange(bits, source);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline int lane() { return static_cast<int>(threadIdx.x) % warpSize; }

}  // namespace cuda_host

template <typename T>
T __shfl_sync(unsigned /*mask*/, T value, int source) {
  return cuda_host::shuffle(value, source % warpSize);
}
template <typename T>
T __shfl_xor_sync(unsigned /*mask*/, T value, int lanes) {
  return cuda_host::shuffle(value, cuda_host::lane() ^ lanes);
}
template <typename T>
T __shfl_up_sync(unsigned /*mask*/, T value, unsigned delta) {
  const int source = cuda_host::lane() - static_cast<int>(delta);
  return cuda_host::shuffle(value, source < 0 ? cuda_host::lane() : source);
}
template <typename T>
T __shfl_down_sync(unsigned /*mask*/, T value, unsigned delta) {
  const int source = cuda_host::lane() + static_cast<int>(delta);
  return cuda_host::shuffle(value, source >= warpSize ? cuda_host::lane() : source);
}
inline unsigned __ballot_sync(unsigned /*mask*/, bool predicate) { return cuda_host::warp_ballot(predicate); }
inline bool __any_sync(unsigned mask, bool predicate) { return __ballot_sync(mask, predicate) != 0; }
inline bool __all_sync(unsigned mask, bool predicate) { return __ballot_sync(mask, predicate) == 0xffffffffU; }
/// a b + c; a device rounds it once.
inline float __fmaf_rn(float a, float b, float c) { return a * b + c; }
inline float __int_as_float(int bits) {
  float value = 0.0F;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
inline int __float_as_int(float value) {
  int bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
inline void __syncwarp(unsigned /*mask*/ = 0xffffffffU) { cuda_host::warp_ballot(true); }

// ---- errors and devices ---------------------------------------------------------------------------------------------
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidDevice = 101,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
};

const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

struct cudaDeviceProp {
  char name[256];
  int multiProcessorCount;
  std::size_t sharedMemPerBlockOptin;
};

enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor = 75 };

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaDeviceSynchronize();

// ---- streams, events and graphs -------------------------------------------------------------------------------------
struct cuda_host_stream;
struct cuda_host_graph;
using cudaStream_t = cuda_host_stream*;
using cudaEvent_t = int*;
using cudaGraph_t = cuda_host_graph*;
using cudaGraphExec_t = cuda_host_graph*;

constexpr unsigned cudaStreamNonBlocking = 1;
constexpr unsigned cudaEventDisableTiming = 2;
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal };

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);

// ---- memory ---------------------------------------------------------------------------------------------------------
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
constexpr unsigned cudaHostAllocDefault = 0;

cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream);

namespace cuda_host {

/// Work on device memory, in the order of the stream: run at once, or kept while the stream is being captured.
/// What it gives is the error it met, or nothing; `name` is said with the error.
void submit(cudaStream_t stream, const char* name, const std::function<std::string()>& work);

}  // namespace cuda_host
