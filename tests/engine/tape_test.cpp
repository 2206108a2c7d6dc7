// The tape alone decides that a gradient's first arrival assigns and later ones accumulate.
#include "engine/tape.h"

#include <gtest/gtest.h>

#include "engine/device_copy.h"
#include "engine/ops.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::download_matrix;
using engine::Variable;
using Values = std::vector<float>;

class TapeTest : public ::testing::TestWithParam<std::string> {
 protected:
  /// A leaf whose gradient memory holds numbers that must be overwritten.
  Variable leaf(const Values& values, std::int64_t cols) {
    gradients_.push_back(upload_matrix(*backend_, own_, Values(values.size(), 1e30F), cols));
    return tape_.leaf(upload_matrix(*backend_, own_, values, cols), gradients_.back());
  }
  Variable constant(const Values& values, std::int64_t cols) {
    return tape_.constant(upload_matrix(*backend_, own_, values, cols));
  }
  /// Writes the gradient of the result, as a loss does.
  void seed(Variable variable, const Values& values) {
    const auto target = tape_.gradient_target(variable);
    backend_->scaled(upload_matrix(*backend_, arena_, values, target.view.cols), 1.0F, target.view, target.write);
  }
  Values gradient(Variable variable) { return download_matrix(*backend_, tape_.gradient(variable)); }
  Values value(Variable variable) { return download_matrix(*backend_, tape_.value(variable)); }

  std::shared_ptr<kernels::Backend> backend_ = support::test_backend(GetParam());
  engine::Arena own_{*backend_};
  engine::Arena arena_{*backend_};
  engine::Tape tape_{*backend_, arena_};
  std::vector<kernels::View> gradients_;
};

TEST_P(TapeTest, FirstArrivalAssignsAndLaterOnesAccumulate) {
  const Variable x = leaf({1, 2}, 2);
  const auto first = tape_.gradient_target(x);
  const auto second = tape_.gradient_target(x);
  EXPECT_EQ(first.write, kernels::Write::assign);
  EXPECT_EQ(second.write, kernels::Write::accumulate);
  EXPECT_EQ(first.view.data, second.view.data);
  EXPECT_EQ(first.view.data, gradients_.front().data);
}

TEST_P(TapeTest, ALeafReadTwiceGetsTheSumOfBothGradients) {
  const Variable x = constant({2, 3}, 2);
  const Variable w = leaf({1, 10, 100, 1000}, 2);
  const Variable y = engine::ops::linear(tape_, engine::ops::linear(tape_, x, w), w);  // (x w^T) w^T
  EXPECT_EQ(value(y), (Values{32 + 32000, 3200 + 3200000}));
  seed(y, {1, -1});
  tape_.backward();
  // dL/dw = dy^T (x w^T) + (dy w)^T x with x w^T = (32, 3200) and dy w = (-99, -990)
  EXPECT_EQ(gradient(w), (Values{32 - 198, 3200 - 297, -32 - 1980, -3200 - 2970}));
}

TEST_P(TapeTest, NoGradientFlowsIntoConstantsOrPastThem) {
  const Variable w = leaf({1, 2, 3, 4}, 2);
  const Variable unused = leaf({5, 6, 7, 8}, 2);
  const Variable x = constant({1, 1}, 2);
  const Variable inner = engine::ops::linear(tape_, x, w);
  const Variable detached = engine::ops::detach(tape_, inner);
  const Variable v = leaf({1, 0, 0, 1}, 2);
  const Variable y = engine::ops::linear(tape_, detached, v);
  seed(y, {1, 1});
  tape_.backward();
  EXPECT_TRUE(tape_.has_gradient(v));
  for (const Variable none : {w, unused, x, inner, detached}) EXPECT_FALSE(tape_.has_gradient(none));
  EXPECT_FALSE(tape_.gradient(w).present());
  EXPECT_EQ(download_matrix(*backend_, gradients_.front()), Values(4, 1e30F)) << "nothing was written";
}

