// Device memory for one step: handed out in order, taken back all at once. After the first step of a shape it allocates
// nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/backend.h"

namespace engine {

class Arena {
 public:
  explicit Arena(kernels::Backend& backend) : backend_(&backend) {}

  /// Uninitialised contiguous matrix, valid until reset(). OutOfMemory when the device has none left.
  kernels::View matrix(std::int64_t rows, std::int64_t cols);
  kernels::IndexView indices(std::int64_t count);
  /// Takes everything back; several blocks are merged into one that holds what was in use.
  void reset();
  [[nodiscard]] std::int64_t bytes() const;

 private:
  void* take(std::int64_t wanted);

  kernels::Backend* backend_;
  std::vector<kernels::Buffer> blocks_;
  std::int64_t used_ = 0;   // bytes of the last block
  std::int64_t taken_ = 0;  // bytes of all blocks
};

}  // namespace engine
