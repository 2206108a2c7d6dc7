// Making a backend, its memory, and the promises that hold for all operations: no allocation, the same bits.
#include "kernels/backend.h"

#include <gmock/gmock.h>

#include "tests/support/backend_fixture.h"

namespace {

using kernels::ConstView;
using kernels::make_backend;
using kernels::View;
using kernels::Write;
using support::Matrix;
using support::noise;

TEST(MakeBackend, KnowsItsDevices) {
  EXPECT_EQ(make_backend("cpu", 3)->info().threads, 3);
  EXPECT_EQ(make_backend("cpu")->info().name, "CPU");
  EXPECT_GE(make_backend("cpu")->info().threads, 1);
  EXPECT_NO_THROW(make_backend("auto"));
  EXPECT_NO_THROW(make_backend("auto:0"));
  EXPECT_THROW(make_backend("auto:x"), kernels::DeviceError);
  EXPECT_THROW(make_backend("auto:"), kernels::DeviceError);
  EXPECT_THROW(make_backend("tpu"), kernels::DeviceError);
  EXPECT_THROW(make_backend("cuda:7777"), kernels::DeviceError);
  EXPECT_THROW(make_backend("cpu", -1), kernels::DeviceError);
}

class MemoryTest : public support::BackendTest {};

TEST_P(MemoryTest, CountsWhatIsHeld) {
  const std::int64_t before = backend().info().memory_used;
  {
    kernels::Buffer a = backend().allocate(1000);
    kernels::Buffer b = backend().allocate(24);
    EXPECT_EQ(backend().info().memory_used, before + 1024);
    a = std::move(b);
    EXPECT_EQ(a.bytes(), 24);
  }
  EXPECT_EQ(backend().info().memory_used, before);
}

TEST_P(MemoryTest, IsAlignedAndKeepsWhatIsUploaded) {
  const std::vector<float> host{1.0F, 2.0F, 3.0F};
  kernels::Buffer buffer = backend().allocate(12);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0U);
  backend().upload(host.data(), buffer.data(), 12);
  std::vector<float> back(3, 0.0F);
  backend().download(buffer.data(), back.data(), 12);
  backend().synchronize();
  EXPECT_EQ(back, host);
}

TEST_P(MemoryTest, ZeroBytesAreAValidBuffer) {
  kernels::Buffer empty = backend().allocate(0);
  EXPECT_EQ(empty.bytes(), 0);
  backend().fill(empty.matrix(0, 5), 1.0F);
  backend().upload(nullptr, empty.data(), 0);
}

TEST_P(MemoryTest, RefusesWhatDoesNotExist) {
  for (const std::int64_t bytes : {std::int64_t{1} << 60, std::int64_t{-1}}) {
    try {
      kernels::Buffer b = backend().allocate(bytes);
      FAIL();
    } catch (const kernels::OutOfMemory& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(std::to_string(bytes)));
      EXPECT_THAT(error.what(), ::testing::HasSubstr("lower the rows"));
    }
  }
}

TEST_P(MemoryTest, GoesOnAfterARefusal) {
  const Matrix x = noise(8, 8, 1);
  auto &y = poisoned(8, 8), &dx = device(x);
  EXPECT_THROW(static_cast<void>(backend().allocate(std::int64_t{1} << 60)), kernels::OutOfMemory);
  backend().scaled(dx, 1.0F, y, Write::assign);
  EXPECT_EQ(y.download().values, x.values);
}

/// A recording of a few operations that feed each other: out = 2 (state + x w^T), and state += x w^T.
class RecordingTest : public support::BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped()) return;
    x_ = device(noise(3, 20, 1));
    w_ = device(noise(8, 20, 2));
    state_ = &device(noise(3, 8, 3));
    out_ = &poisoned(3, 8);
  }
  void work() {
    ++calls_;
    backend().linear(x_, w_, *state_, Write::accumulate);
    backend().scaled(*state_, 2.0F, *out_, Write::assign);
  }
  /// What a run leaves in out, computed by plain calls.
  std::vector<float> expected() {
    auto &state = device(state_->download()), &out = poisoned(3, 8);
    backend().linear(x_, w_, state, Write::accumulate);
    backend().scaled(state, 2.0F, out, Write::assign);
    return out.download().values;
  }

  View x_, w_;
  support::DeviceMatrix* state_ = nullptr;
  support::DeviceMatrix* out_ = nullptr;
  int calls_ = 0;
};

TEST_P(RecordingTest, EveryRunDoesTheWorkOnWhatTheOperandsHoldThen) {
  const auto recording = backend().record([this] { work(); });
  for (unsigned run = 0; run < 5; ++run) {
    const Matrix x = noise(3, 20, 40 + run);
    for (std::int64_t r = 0; r < 3; ++r) backend().upload(x.values.data() + r * 20, x_.row(r), 80);
    const std::vector<float> after = expected();
    recording->run();
    EXPECT_EQ(out_->download().values, after) << run;
  }
}

TEST_P(RecordingTest, AGpuCallsTheWorkTwiceAndAgainWhenMemoryMoved) {
  const auto recording = backend().record([this] { work(); });
  for (int run = 0; run < 4; ++run) recording->run();
  EXPECT_EQ(calls_, GetParam().device == "cpu" ? 4 : 2);
  const std::vector<float> after = expected();  // allocates
  recording->run();
  EXPECT_EQ(out_->download().values, after);
  EXPECT_EQ(calls_, GetParam().device == "cpu" ? 5 : 3);
}

