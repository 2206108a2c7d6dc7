// Owners of CUDA objects. Making one throws a typed error; releasing never throws. Also the check of a call's result.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/cuda/cublas_calls.h"
#include "kernels/error.h"

namespace kernels::cuda {

/// DeviceError that names the operation when a call failed.
inline void check(cudaError_t result, const char* operation) {
  if (result == cudaSuccess) return;
  throw DeviceError(std::string("The GPU failed in '") + operation + "': " + cudaGetErrorString(result) +
                    ". Start again, and use the device 'cpu' if it stays so.");
}

inline void check(cublasStatus_t result, const char* operation) {
  if (result == CUBLAS_STATUS_SUCCESS) return;
  if (result == CUBLAS_STATUS_ALLOC_FAILED) {
    throw OutOfMemory(std::string("The GPU has no memory for cuBLAS in '") + operation +
                      "'; lower the rows of a batch or the sequence length.");
  }
  throw DeviceError(std::string("cuBLAS failed in '") + operation + "': " + cublas().status_string(result) +
                    ". Start again, and use the device 'cpu' if it stays so.");
}

/// A queue of work on the device; work in it runs in order.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "make a stream"); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in a stream that the host can wait for.
class Event {
 public:
  Event() { check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "make an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "record an event"); }
  void wait() { check(cudaEventSynchronize(event_), "wait for an event"); }

 private:
  cudaEvent_t event_ = nullptr;
};

/// cuBLAS bound to a stream.
class BlasHandle {
 public:
  explicit BlasHandle(cudaStream_t stream) {
    check(cublas().create(&handle_), "start cuBLAS");
    static_cast<void>(cublas().set_stream(handle_, stream));
  }
  BlasHandle(const BlasHandle&) = delete;
  BlasHandle& operator=(const BlasHandle&) = delete;
  ~BlasHandle() { static_cast<void>(cublas().destroy(handle_)); }
  [[nodiscard]] cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

/// Device memory that throws OutOfMemory when there is none; zero bytes give a valid pointer.
class DeviceBytes {
 public:
  DeviceBytes() = default;
  explicit DeviceBytes(std::int64_t bytes);
  DeviceBytes(DeviceBytes&& other) noexcept { std::swap(data_, other.data_); }
  DeviceBytes& operator=(DeviceBytes&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { static_cast<void>(cudaFree(data_)); }
  [[nodiscard]] void* data() const { return data_; }
  /// Gives the ownership away; the caller frees it with cudaFree.
  [[nodiscard]] void* take() { return std::exchange(data_, nullptr); }

 private:
  void* data_ = nullptr;
};

/// Page-locked host memory, which copies read without the host waiting.
class PinnedBytes {
 public:
  PinnedBytes() = default;
  explicit PinnedBytes(std::size_t bytes) {
    check(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault), "allocate pinned host memory");
  }
  PinnedBytes(PinnedBytes&& other) noexcept { std::swap(data_, other.data_); }
  PinnedBytes& operator=(PinnedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  ~PinnedBytes() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  [[nodiscard]] char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

}  // namespace kernels::cuda
