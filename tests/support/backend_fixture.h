// Runs a test on every backend, with contiguous and with strided operands, and guards every operand's surroundings.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "kernels/error.h"
#include "tests/support/matrix.h"
#if defined(FULLBAND_CUDA_HOST)
#include "tests/support/cuda_host/scheduler.h"
#endif

namespace support {

/// An operand on the device: rows with `padding` floats between them, guard floats all around.
class DeviceMatrix {
 public:
  DeviceMatrix(kernels::Backend& backend, const Matrix& host, std::int64_t padding)
      : backend_(&backend), rows_(host.rows), cols_(host.cols), stride_(host.cols + padding) {
    image_.assign(static_cast<std::size_t>(2 * kGuard + rows_ * stride_), kGuardValue);
    for (std::int64_t r = 0; r < rows_; ++r) {
      std::copy_n(host.values.begin() + r * cols_, cols_, image_.begin() + kGuard + r * stride_);
    }
    buffer_ = backend.allocate(bytes());
    backend.upload(image_.data(), buffer_.data(), bytes());
  }

  [[nodiscard]] kernels::View view() const {
    return {static_cast<float*>(buffer_.data()) + kGuard, rows_, cols_, stride_};
  }
  operator kernels::View() const { return view(); }       // NOLINT(google-explicit-constructor)
  operator kernels::ConstView() const { return view(); }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] Matrix download() const {
    const std::vector<float> now = raw();
    Matrix m(rows_, cols_);
    for (std::int64_t r = 0; r < rows_; ++r) {
      std::copy_n(now.begin() + kGuard + r * stride_, cols_, m.values.begin() + r * cols_);
    }
    return m;
  }

  /// Nothing outside the matrix changed.
  [[nodiscard]] bool guards_intact() const {
    const std::vector<float> now = raw();
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(now.size()); ++i) {
      const std::int64_t inside = i - kGuard;
      const bool is_guard = inside < 0 || inside >= rows_ * stride_ || inside % stride_ >= cols_;
      if (is_guard && now[static_cast<std::size_t>(i)] != kGuardValue) return false;
    }
    return true;
  }

  /// Every bit is as it was uploaded.
  [[nodiscard]] bool untouched() const {
    return std::memcmp(raw().data(), image_.data(), static_cast<std::size_t>(bytes())) == 0;
  }

 private:
  static constexpr std::int64_t kGuard = 32;
  static constexpr float kGuardValue = -7.5e30F;

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(image_.size() * sizeof(float)); }
  [[nodiscard]] std::vector<float> raw() const {
    std::vector<float> now(image_.size());
    backend_->download(buffer_.data(), now.data(), bytes());
    return now;
  }

  kernels::Backend* backend_;
  std::int64_t rows_, cols_, stride_;
  std::vector<float> image_;
  kernels::Buffer buffer_;
};

