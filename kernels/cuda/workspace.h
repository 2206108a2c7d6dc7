// Scratch memory on the device: grown to the largest need seen, so that a repeated operation allocates nothing.
#pragma once

#include <cstdint>

#include "kernels/cuda/raii.h"

namespace kernels::cuda {

/// Rounds a count of floats up to whole 256-byte lines, so that the parts of one block stay aligned.
constexpr std::int64_t padded(std::int64_t floats) { return (floats + 63) / 64 * 64; }

class Workspace {
 public:
  /// Uninitialised floats, valid until the next call.
  float* floats(std::int64_t count) {
    if (count > capacity_ || bytes_.data() == nullptr) {
      bytes_ = DeviceBytes();  // first, so that old and new need not fit together
      capacity_ = 0;
      bytes_ = DeviceBytes(count * static_cast<std::int64_t>(sizeof(float)));
      capacity_ = count;
      ++growth_count_;
    }
    return static_cast<float*>(bytes_.data());
  }
  /// Times the memory grew: constant once an operation is in its steady state.
  [[nodiscard]] std::int64_t growth_count() const { return growth_count_; }

 private:
  DeviceBytes bytes_;
  std::int64_t capacity_ = 0;
  std::int64_t growth_count_ = 0;
};

}  // namespace kernels::cuda
