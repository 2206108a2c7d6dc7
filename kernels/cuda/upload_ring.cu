#include "kernels/cuda/upload_ring.h"

#include <algorithm>
#include <cstring>

namespace kernels::cuda {

void UploadRing::next_half(cudaStream_t stream) {
  halves_[current_].read.record(stream);
  current_ = 1 - current_;
  halves_[current_].read.wait();
  filled_ = 0;
}

void UploadRing::upload(const void* host, void* device, std::int64_t bytes, cudaStream_t stream) {
  for (std::int64_t done = 0; done < bytes;) {
    if (filled_ == kHalfBytes) next_half(stream);
    Half& half = halves_[current_];
    if (half.bytes.data() == nullptr) half.bytes = PinnedBytes(static_cast<std::size_t>(kHalfBytes));
    const auto count = static_cast<std::size_t>(std::min(bytes - done, kHalfBytes - filled_));
    char* from = half.bytes.data() + filled_;
    std::memcpy(from, static_cast<const char*>(host) + done, count);
    check(cudaMemcpyAsync(static_cast<char*>(device) + done, from, count, cudaMemcpyHostToDevice, stream), "upload");
    filled_ += static_cast<std::int64_t>(count);
    done += static_cast<std::int64_t>(count);
  }
}

}  // namespace kernels::cuda
