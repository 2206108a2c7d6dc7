#include "kernels/cuda/backend.h"

#include <algorithm>
#include <charconv>

#include "kernels/cuda/make_cuda.h"

namespace kernels::cuda {
namespace {

std::int64_t total_memory() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check(cudaMemGetInfo(&free_bytes, &total_bytes), "ask for the memory");
  return static_cast<std::int64_t>(total_bytes);
}

/// What stands behind "cuda": the number of the GPU and the precision of products.
struct DeviceName {
  int index = 0;
  Products products = Products::float32;
};

DeviceName parse(const std::string& device) {
  DeviceName name;
  const std::size_t comma = std::min(device.find(','), device.size());
  const std::string number = device.substr(0, comma).size() > 5 ? device.substr(5, comma - 5) : "0";
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), name.index);
  const bool is_number = error == std::errc() && end == number.data() + number.size() && name.index >= 0;
  const std::string precision = comma < device.size() ? device.substr(comma + 1) : "float32";
  if (precision == "tf32") name.products = Products::tf32;
  if (precision == "bf16") name.products = Products::bf16;
  const bool is_known = name.products != Products::float32 || precision == "float32";
  const bool is_colon = comma == 4 || (comma > 5 && device[4] == ':');
  if (is_number && is_known && is_colon) return name;
  throw DeviceError("The device '" + device +
                    "' is unknown; a GPU is 'cuda:N', with ',tf32' or ',bf16' behind it for faster products.");
}

int device_count() {
  int count = 0;
  const cudaError_t result = cudaGetDeviceCount(&count);
  if (result == cudaSuccess) return count;
  static_cast<void>(cudaGetLastError());  // a missing driver is no error of the next call
  return 0;
}

}  // namespace

bool is_usable() {
  if (device_count() == 0) return false;
  try {
    static_cast<void>(cublas());
    return true;
  } catch (const DeviceError&) {
    return false;
  }
}

std::unique_ptr<Backend> make_cuda_backend(const std::string& device) {
  const DeviceName name = parse(device);
  const int count = device_count();
  if (count == 0) {
    throw DeviceError("The device '" + device +
                      "' is missing: there is no GPU with an NVIDIA driver that is new enough; use 'cpu' or 'auto'.");
  }
  if (name.index >= count) {
    throw DeviceError("The device '" + device + "' is missing: GPUs count from 0 and there are " +
                      std::to_string(count) + "; use 'cpu' or 'auto'.");
  }
  return std::make_unique<CudaBackend>(name.index, name.products);
}

DeviceBytes::DeviceBytes(std::int64_t bytes) {
  const bool possible = bytes >= 0 && bytes <= total_memory();
  const auto asked = static_cast<std::size_t>(possible ? std::max<std::int64_t>(bytes, 1) : 0);
  const cudaError_t result = possible ? cudaMalloc(&data_, asked) : cudaErrorMemoryAllocation;
  if (result == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // the device goes on
  if (result != cudaErrorMemoryAllocation) check(result, "allocate");
  throw OutOfMemory("The GPU has no memory for " + std::to_string(bytes) +
                    " more bytes; lower the rows of a batch or the sequence length.");
}

Queue CudaBackend::select(int device, DeviceInfo& info) {
  check(cudaSetDevice(device), "select the GPU");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "ask for the GPU's properties");
  info.name = properties.name;
  info.threads = properties.multiProcessorCount;
  info.memory_total = total_memory();
  // Four rounds of the eight blocks of 256 threads that a multiprocessor holds at once.
  return {nullptr, std::int64_t{32} * properties.multiProcessorCount};
}

CudaBackend::CudaBackend(int device, Products products)
    : queue_(select(device, info_)), blas_({stream_.get(), queue_.max_blocks}, products) {
  queue_.stream = stream_.get();
}

DeviceInfo CudaBackend::info() const {
  DeviceInfo info = info_;
  info.allocations += moves();
  return info;
}

std::int64_t CudaBackend::moves() const { return workspace_.growth_count() + blas_.growth_count() + rope_.tables(); }

Buffer CudaBackend::allocate(std::int64_t bytes) {
  DeviceBytes memory(bytes);
  info_.memory_used += bytes;
  ++info_.allocations;
  return {*this, memory.take(), bytes};
}

void CudaBackend::release(void* data, std::int64_t bytes) noexcept {
  info_.memory_used -= bytes;
  static_cast<void>(cudaFree(data));
}

void CudaBackend::upload(const void* host, void* device, std::int64_t bytes) {
  uploads_.upload(host, device, bytes, stream_.get());
}

void CudaBackend::download(const void* device, void* host, std::int64_t bytes) {
  if (bytes == 0) return;
  check(cudaMemcpyAsync(host, device, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, stream_.get()),
        "download");
  synchronize();
}

void CudaBackend::synchronize() { check(cudaStreamSynchronize(stream_.get()), "synchronize"); }

}  // namespace kernels::cuda
