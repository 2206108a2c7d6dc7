#include "kernels/cpu/workspace.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "kernels/error.h"

namespace kernels::cpu {
namespace {

constexpr std::int64_t kHugePage = std::int64_t{2} << 20;
constexpr std::int64_t kHugeBlock = 4 * kHugePage;
constexpr std::int64_t kSmallestWorkspace = 1 << 20;  // floats: longer documents than the first rarely need more

std::int64_t physical_memory() {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void* allocate_aligned(std::int64_t bytes) {
  // The system may promise more memory than it has and kill the process later: refuse that here.
  const bool possible = bytes >= 0 && bytes <= physical_memory();
  const std::int64_t unit = bytes >= kHugeBlock ? kHugePage : 64;
  const std::int64_t rounded = possible ? (bytes + unit) / unit * unit : 0;
  void* data =
      possible ? std::aligned_alloc(static_cast<std::size_t>(unit), static_cast<std::size_t>(rounded)) : nullptr;
  if (data != nullptr) {
    // Large pages save most of the page faults and look-ups; a system without them says no, which costs nothing.
    if (unit == kHugePage) madvise(data, static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
    return data;
  }
  throw OutOfMemory("There is no memory for " + std::to_string(bytes) +
                    " more bytes; lower the rows of a batch or the sequence length.");
}

void free_aligned(void* data) noexcept { std::free(data); }

float* Workspace::floats(std::int64_t count) {
  if (count > capacity_ || data_ == nullptr) {
    const std::int64_t wanted = std::max(count, kSmallestWorkspace);
    float* grown = static_cast<float*>(allocate_aligned(wanted * static_cast<std::int64_t>(sizeof(float))));
    free_aligned(data_);
    data_ = grown;
    capacity_ = wanted;
    ++growth_count_;
  }
  return data_;
}

}  // namespace kernels::cpu
