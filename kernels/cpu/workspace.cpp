#include "kernels/cpu/workspace.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "kernels/error.h"

namespace kernels::cpu {
namespace {

std::int64_t physical_memory() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void* allocate_aligned(std::int64_t bytes) {
  // The system may promise more memory than it has and kill the process later: refuse that here.
  const bool possible = bytes >= 0 && bytes <= physical_memory();
  const std::int64_t rounded = possible ? (bytes + 64) / 64 * 64 : 0;
  void* data = possible ? std::aligned_alloc(64, static_cast<std::size_t>(rounded)) : nullptr;
  if (data != nullptr) return data;
  throw OutOfMemory("There is no memory for " + std::to_string(bytes) +
                    " more bytes; lower the rows of a batch or the sequence length.");
}

void free_aligned(void* data) noexcept { std::free(data); }

float* Workspace::floats(std::int64_t count) {
  if (count > capacity_ || data_ == nullptr) {
    float* grown = static_cast<float*>(allocate_aligned(count * static_cast<std::int64_t>(sizeof(float))));
    free_aligned(data_);
    data_ = grown;
    capacity_ = count;
    ++growth_count_;
  }
  return data_;
}

}  // namespace kernels::cpu