/// Index operand with guard entries around it.
class DeviceIndices {
 public:
  DeviceIndices(kernels::Backend& backend, const std::vector<std::int32_t>& host)
      : backend_(&backend),
        count_(static_cast<std::int64_t>(host.size())),
        image_(host.size() + 2 * kGuard, kGuardValue) {
    std::copy(host.begin(), host.end(), image_.begin() + kGuard);
    buffer_ = backend.allocate(bytes());
    backend.upload(image_.data(), buffer_.data(), bytes());
  }
  [[nodiscard]] kernels::IndexView view() const {
    return {static_cast<std::int32_t*>(buffer_.data()) + kGuard, count_};
  }
  operator kernels::IndexView() const { return view(); }       // NOLINT(google-explicit-constructor)
  operator kernels::ConstIndexView() const { return view(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::vector<std::int32_t> download() const {
    const std::vector<std::int32_t> now = raw();
    return {now.begin() + kGuard, now.end() - kGuard};
  }
  [[nodiscard]] bool guards_intact() const {
    const std::vector<std::int32_t> now = raw();
    for (int i = 0; i < kGuard; ++i) {
      if (now[static_cast<std::size_t>(i)] != kGuardValue ||
          now[now.size() - 1 - static_cast<std::size_t>(i)] != kGuardValue)
        return false;
    }
    return true;
  }

 private:
  static constexpr int kGuard = 16;
  static constexpr std::int32_t kGuardValue = -123456789;

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(image_.size() * sizeof(std::int32_t)); }
  [[nodiscard]] std::vector<std::int32_t> raw() const {
    std::vector<std::int32_t> now(image_.size());
    backend_->download(buffer_.data(), now.data(), bytes());
    return now;
  }

  kernels::Backend* backend_;
  std::int64_t count_;
  std::vector<std::int32_t> image_;
  kernels::Buffer buffer_;
};

/// On the host's device, whether the threads of a block run in random order (the environment's FULLBAND_THREAD_ORDER
/// decides where it is set); nothing on others.
inline void shuffle_threads([[maybe_unused]] bool shuffled) {
#if defined(FULLBAND_CUDA_HOST)
  const char* order = std::getenv("FULLBAND_THREAD_ORDER");
  cuda_host::set_thread_order(order != nullptr ? std::strtoull(order, nullptr, 10) : (shuffled ? 1 : 0));
#endif
}

/// One way of running a test.
struct BackendCase {
  std::string name;
  std::string device;
  std::int64_t padding = 0;  ///< floats between the rows of every operand
};

inline std::string case_name(const ::testing::TestParamInfo<BackendCase>& info) {
  return info.param.name + (info.param.padding == 0 ? "_contiguous" : "_strided");
}

inline void PrintTo(const BackendCase& c, std::ostream* out) { *out << c.name << " padding " << c.padding; }

/// In the program that has the GPU engine's sources on the host, "cuda" is that; see tests/cuda_host.cmake.
inline std::vector<BackendCase> backend_cases() {
#if defined(FULLBAND_CUDA_HOST)
  return {{"cuda_host", "cuda:0", 0}, {"cuda_host", "cuda:0", 3}};
#elif defined(FULLBAND_TEST_CUDA)
  return {{"cpu", "cpu", 0}, {"cpu", "cpu", 3}, {"cuda", "cuda:0", 0}, {"cuda", "cuda:0", 3}};
#else
  return {{"cpu", "cpu", 0}, {"cpu", "cpu", 3}};
#endif
}

class BackendTest : public ::testing::TestWithParam<BackendCase> {
 protected:
  static constexpr int kThreads = 2;

  void SetUp() override {
    if (GetParam().name == "cuda" && kernels::make_backend("auto")->info().name == "CPU") {
      GTEST_SKIP() << "this machine has no GPU";
    }
    shuffle_threads(GetParam().padding > 0);
    backend_ = kernels::make_backend(GetParam().device, kThreads);
  }
  void TearDown() override {
    for (const DeviceMatrix& m : matrices_) EXPECT_TRUE(m.guards_intact()) << "an operation wrote outside its operand";
    for (const DeviceIndices& i : indices_) EXPECT_TRUE(i.guards_intact()) << "an operation wrote outside its operand";
    matrices_.clear();
    indices_.clear();
    backend_.reset();
  }

  kernels::Backend& backend() { return *backend_; }
  /// Whether operations look at index values; a GPU leaves rows with a wrong one out.
  [[nodiscard]] static bool checks_indices() { return GetParam().device == "cpu"; }
  /// Whether kernels run as fibers, a thousand times slower than anything else: tests take fewer rows then.
  [[nodiscard]] static bool is_host_device() { return GetParam().name == "cuda_host"; }
  /// Uploads an operand.
  DeviceMatrix& device(const Matrix& host) { return matrices_.emplace_back(*backend_, host, GetParam().padding); }
  DeviceIndices& device(const std::vector<std::int32_t>& host) { return indices_.emplace_back(*backend_, host); }
  /// An output that must be overwritten without being read.
  DeviceMatrix& poisoned(std::int64_t rows, std::int64_t cols) {
    return device(Matrix(rows, cols, std::numeric_limits<float>::quiet_NaN()));
  }

 private:
  std::unique_ptr<kernels::Backend> backend_;
  std::deque<DeviceMatrix> matrices_;
  std::deque<DeviceIndices> indices_;
};

/// Instantiates a fixture derived from BackendTest for every case.
#define FULLBAND_FOR_EVERY_BACKEND(Fixture) \
  INSTANTIATE_TEST_SUITE_P(Backends, Fixture, ::testing::ValuesIn(support::backend_cases()), support::case_name)

}  // namespace support
