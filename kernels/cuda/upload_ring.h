// Pinned host memory that uploads pass through: the caller may change its data at once, and the host waits for the
// device only when it is a whole half of the ring ahead.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/cuda/raii.h"

namespace kernels::cuda {

class UploadRing {
 public:
  /// Copies `bytes` from the host to the device, in the order of the stream.
  void upload(const void* host, void* device, std::int64_t bytes, cudaStream_t stream);

 private:
  static constexpr std::int64_t kHalfBytes = std::int64_t{4} << 20;

  struct Half {
    PinnedBytes bytes;
    Event read;  ///< behind the last copy out of this half
  };

  void next_half(cudaStream_t stream);

  std::array<Half, 2> halves_;
  std::size_t current_ = 0;
  std::int64_t filled_ = 0;
};

}  // namespace kernels::cuda
