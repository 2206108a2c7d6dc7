// The angles a position turns by in the rotary position embedding (RoPE, Su et al. 2021), in double precision on the
// device: base^(-2 i / head_dim) for pair i.
#pragma once

#include <cstdint>
#include <deque>

#include "kernels/cuda/raii.h"
#include "kernels/cuda/upload_ring.h"

namespace kernels::cuda {

class RopeFrequencies {
 public:
  /// head_dim / 2 doubles on the device, made when first asked for.
  const double* get(std::int64_t head_dim, float base, UploadRing& uploads, cudaStream_t stream);
  [[nodiscard]] std::int64_t tables() const { return static_cast<std::int64_t>(tables_.size()); }

 private:
  struct Table {
    std::int64_t head_dim = 0;
    float base = 0.0F;
    DeviceBytes values;
  };
  std::deque<Table> tables_;
};

}  // namespace kernels::cuda
