// Operations kept as a CUDA graph and started in one launch.
#pragma once

#include <functional>

#include "kernels/backend.h"
#include "kernels/cuda/raii.h"

namespace kernels::cuda {

/// A graph that can be launched, or none.
class Graph {
 public:
  Graph() = default;
  explicit Graph(cudaGraph_t captured);
  Graph(Graph&& other) noexcept { std::swap(executable_, other.executable_); }
  Graph& operator=(Graph&& other) noexcept {
    std::swap(executable_, other.executable_);
    return *this;
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    if (executable_ != nullptr) static_cast<void>(cudaGraphExecDestroy(executable_));
  }
  [[nodiscard]] bool present() const { return executable_ != nullptr; }
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "start a recording"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// The first run does the work, so that scratch memory is as large as it needs to be; the second records it. It is
/// recorded anew when memory has come or gone since, because operands of the device's own may have moved.
class GraphRecording final : public Recording {
 public:
  /// `allocations` counts what makes memory move.
  GraphRecording(cudaStream_t stream, std::function<void()> work, std::function<std::int64_t()> allocations)
      : stream_(stream), work_(std::move(work)), allocations_(std::move(allocations)) {}

  void run() override;

 private:
  void capture();

  cudaStream_t stream_;
  std::function<void()> work_;
  std::function<std::int64_t()> allocations_;
  Graph graph_;
  std::int64_t recorded_at_ = 0;  ///< allocations then
  bool has_run_ = false;
};

}  // namespace kernels::cuda
