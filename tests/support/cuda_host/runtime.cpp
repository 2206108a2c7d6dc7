// The calls of cuda_runtime.h. Every host thread has a device of its own, as every backend belongs to one thread.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/cuda_host/cuda_runtime.h"
#include "tests/support/cuda_host/device_memory.h"

namespace {

struct Work {
  std::string name;
  std::function<std::string()> run;
};

}  // namespace

struct cuda_host_graph {
  std::vector<Work> work;
};

struct cuda_host_stream {
  bool capturing = false;
  cuda_host_graph captured;
};

namespace {

/// A failed kernel spoils a device for good; here the text is kept until someone asks, so that tests can go on.
struct Device {
  cuda_host::DeviceMemory memory;
  cudaError_t error = cudaSuccess;
  std::string failure;

  void run(const Work& work) {
    memory.open();
    std::string problem = work.run();
    if (problem.empty()) problem = memory.damage();
    memory.close();
    if (problem.empty()) return;
    error = cudaErrorLaunchFailure;
    failure = work.name + ": " + problem;
  }
};

Device& device() {
  static thread_local Device instance;
  return instance;
}

}  // namespace

namespace cuda_host {

void submit(cudaStream_t stream, const char* name, const std::function<std::string()>& work) {
  if (stream != nullptr && stream->capturing) {
    stream->captured.work.push_back({name, work});
  } else {
    device().run({name, work});
  }
}

}  // namespace cuda_host

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorLaunchFailure:
      return device().failure.c_str();
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    default:
      return "invalid argument";
  }
}

cudaError_t cudaGetLastError() { return std::exchange(device().error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) { return index == 0 ? cudaSuccess : cudaErrorInvalidDevice; }
cudaError_t cudaGetDevice(int* index) {
  *index = 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr /*attribute*/, int /*device*/) {
  *value = 8;  // Ampere: tensor cores take bf16, see mma.h
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index) {
  if (index != 0) return cudaErrorInvalidDevice;
  std::snprintf(properties->name, sizeof(properties->name), "CUDA on the host");
  properties->multiProcessorCount = 1;  // few blocks in flight, so that loops over a grid are walked
  properties->sharedMemPerBlockOptin = 96 * 1024;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *total_bytes = cuda_host::DeviceMemory::kTotal;
  *free_bytes = *total_bytes - device().memory.used();
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() { return device().error; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned /*flags*/) {
  *stream = new cuda_host_stream;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream != nullptr && stream->capturing) return cudaErrorStreamCaptureUnsupported;
  return device().error;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned /*flags*/) {
  *event = new int(0);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) { return cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode /*mode*/) {
  if (stream->capturing) return cudaErrorInvalidValue;
  stream->capturing = true;
  stream->captured.work.clear();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (!stream->capturing) return cudaErrorInvalidValue;
  stream->capturing = false;
  *graph = new cuda_host_graph(std::move(stream->captured));
  stream->captured = {};
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long /*flags*/) {
  *executable = new cuda_host_graph(*graph);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t /*stream*/) {
  for (const Work& work : executable->work) device().run(work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  *data = device().memory.allocate(bytes);
  if (*data != nullptr) return cudaSuccess;
  device().error = cudaErrorMemoryAllocation;
  return cudaErrorMemoryAllocation;
}
cudaError_t cudaFree(void* data) {
  return data == nullptr || device().memory.release(data) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned /*flags*/) {
  *data = std::malloc(std::max<std::size_t>(bytes, 1));
  return *data != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind /*kind*/,
                            cudaStream_t stream) {
  cuda_host::submit(stream, "copy", [=] {
    std::memmove(to, from, bytes);
    return std::string();
  });
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  cuda_host::submit(stream, "memset", [=] {
    std::memset(to, value, bytes);
    return std::string();
  });
  return cudaSuccess;
}
