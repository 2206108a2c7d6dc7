#include "kernels/cuda/recording.h"

#include "kernels/cuda/backend.h"

namespace kernels::cuda {
namespace {

/// The stream keeps work instead of starting it, for as long as this lives.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin a recording");
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
  ~Capture() {
    if (stream_ == nullptr) return;
    if (finish() == cudaSuccess) static_cast<void>(cudaGraphDestroy(captured_));
  }
  Graph graph() {
    check(finish(), "end a recording");
    return Graph(captured_);
  }

 private:
  cudaError_t finish() { return cudaStreamEndCapture(std::exchange(stream_, nullptr), &captured_); }

  cudaStream_t stream_;
  cudaGraph_t captured_ = nullptr;
};

}  // namespace

Graph::Graph(cudaGraph_t captured) {
  const cudaError_t result = cudaGraphInstantiate(&executable_, captured, 0);
  static_cast<void>(cudaGraphDestroy(captured));
  check(result, "keep a recording");
}

void GraphRecording::capture() {
  Capture capture(stream_);
  work_();
  graph_ = capture.graph();
  recorded_at_ = allocations_();
}

void GraphRecording::run() {
  if (!has_run_) {
    work_();
    has_run_ = true;
    return;
  }
  if (!graph_.present() || recorded_at_ != allocations_()) capture();
  graph_.launch(stream_);
}

std::unique_ptr<Recording> CudaBackend::record(std::function<void()> work) {
  return std::make_unique<GraphRecording>(stream_.get(), std::move(work),
                                          [this] { return info_.allocations + moves(); });
}

}  // namespace kernels::cuda