TEST_P(RecordingTest, WorkThatThrowsLeavesTheBackendUsable) {
  bool fails = false;
  const auto recording = backend().record([&] {
    work();
    if (fails) throw kernels::Error("in the middle");
  });
  recording->run();
  fails = true;
  EXPECT_THROW(recording->run(), kernels::Error);
  fails = false;
  const std::vector<float> after = expected();
  recording->run();
  EXPECT_EQ(out_->download().values, after);
}

/// Runs every operation that reduces or needs scratch, on operands large enough for several threads.
class WholeBackendTest : public support::BackendTest {
 protected:
  static constexpr std::int64_t kRows = 600, kCols = 64, kVocab = 50;

  /// Uploads fresh operands, so that two runs share neither addresses nor contents of the outputs.
  void prepare() {
    seed_ = 1;
    outputs_.clear();
    std::vector<std::int32_t> positions, fused;
    for (int n = 0; n < kRows; ++n) {
      positions.push_back(n % 150);
      fused.push_back(n % 150 > 3 ? 1 : 0);
    }
    positions_ = device(positions);
    fused_ = device(fused);
    tokens_ = device(support::random_indices(kRows, 0, kVocab, 77));
    argmax_ = device(support::random_indices(kRows, 0, kVocab, 78));
    for (View* v : {&x_, &y_, &dy_}) *v = in(kRows, kCols);
    for (View& v : results_) v = out(kRows, kCols);
    gain_ = in(1, kCols);
    weight_ = in(kVocab, kCols);
    row_weight_ = in(kRows, 1);
    logsumexp_ = out(kRows, 4);
    inv_rms_ = out(kRows, 4);
    weight_gradient_ = out(kCols, kCols);
    table_gradient_ = out(kVocab, kCols);
    gain_gradient_ = out(1, kCols);
    nll_ = out(kRows, 1);
    norm_ = out(1, 1);
    parameter_ = in(kCols, kCols);
    momentum_ = in(kCols, kCols);
    row_moment_ = device(Matrix(kCols, 1));
  }

  void run_all() {
    auto& b = backend();
    const kernels::AttentionShape shape{4, 2, 16, 0};
    const View k = x_.column_range(0, 32), v = y_.column_range(0, 32), r = inv_rms_.column_range(0, 1);
    b.attention(dy_, k, v, positions_, shape, results_[0], logsumexp_);
    b.attention_backward(x_, dy_, k, v, results_[0], logsumexp_, positions_, shape, results_[1],
                         results_[2].column_range(0, 32), results_[2].column_range(32, 32));
    b.linear_backward_weight(dy_, x_, weight_gradient_, Write::assign);
    b.embed_backward(dy_, tokens_, table_gradient_, Write::assign);
    b.norm_rope(x_, positions_, 16, 1e4F, true, results_[4], inv_rms_);
    b.rms_norm_backward(dy_, x_, gain_, r, results_[3], Write::assign, gain_gradient_, Write::assign);
    b.fuse_backward({}, dy_, x_, y_, gain_, r, fused_, results_[5], results_[6], Write::assign, results_[7],
                    Write::assign, gain_gradient_, Write::accumulate);
    b.head_loss({x_, weight_, tokens_, row_weight_, 1e-3F, nll_, argmax_, results_[8], Write::assign, table_gradient_,
                 Write::accumulate});
    b.normuon(parameter_, weight_gradient_, momentum_, row_moment_, {0.01F, 0.95F, 0.95F, 1e-8F, 0.1F});
    b.clip_by_norm(results_[8], 0.1F, norm_);
  }

  [[nodiscard]] std::vector<float> all_outputs() const {
    std::vector<float> all;
    for (const auto* m : outputs_) {
      const Matrix values = m->download();
      all.insert(all.end(), values.values.begin(), values.values.end());
    }
    return all;
  }

 private:
  View in(std::int64_t rows, std::int64_t cols) { return device(noise(rows, cols, seed_++)); }
  View out(std::int64_t rows, std::int64_t cols) {
    outputs_.push_back(&poisoned(rows, cols));
    return *outputs_.back();
  }

  unsigned seed_ = 1;
  std::vector<support::DeviceMatrix*> outputs_;
  kernels::IndexView positions_, fused_, tokens_, argmax_;
  View x_, y_, dy_, gain_, weight_, row_weight_, inv_rms_, logsumexp_, results_[9];
  View weight_gradient_, table_gradient_, gain_gradient_, nll_, norm_, parameter_, momentum_, row_moment_;
};

TEST_P(WholeBackendTest, ARepeatedOperationAllocatesNothing) {
  prepare();
  run_all();
  const std::int64_t before = backend().info().allocations;
  run_all();
  EXPECT_EQ(backend().info().allocations, before);
}

TEST_P(WholeBackendTest, TwoRunsGiveTheSameBits) {
  prepare();
  run_all();
  const std::vector<float> first = all_outputs();
  prepare();
  run_all();
  EXPECT_THAT(all_outputs(), ::testing::ElementsAreArray(first));
  for (const float v : first) ASSERT_TRUE(std::isfinite(v));
}

FULLBAND_FOR_EVERY_BACKEND(MemoryTest);
FULLBAND_FOR_EVERY_BACKEND(RecordingTest);
FULLBAND_FOR_EVERY_BACKEND(WholeBackendTest);

}  // namespace
