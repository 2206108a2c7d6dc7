// Views of float32 matrices and int32 vectors in a backend's memory, and the buffer that owns such memory.
// Every tensor of the program is a matrix: token rows by features, a gain is one row, a column of numbers has one
// column.
#pragma once

#include <cstdint>
#include <utility>

namespace kernels {

/// Read-only row-major float32 matrix [rows, cols]; consecutive rows are `stride` floats apart. Not owned.
struct ConstView {
  const float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  [[nodiscard]] constexpr bool present() const { return data != nullptr; }
  [[nodiscard]] constexpr std::int64_t size() const { return rows * cols; }
  [[nodiscard]] constexpr bool contiguous() const { return stride == cols || rows <= 1; }
  [[nodiscard]] constexpr const float* row(std::int64_t r) const { return data + r * stride; }
  [[nodiscard]] constexpr ConstView row_range(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, cols, stride};
  }
  [[nodiscard]] constexpr ConstView column_range(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
};

/// Writable counterpart of ConstView; converts to it.
struct View {
  float* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t stride = 0;

  constexpr operator ConstView() const { return {data, rows, cols, stride}; }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] constexpr bool present() const { return data != nullptr; }
  [[nodiscard]] constexpr std::int64_t size() const { return rows * cols; }
  [[nodiscard]] constexpr bool contiguous() const { return stride == cols || rows <= 1; }
  [[nodiscard]] constexpr float* row(std::int64_t r) const { return data + r * stride; }
  [[nodiscard]] constexpr View row_range(std::int64_t first, std::int64_t count) const {
    return {data + first * stride, count, cols, stride};
  }
  [[nodiscard]] constexpr View column_range(std::int64_t first, std::int64_t count) const {
    return {data + first, rows, count, stride};
  }
};

/// Read-only int32 vector (token ids, positions, flags, row numbers). Not owned.
struct ConstIndexView {
  const std::int32_t* data = nullptr;
  std::int64_t count = 0;
};

/// Writable counterpart of ConstIndexView; converts to it.
struct IndexView {
  std::int32_t* data = nullptr;
  std::int64_t count = 0;

  constexpr operator ConstIndexView() const { return {data, count}; }  // NOLINT(google-explicit-constructor)
};

class Backend;

/// Owner of device memory (64-byte aligned). Move-only; must not outlive its backend; releasing never throws.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Backend& backend, void* data, std::int64_t bytes) : backend_(&backend), data_(data), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    swap(other);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  /// The whole buffer as a contiguous matrix; rows * cols * 4 must not exceed bytes().
  [[nodiscard]] View matrix(std::int64_t rows, std::int64_t cols) const {
    return {static_cast<float*>(data_), rows, cols, cols};
  }
  [[nodiscard]] IndexView indices(std::int64_t count) const { return {static_cast<std::int32_t*>(data_), count}; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
  }

  Backend* backend_ = nullptr;
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace kernels