TEST_P(TapeTest, ClearKeepsSealedVariablesAndForgetsTheRest) {
  const Variable w = leaf({1, 2, 3, 4}, 2);
  tape_.seal();
  std::int32_t first_id = -1;
  for (int step = 0; step < 3; ++step) {
    const Variable y = engine::ops::linear(tape_, constant({1, 1}, 2), w);
    if (step == 0) first_id = y.id;
    EXPECT_EQ(y.id, first_id);
    EXPECT_FALSE(tape_.has_gradient(w));
    seed(y, {2, 3});
    tape_.backward();
    EXPECT_EQ(gradient(w), (Values{2, 2, 3, 3})) << "earlier steps must not add up";
    tape_.clear();
    arena_.reset();
  }
  tape_.backward();  // no records are left
  EXPECT_FALSE(tape_.has_gradient(w));
}

TEST_P(TapeTest, NothingIsRecordedWhenRecordingIsOff) {
  const Variable w = leaf({1, 2, 3, 4}, 2);
  tape_.set_recording(false);
  const Variable y = engine::ops::linear(tape_, constant({1, 1}, 2), w);
  EXPECT_EQ(value(y), (Values{3, 7}));
  EXPECT_FALSE(tape_.differentiable(y));
  tape_.backward();
  EXPECT_FALSE(tape_.has_gradient(w));
}

TEST_P(TapeTest, BothOutputsOfAResidualNormPassTheirGradientsOn) {
  const Variable x = leaf({1, -2}, 2);
  const Variable branch = leaf({3, 4}, 2);
  const Variable gain = leaf({1, 1}, 2);
  const auto both = engine::ops::residual_rms_norm(tape_, x, branch, 0.5F, gain);
  seed(both.sum, {10, 20});
  tape_.backward();
  EXPECT_EQ(gradient(x), (Values{10, 20}));
  EXPECT_EQ(gradient(branch), (Values{5, 10}));
}

TEST_P(TapeTest, TheArenaAllocatesNothingFromTheSecondStepOfAShapeOn) {
  for (int step = 0; step < 4; ++step) {
    const auto before = backend_->info().allocations;
    arena_.reset();
    for (int i = 0; i < 6; ++i) arena_.matrix(1 + i, 70'000);
    arena_.indices(3);
    if (step >= 2) {
      EXPECT_EQ(backend_->info().allocations, before) << step;
    }
  }
}

TEST_P(TapeTest, ArenaMemoryIsAlignedAndDoesNotOverlap) {
  std::vector<kernels::View> views;
  for (int i = 0; i < 9; ++i) {
    views.push_back(arena_.matrix(i, 7));  // the first is empty
    backend_->fill(views.back(), static_cast<float>(i));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(views.back().data) % 64, 0U);
  }
  for (int i = 0; i < 9; ++i) {
    EXPECT_EQ(download_matrix(*backend_, views[static_cast<std::size_t>(i)]),
              Values(static_cast<std::size_t>(7 * i), static_cast<float>(i)));
  }
}

TEST_P(TapeTest, ARewoundArenaGivesTheSamePlacesAgain) {
  const auto first = arena_.matrix(3, 5);
  const engine::Arena::Mark mark = arena_.mark();
  const auto second = arena_.matrix(1, 400'000);  // more than a block: the next one begins
  arena_.rewind(mark);
  EXPECT_NE(arena_.matrix(1, 16).data, first.data);
  arena_.rewind(mark);
  EXPECT_EQ(arena_.matrix(1, 400'000).data, second.data);
  EXPECT_EQ(arena_.peak(), 64 + 1'600'000);
  arena_.reset();
  EXPECT_EQ(arena_.bytes(), 64 + 1'600'000) << "one block of the most that was in use";
}

TEST_P(TapeTest, AReservedArenaAllocatesOnce) {
  arena_.reserve(10 << 20);
  const auto before = backend_->info().allocations;
  for (int i = 0; i < 10; ++i) arena_.matrix(1, 1 << 18);
  EXPECT_EQ(backend_->info().allocations, before);
  EXPECT_EQ(arena_.bytes(), 10 << 20);
}

INSTANTIATE_TEST_SUITE_P(Devices, TapeTest, ::testing::ValuesIn(support::devices()));

}  // namespace
