// The host's CUDA device itself: it runs right kernels right, and notices the mistakes that a GPU may hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "kernels/cuda/make_cuda.h"
#include "kernels/cuda/reduce.cuh"
#include "tests/cuda_host/broken_kernels.cuh"

namespace {

using broken::Mistake;
using kernels::cuda::Grid;
using kernels::cuda::kWholeWarp;
using kernels::cuda::launch;
using kernels::cuda::Queue;
using kernels::cuda::Stream;

class CudaHostTest : public ::testing::Test {
 protected:
  static constexpr int kBlocks = 3, kThreads = 64;

  void SetUp() override { cuda_host::set_thread_order(0); }
  void TearDown() override { cuda_host::set_thread_order(0); }

  [[nodiscard]] const Queue& queue() const { return queue_; }

  float* to_device(const std::vector<float>& values) {
    float* data = uninitialised(values.size());
    const std::size_t bytes = values.size() * sizeof(float);
    EXPECT_EQ(cudaMemcpyAsync(data, values.data(), bytes, cudaMemcpyHostToDevice, queue_.stream), cudaSuccess);
    return data;
  }
  float* uninitialised(std::size_t count) {
    memory_.emplace_back(static_cast<std::int64_t>(count * sizeof(float)));
    return static_cast<float*>(memory_.back().data());
  }
  std::vector<float> to_host(const float* data, std::size_t count) {
    std::vector<float> values(count);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost, queue_.stream),
              cudaSuccess);
    return values;
  }

  /// The sums of three blocks of 64 numbers, by a kernel with a mistake. They should be 64 * 65 / 2 + 4096 * block.
  std::vector<float> tree_sums(Mistake mistake) {
    std::vector<float> in(kBlocks * kThreads);
    std::iota(in.begin(), in.end(), 1.0F);
    float* out = uninitialised(kBlocks);
    launch(queue_, "tree sum", broken::tree_sum_kernel, Grid{kBlocks, kThreads, kThreads * sizeof(float)},
           to_device(in), mistake, out);
    return to_host(out, kBlocks);
  }

  std::string message_of(Mistake mistake) {
    try {
      tree_sums(mistake);
    } catch (const kernels::DeviceError& error) {
      return error.what();
    }
    return "nothing was noticed";
  }

 private:
  Stream stream_;
  Queue queue_{stream_.get(), 1000};
  std::vector<kernels::cuda::DeviceBytes> memory_;
};

const std::vector<float> kRight{2080.0F, 6176.0F, 10272.0F};

TEST_F(CudaHostTest, BarriersAndSharedMemoryWorkInEveryOrder) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    cuda_host::set_thread_order(seed);
    EXPECT_EQ(tree_sums(Mistake::none), kRight) << "order " << seed;
  }
}

TEST_F(CudaHostTest, AMissingBarrierIsCaughtByRandomOrder) {
  int wrong = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    cuda_host::set_thread_order(seed);
    wrong += tree_sums(Mistake::missing_barrier) == kRight ? 0 : 1;
  }
  EXPECT_EQ(wrong, 4);
}

TEST_F(CudaHostTest, ABarrierThatSomeThreadsNeverReachIsAnError) {
  EXPECT_THAT(message_of(Mistake::barrier_for_some), ::testing::HasSubstr("wait at a barrier"));
}

TEST_F(CudaHostTest, AWarpOperationWithoutAllLanesIsAnError) {
  EXPECT_THAT(message_of(Mistake::lane_left_out), ::testing::HasSubstr("wait at a barrier"));
}

TEST_F(CudaHostTest, AWritePastTheSharedMemoryIsAnError) {
  EXPECT_THAT(message_of(Mistake::past_shared_memory), ::testing::HasSubstr("shared memory"));
}

// Under the address sanitizer the same write ends the program at its line.
#if !defined(__SANITIZE_ADDRESS__)
TEST_F(CudaHostTest, AWritePastAnAllocationIsAnErrorThatNamesTheKernel) {
  const std::string message = message_of(Mistake::out_of_bounds);
  EXPECT_THAT(message, ::testing::HasSubstr("tree sum"));
  EXPECT_THAT(message, ::testing::HasSubstr("past the end of an allocation"));
}
#endif

TEST_F(CudaHostTest, WorkGoesOnAfterAnError) {
  EXPECT_NE(message_of(Mistake::barrier_for_some), "nothing was noticed");
  EXPECT_EQ(tree_sums(Mistake::none), kRight);
}

TEST_F(CudaHostTest, MemoryHoldsNaNUntilItIsWritten) {
  for (const float value : to_host(uninitialised(5), 5)) EXPECT_TRUE(std::isnan(value));
}

