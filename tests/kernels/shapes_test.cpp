// Every operation refuses operands that do not fit, by name, before it writes anything.
#include <gmock/gmock.h>

#include <functional>

#include "tests/support/backend_fixture.h"

namespace {

using kernels::Backend;
using kernels::ConstView;
using kernels::View;
using kernels::Write;
using support::Matrix;
using support::noise;

constexpr Write kSet = Write::assign;

class ShapesTest : public support::BackendTest {
 protected:
  void refused(const std::string& operation, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << operation << " accepted operands that do not fit";
    } catch (const kernels::ShapeError& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith(operation + ": "));
    }
  }
  void TearDown() override {
    for (const auto* m : watched_) EXPECT_TRUE(m->untouched()) << "written in spite of the error";
    BackendTest::TearDown();
  }
  View matrix(std::int64_t rows, std::int64_t cols) {
    watched_.push_back(&device(noise(rows, cols, 1)));
    return *watched_.back();
  }
  kernels::IndexView indices(std::int64_t count) {
    return device(std::vector<std::int32_t>(static_cast<std::size_t>(count), 0));
  }

 private:
  std::vector<const support::DeviceMatrix*> watched_;
};

TEST_P(ShapesTest, Products) {
  Backend& b = backend();
  refused("linear", [&] { b.linear(matrix(3, 4), matrix(5, 6), matrix(3, 5), kSet); });
  refused("linear", [&] { b.linear(matrix(3, 4), matrix(5, 4), matrix(3, 6), kSet); });
  refused("linear", [&] { b.linear(matrix(3, 4), matrix(5, 4), matrix(2, 5), kSet); });
  refused("linear_backward_input", [&] { b.linear_backward_input(matrix(3, 5), matrix(4, 4), matrix(3, 4), kSet); });
  refused("linear_backward_weight", [&] { b.linear_backward_weight(matrix(3, 5), matrix(2, 4), matrix(5, 4), kSet); });
}

TEST_P(ShapesTest, Embedding) {
  Backend& b = backend();
  refused("embed", [&] { b.embed(matrix(9, 4), indices(3), matrix(3, 5)); });
  refused("embed", [&] { b.embed(matrix(9, 4), indices(2), matrix(3, 4)); });
  refused("embed_backward", [&] { b.embed_backward(matrix(3, 4), indices(3), matrix(9, 5), kSet); });
}

TEST_P(ShapesTest, Norms) {
  Backend& b = backend();
  refused("rms_norm", [&] { b.rms_norm(matrix(3, 4), matrix(1, 5), matrix(3, 4), matrix(3, 1)); });
  refused("rms_norm", [&] { b.rms_norm(matrix(3, 4), ConstView{}, matrix(3, 4), matrix(2, 1)); });
  // A gain without a place for its gradient, and the other way round.
  refused("rms_norm_backward", [&] {
    b.rms_norm_backward(matrix(3, 4), matrix(3, 4), matrix(1, 4), matrix(3, 1), matrix(3, 4), kSet, View{}, kSet);
  });
  refused("rms_norm_backward", [&] {
    b.rms_norm_backward(matrix(3, 4), matrix(3, 4), ConstView{}, matrix(3, 1), matrix(3, 4), kSet, matrix(1, 4), kSet);
  });
  refused("residual_rms_norm", [&] {
    b.residual_rms_norm(matrix(3, 4), matrix(3, 5), 1.0F, ConstView{}, matrix(3, 4), matrix(3, 4), matrix(3, 1));
  });
  refused("residual_rms_norm_backward", [&] {
    b.residual_rms_norm_backward(matrix(2, 4), ConstView{}, matrix(3, 4), ConstView{}, matrix(3, 1), 1.0F, matrix(3, 4),
                                 kSet, matrix(3, 4), View{}, kSet);
  });
}

TEST_P(ShapesTest, Rotation) {
  Backend& b = backend();
  refused("norm_rope", [&] { b.norm_rope(matrix(3, 9), indices(3), 3, 1e4F, false, matrix(3, 9), View{}); });
  refused("norm_rope", [&] { b.norm_rope(matrix(3, 10), indices(3), 4, 1e4F, false, matrix(3, 10), View{}); });
  refused("norm_rope", [&] { b.norm_rope(matrix(3, 8), indices(3), 4, 1e4F, true, matrix(3, 8), matrix(3, 3)); });
  refused("norm_rope_backward", [&] {
    b.norm_rope_backward(matrix(3, 8), matrix(3, 8), matrix(3, 2), indices(2), 4, 1e4F, true, matrix(3, 8));
  });
}

