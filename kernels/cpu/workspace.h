// Scratch memory of a backend: grown to the largest need seen, so that a repeated operation allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernels::cpu {

/// 64-byte aligned memory that throws OutOfMemory when there is none. `bytes` 0 gives a valid pointer.
void* allocate_aligned(std::int64_t bytes);
void free_aligned(void* data) noexcept;

/// Rounds a count of floats up to whole cache lines, so that parts of one block stay aligned and unshared.
constexpr std::int64_t padded(std::int64_t floats) { return (floats + 15) / 16 * 16; }

class Workspace {
 public:
  Workspace() = default;
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace() { free_aligned(data_); }

  /// Uninitialised floats, valid until the next call.
  float* floats(std::int64_t count);
  /// Times the memory grew: constant once an operation is in its steady state.
  [[nodiscard]] std::int64_t growth_count() const { return growth_count_; }

 private:
  float* data_ = nullptr;
  std::int64_t capacity_ = 0;
  std::int64_t growth_count_ = 0;
};

}  // namespace kernels::cpu
