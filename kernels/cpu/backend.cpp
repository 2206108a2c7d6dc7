#include "kernels/cpu/backend.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace kernels::cpu {

DeviceInfo CpuBackend::info() const {
  DeviceInfo info;
  info.name = "CPU";
  info.threads = threads_;
  info.memory_used = memory_used_;
  info.memory_total =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  info.allocations = allocations_ + workspace_.growth_count();
  info.tokens_at_once = tokens_at_once(threads_);
  return info;
}

Buffer CpuBackend::allocate(std::int64_t bytes) {
  void* data = allocate_aligned(bytes);
  memory_used_ += bytes;
  ++allocations_;
  return {*this, data, bytes};
}

void CpuBackend::release(void* data, std::int64_t bytes) noexcept {
  memory_used_ -= bytes;
  free_aligned(data);
}

void CpuBackend::upload(const void* host, void* device, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(device, host, static_cast<std::size_t>(bytes));
}

void CpuBackend::download(const void* device, void* host, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(host, device, static_cast<std::size_t>(bytes));
}

float* CpuBackend::zeroed_partials(int parts, std::int64_t cols) {
  const std::int64_t count = parts * padded(cols);
  float* partials = workspace_.floats(count);
  std::fill(partials, partials + count, 0.0F);
  return partials;
}

}  // namespace kernels::cpu