TEST_P(ShapesTest, Attention) {
  Backend& b = backend();
  const auto attend = [&](kernels::AttentionShape shape, std::int64_t kv_cols, std::int64_t lse_cols) {
    b.attention(matrix(3, 8), matrix(3, kv_cols), matrix(3, kv_cols), indices(3), shape, matrix(3, 8),
                matrix(3, lse_cols));
  };
  refused("attention", [&] { attend({2, 2, 4, 0}, 4, 2); });
  refused("attention", [&] { attend({2, 2, 4, 0}, 8, 1); });
  refused("attention", [&] { attend({2, 0, 4, 0}, 0, 2); });
  refused("attention", [&] { attend({2, 3, 4, 0}, 12, 2); });
  refused("attention", [&] { attend({2, 2, 4, -1}, 8, 2); });
  refused("attention_backward", [&] {
    b.attention_backward(matrix(3, 8), matrix(3, 8), matrix(3, 8), matrix(3, 8), matrix(3, 8), matrix(3, 2), indices(3),
                         {2, 2, 4, 0}, matrix(3, 8), matrix(3, 4), matrix(3, 8));
  });
  refused("decode_attention", [&] {
    b.decode_attention(matrix(1, 8), matrix(9, 8), matrix(8, 8), indices(1), indices(1), {2, 2, 4, 0}, matrix(1, 8));
  });
  refused("head_gate", [&] { b.head_gate(matrix(3, 8), matrix(3, 3), matrix(3, 8)); });
  refused("head_gate_backward",
          [&] { b.head_gate_backward(matrix(3, 8), matrix(3, 8), matrix(3, 2), matrix(3, 8), matrix(3, 4)); });
}

TEST_P(ShapesTest, Pointwise) {
  Backend& b = backend();
  refused("swiglu", [&] { b.swiglu(matrix(3, 7), matrix(3, 4)); });
  refused("swiglu_backward", [&] { b.swiglu_backward(matrix(3, 4), matrix(3, 8), matrix(3, 7)); });
  refused("scaled", [&] { b.scaled(matrix(3, 7), 1.0F, matrix(3, 4), kSet); });
  refused("add_uniform", [&] { b.add_uniform(matrix(3, 7), 1.0F, {}, matrix(2, 7)); });
  refused("gather_rows", [&] { b.gather_rows(matrix(3, 7), indices(2), matrix(3, 7)); });
  refused("scatter_rows", [&] { b.scatter_rows(matrix(3, 7), indices(3), matrix(9, 6)); });
  refused("row_distance", [&] { b.row_distance(matrix(3, 7), matrix(3, 7), matrix(3, 2)); });
  View bad = matrix(4, 7);
  bad.stride = 6;
  refused("fill", [&] { b.fill(bad, 1.0F); });
  refused("fill", [&] { b.fill(View{nullptr, 2, 2, 2}, 1.0F); });
}

TEST_P(ShapesTest, Fusion) {
  Backend& b = backend();
  refused("fuse", [&] {
    b.fuse({}, matrix(3, 4), matrix(3, 4), matrix(3, 5), ConstView{}, indices(3), matrix(3, 4), matrix(3, 1));
  });
  refused("fuse",
          [&] { b.fuse({}, matrix(3, 4), matrix(3, 4), matrix(3, 4), ConstView{}, indices(3), matrix(3, 4), View{}); });
  refused("fuse_backward", [&] {
    b.fuse_backward({}, matrix(3, 4), matrix(3, 4), matrix(3, 4), matrix(1, 4), matrix(3, 1), indices(3), matrix(3, 4),
                    matrix(3, 4), kSet, matrix(3, 4), kSet, View{}, kSet);
  });
}

TEST_P(ShapesTest, Vocabulary) {
  Backend& b = backend();
  kernels::HeadLoss args;
  args.states = matrix(3, 4);
  args.weight = matrix(9, 4);
  args.targets = indices(3);
  args.row_weight = matrix(3, 1);
  args.nll = matrix(3, 1);
  args.argmax = indices(3);
  kernels::HeadLoss wrong = args;
  wrong.weight = matrix(9, 5);
  refused("head_loss", [&] { b.head_loss(wrong); });
  wrong = args;
  wrong.d_weight = matrix(8, 4);
  refused("head_loss", [&] { b.head_loss(wrong); });
  const auto sample = [&](kernels::SamplerShape shape, std::int64_t tokens) {
    b.sample(matrix(2, 9), shape, matrix(2, 1), indices(tokens), matrix(2, 1), matrix(2, 1));
  };
  refused("sample", [&] { sample({}, 3); });
  refused("sample", [&] { sample({-1.0F, 0, 1.0F}, 2); });
  refused("sample", [&] { sample({1.0F, -1, 1.0F}, 2); });
  refused("sample", [&] { sample({1.0F, 0, 0.0F}, 2); });
  refused("sample", [&] { sample({1.0F, 0, 1.5F}, 2); });
}

TEST_P(ShapesTest, Optimisers) {
  Backend& b = backend();
  kernels::AdamStep before_the_first;
  before_the_first.step = 0;
  refused("adamw", [&] { b.adamw(matrix(3, 4), matrix(3, 5), matrix(3, 4), matrix(3, 4), {}); });
  refused("adamw", [&] { b.adamw(matrix(3, 4), matrix(3, 4), matrix(3, 4), matrix(3, 4), before_the_first); });
  refused("normuon", [&] { b.normuon(matrix(3, 4), matrix(3, 4), matrix(3, 4), matrix(4, 1), {}); });
  refused("clip_by_norm", [&] { b.clip_by_norm(matrix(3, 4), 1.0F, matrix(2, 1)); });
}

TEST_P(ShapesTest, TheMessageNamesTheShapes) {
  try {
    backend().linear(matrix(3, 4), matrix(5, 6), matrix(3, 5), kSet);
    FAIL();
  } catch (const kernels::ShapeError& error) {
    EXPECT_STREQ(error.what(), "linear: w is [5, 6] but must be [5, 4].");
  }
}

FULLBAND_FOR_EVERY_BACKEND(ShapesTest);

}  // namespace
