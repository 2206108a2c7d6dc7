// Device memory for one step: handed out in order, taken back all at once or down to a mark. After the first step of a
// shape, or after a reservation, it allocates nothing.
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
  /// Takes everything back; several blocks are merged into one that holds the most that was in use.
  void reset();
  /// Room for `bytes` without another allocation; takes everything back.
  void reserve(std::int64_t bytes);

  /// A place in the order of what was handed out.
  struct Mark {
    std::size_t block = 0;
    std::int64_t used = 0;
    std::int64_t taken = 0;
  };
  [[nodiscard]] Mark mark() const { return {current_, used_, taken_}; }
  /// Takes back what was handed out since the mark.
  void rewind(const Mark& mark);

  [[nodiscard]] std::int64_t bytes() const;
  /// The most that was in use at once since the last reset.
  [[nodiscard]] std::int64_t peak() const { return peak_; }

 private:
  void* take(std::int64_t wanted);

  kernels::Backend* backend_;
  std::vector<kernels::Buffer> blocks_;
  std::size_t current_ = 0;
  std::int64_t used_ = 0;   // bytes of the current block
  std::int64_t taken_ = 0;  // bytes of all blocks
  std::int64_t peak_ = 0;   // largest taken_ since the last reset
};

}  // namespace engine