TEST_F(CudaHostTest, TheHostCannotTouchDeviceMemory) {
  const float* data = to_device({1.0F, 2.0F});
  EXPECT_DEATH(std::abs(data[0]) > 2.0F ? std::abort() : std::exit(0), "");
}

__global__ void shuffles_kernel(float* out) {
  const int lane = kernels::cuda::lane_index();
  const auto mine = static_cast<float>(lane);
  out[lane] = kernels::cuda::warp_sum(mine);
  out[32 + lane] = kernels::cuda::group_sum(mine, 8);
  out[64 + lane] = kernels::cuda::warp_max(lane == 7 ? 100.0F : mine);
  out[96 + lane] = __shfl_up_sync(kWholeWarp, mine, 1U);
  out[128 + lane] = static_cast<float>(__ballot_sync(kWholeWarp, lane % 8 == 0));
}

TEST_F(CudaHostTest, WarpOperationsGiveWhatAWarpGives) {
  for (const std::uint64_t seed : {0, 9}) {
    cuda_host::set_thread_order(seed);
    float* out = uninitialised(160);
    launch(queue(), "shuffles", shuffles_kernel, Grid{1, 32, 0}, out);
    const std::vector<float> got = to_host(out, 160);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      const std::size_t first = lane / 8 * 8;
      EXPECT_EQ(got[lane], 496.0F);
      EXPECT_EQ(got[32 + lane], static_cast<float>(8 * first + 28));
      EXPECT_EQ(got[64 + lane], 100.0F);
      EXPECT_EQ(got[96 + lane], static_cast<float>(lane == 0 ? 0 : lane - 1));
      EXPECT_EQ(got[128 + lane], static_cast<float>(0x01010101));
    }
  }
}

__global__ void count_kernel(std::int64_t n, float* visits) {
  for (std::int64_t i = kernels::cuda::first_thread(); i < n; i += kernels::cuda::all_threads()) visits[i] += 1.0F;
}

TEST_F(CudaHostTest, AGridSmallerThanItsWorkDoesAllOfIt) {
  float* visits = to_device(std::vector<float>(5000, 0.0F));
  launch(Queue{queue().stream, 2}, "count", count_kernel, kernels::cuda::threads_over(5000), 5000, visits);
  EXPECT_THAT(to_host(visits, 5000), ::testing::Each(1.0F));
}

TEST_F(CudaHostTest, ACapturedGraphRunsWhenLaunchedAndNotBefore) {
  float* visits = to_device(std::vector<float>(100, 0.0F));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(queue().stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  launch(queue(), "count", count_kernel, kernels::cuda::threads_over(100), 100, visits);
  ASSERT_EQ(cudaStreamEndCapture(queue().stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_THAT(to_host(visits, 100), ::testing::Each(0.0F));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(cudaGraphLaunch(executable, queue().stream), cudaSuccess);
  EXPECT_THAT(to_host(visits, 100), ::testing::Each(3.0F));
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(MakeCudaBackend, ReadsTheNumberAndThePrecision) {
  for (const char* name : {"cuda", "cuda:0", "cuda:0,float32", "cuda,tf32", "cuda:0,bf16"}) {
    EXPECT_EQ(kernels::make_backend(name)->info().name, "CUDA on the host") << name;
  }
  for (const char* name : {"cuda:", "cuda:x", "cuda:-1", "cuda:1", "cuda0", "cuda:0,", "cuda:0,fp8", "cudaa"}) {
    EXPECT_THROW(kernels::make_backend(name), kernels::DeviceError) << name;
  }
  EXPECT_EQ(kernels::make_backend("auto")->info().name, "CUDA on the host");
}

TEST(MakeCudaBackend, MemoryThatRunsOutLeavesTheDeviceUsable) {
  const auto backend = kernels::make_backend("cuda:0");
  const kernels::Buffer most = backend->allocate(backend->info().memory_total - (64 << 20));
  EXPECT_THROW(backend->allocate(64 << 20), kernels::OutOfMemory);
  const kernels::Buffer small = backend->allocate(1000);
  backend->fill(small.matrix(1, 250), 3.0F);
  std::vector<float> back(250);
  backend->download(small.data(), back.data(), 1000);
  EXPECT_THAT(back, ::testing::Each(3.0F));
}

TEST(MakeCudaBackend, UploadsLongerThanTheRingArriveWhole) {
  const auto backend = kernels::make_backend("cuda:0");
  std::vector<float> values(std::size_t{5} << 20);
  std::iota(values.begin(), values.end(), 0.0F);
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(float));
  const kernels::Buffer buffer = backend->allocate(bytes);
  backend->upload(values.data(), buffer.data(), bytes);
  std::vector<float> back(values.size());
  backend->download(buffer.data(), back.data(), bytes);
  EXPECT_TRUE(back == values);
}

}  // namespace
