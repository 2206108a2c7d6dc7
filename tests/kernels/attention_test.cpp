// Attention, decoding attention and the head gate against oracles in double precision.
#include <numeric>

#include "tests/support/autodiff.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::AttentionShape;
using kernels::Write;
using std::exp;
using std::log;
using support::exp;
using support::expect_gradient;
using support::log;
using support::Matrix;
using support::noise;

/// Places of rows in documents of these lengths.
std::vector<std::int32_t> positions_of(const std::vector<int>& lengths) {
  std::vector<std::int32_t> out;
  for (const int length : lengths) {
    for (int i = 0; i < length; ++i) out.push_back(i);
  }
  return out;
}

/// Softmax attention written from its definition. Inputs q, k, v; output y, or the logsumexp of every row and head.
struct AttentionOracle {
  std::vector<std::int32_t> positions;
  AttentionShape shape;
  bool want_logsumexp = false;

  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    const auto n = static_cast<std::int64_t>(positions.size());
    std::vector<T> out;
    for (std::int64_t row = 0; row < n; ++row) {
      for (std::int64_t h = 0; h < shape.heads; ++h) append(in, row, h, out);
    }
    return out;
  }

  template <typename T>
  void append(const support::Inputs<T>& in, std::int64_t row, std::int64_t h, std::vector<T>& out) const {
    const std::int64_t d = shape.head_dim;
    const std::int64_t g = h / (shape.heads / shape.kv_heads);
    std::int64_t begin = row - positions[static_cast<std::size_t>(row)];
    if (shape.window > 0) begin = std::max(begin, row - shape.window + 1);
    const T* q = in[0].data() + (row * shape.heads + h) * d;
    T sum = 0.0;
    std::vector<T> y(static_cast<std::size_t>(d), T(0.0));
    for (std::int64_t m = begin; m <= row; ++m) {
      const T* k = in[1].data() + (m * shape.kv_heads + g) * d;
      const T* v = in[2].data() + (m * shape.kv_heads + g) * d;
      T score = 0.0;
      for (std::int64_t i = 0; i < d; ++i) score += q[i] * k[i];
      const T e = exp(score / T(std::sqrt(static_cast<double>(d))));
      sum += e;
      for (std::int64_t i = 0; i < d; ++i) y[static_cast<std::size_t>(i)] += e * v[i];
    }
    if (want_logsumexp) {
      out.push_back(log(sum));
    } else {
      for (const T& value : y) out.push_back(value / sum);
    }
  }
};

struct AttentionCase {
  const char* name;
  std::vector<int> lengths;
  AttentionShape shape;
};

std::vector<AttentionCase> attention_cases() {
  return {{"empty", {}, {2, 1, 4, 0}},
          {"one row", {1}, {3, 3, 5, 0}},
          {"odd", {7, 1, 13}, {5, 5, 3, 0}},
          {"grouped heads", {20, 9}, {6, 2, 8, 0}},
          {"all heads share one", {33}, {4, 1, 16, 0}},
          {"window of one", {9, 4}, {2, 2, 4, 1}},
          {"window", {40, 17}, {4, 2, 8, 5}},
          {"window wider than the document", {12}, {2, 1, 6, 100}},
          {"several threads", {44, 3, 60, 31, 44}, {4, 2, 20, 0}},
          {"across tiles", {150}, {1, 1, 6, 0}},
          {"window across tiles", {170}, {2, 1, 4, 70}},
          {"wide heads", {11, 3}, {2, 1, 70, 0}},
          {"very wide heads", {9}, {1, 1, 132, 4}}};
}

struct AttentionInputs {
  Matrix q, k, v;
};

AttentionInputs inputs_for(const AttentionCase& c, unsigned seed) {
  const std::int64_t n = std::accumulate(c.lengths.begin(), c.lengths.end(), 0);
  return {noise(n, c.shape.heads * c.shape.head_dim, seed), noise(n, c.shape.kv_heads * c.shape.head_dim, seed + 1),
          noise(n, c.shape.kv_heads * c.shape.head_dim, seed + 2)};
}

class AttentionTest : public support::BackendTest {
 protected:
  Matrix run(const AttentionInputs& in, const std::vector<std::int32_t>& positions, const AttentionShape& shape) {
    auto& y = poisoned(in.q.rows, in.q.cols);
    backend().attention(device(in.q), device(in.k), device(in.v), device(positions), shape, y,
                        poisoned(in.q.rows, shape.heads));
    return y.download();
  }
};

TEST_P(AttentionTest, ForwardMatchesTheOracle) {
  for (const AttentionCase& c : attention_cases()) {
    const AttentionInputs in = inputs_for(c, 1);
    AttentionOracle oracle{positions_of(c.lengths), c.shape};
    auto& y = poisoned(in.q.rows, in.q.cols);
    auto& logsumexp = poisoned(in.q.rows, c.shape.heads);
    backend().attention(device(in.q), device(in.k), device(in.v), device(oracle.positions), c.shape, y, logsumexp);
    const support::Inputs<double> values{as_double(in.q), as_double(in.k), as_double(in.v)};
    support::expect_close(c.name, y.download(), oracle(values));
    oracle.want_logsumexp = true;
    support::expect_close(c.name, logsumexp.download(), oracle(values));
  }
}

TEST_P(AttentionTest, LongDocumentsMatchTheOracle) {
  // Longer than any chunk of keys, with large scores, so that later chunks raise the running maximum.
  for (const AttentionShape& shape : {AttentionShape{1, 1, 4, 0}, AttentionShape{2, 1, 5, 300}}) {
    const std::int64_t n = 700;
    const AttentionInputs in{noise(n, shape.heads * shape.head_dim, 1, 2.0F), noise(n, shape.head_dim, 2, 2.0F),
                             noise(n, shape.head_dim, 3)};
    const AttentionOracle oracle{positions_of({700}), shape};
    support::expect_close("y", run(in, oracle.positions, shape),
                          oracle(support::Inputs<double>{as_double(in.q), as_double(in.k), as_double(in.v)}));
  }
}

TEST_P(AttentionTest, BackwardMatchesTheDerivative) {
  for (const AttentionCase& c : attention_cases()) {
    const AttentionInputs in = inputs_for(c, 1);
    const Matrix dy = noise(in.q.rows, in.q.cols, 9);
    const AttentionOracle oracle{positions_of(c.lengths), c.shape};
    auto &q = device(in.q), &k = device(in.k), &v = device(in.v), &y = poisoned(in.q.rows, in.q.cols);
    auto &logsumexp = poisoned(in.q.rows, c.shape.heads), &dq = poisoned(in.q.rows, in.q.cols);
    auto &dk = poisoned(in.k.rows, in.k.cols), &dv = poisoned(in.v.rows, in.v.cols);
    auto& positions = device(oracle.positions);
    backend().attention(q, k, v, positions, c.shape, y, logsumexp);
    backend().attention_backward(device(dy), q, k, v, y, logsumexp, positions, c.shape, dq, dk, dv);
    const std::vector<Matrix> all{in.q, in.k, in.v};
    SCOPED_TRACE(c.name);
    expect_gradient("dv", dv.download(), nullptr, oracle, all, as_double(dy), 2);
    // With one key a row its weight is 1 whatever the score: the exact gradients are zero, the kernel's are rounding.
    if (c.shape.window == 1 || in.q.rows <= 1) {
      for (const Matrix& m : {dq.download(), dk.download()}) {
        for (const float value : m.values) EXPECT_NEAR(value, 0.0F, 5e-6F);
      }
    } else {
      expect_gradient("dq", dq.download(), nullptr, oracle, all, as_double(dy), 0, 3e-6);
      expect_gradient("dk", dk.download(), nullptr, oracle, all, as_double(dy), 1, 3e-6);
    }
  }
}

TEST_P(AttentionTest, LargeScoresStayFinite) {
  AttentionInputs in{noise(70, 16, 1, 40.0F), noise(70, 16, 2, 40.0F), noise(70, 16, 3)};
  for (const float value : run(in, positions_of({70}), {1, 1, 16, 0}).values) EXPECT_TRUE(std::isfinite(value));
}

TEST_P(AttentionTest, PackedDocumentsGiveTheirNumbersAlone) {
  const AttentionShape shape{4, 2, 8, 0};
  const std::vector<int> lengths{30, 1, 77, 12};
  const AttentionInputs in = inputs_for({"", lengths, shape}, 5);
  const Matrix packed = run(in, positions_of(lengths), shape);
  std::int64_t begin = 0;
  for (const int length : lengths) {
    const auto rows = [&](const Matrix& m) {
      Matrix part(length, m.cols);
      std::copy_n(m.values.begin() + begin * m.cols, length * m.cols, part.values.begin());
      return part;
    };
    const Matrix alone = run({rows(in.q), rows(in.k), rows(in.v)}, positions_of({length}), shape);
    EXPECT_EQ(alone.values, rows(packed).values) << "document at row " << begin;
    begin += length;
  }
}

TEST_P(AttentionTest, AChangedRowMovesNothingEarlierAndNoOtherDocument) {
  const AttentionShape shape{2, 1, 8, 0};
  AttentionInputs in = inputs_for({"", {90, 40}, shape}, 5);
  const Matrix before = run(in, positions_of({90, 40}), shape);
  constexpr std::int64_t kChanged = 63;
  for (Matrix* m : {&in.q, &in.k, &in.v}) {
    for (std::int64_t c = 0; c < m->cols; ++c) m->at(kChanged, c) += 1.0F;
  }
  const Matrix after = run(in, positions_of({90, 40}), shape);
  for (std::int64_t r = 0; r < 130; ++r) {
    bool moved = false;
    for (std::int64_t c = 0; c < after.cols; ++c) moved = moved || after.at(r, c) != before.at(r, c);
    EXPECT_EQ(moved, r >= kChanged && r < 90) << r;
  }
}

TEST_P(AttentionTest, NonFiniteRowsReachOnlyWhoeverSeesThem) {
  const AttentionShape shape{1, 1, 8, 0};
  AttentionInputs in = inputs_for({"", {50}, shape}, 5);
  const Matrix clean = run(in, positions_of({50}), shape);
  in.v.at(20, 2) = std::numeric_limits<float>::quiet_NaN();
  const Matrix y = run(in, positions_of({50}), shape);
  for (std::int64_t r = 0; r < 50; ++r) {
    EXPECT_EQ(std::isnan(y.at(r, 2)), r >= 20) << r;
    EXPECT_NEAR(y.at(r, 3), clean.at(r, 3), 2e-6F) << r;
  }
}

TEST_P(AttentionTest, PositionsThatDoNotCountUpAreAnError) {
  auto& y = poisoned(3, 4);
  auto& x = device(noise(3, 4, 1));
  auto& logsumexp = poisoned(3, 1);
  for (const auto& wrong : {std::vector<std::int32_t>{1, 2, 3}, {0, 2, 3}, {0, 1, -1}}) {
    const auto attend = [&] { backend().attention(x, x, x, device(wrong), {1, 1, 4, 0}, y, logsumexp); };
    if (checks_indices()) {
      EXPECT_THROW(attend(), kernels::ShapeError);
    } else {
      EXPECT_NO_THROW(attend());  // and reads nothing outside its operands
      EXPECT_EQ(y.download().rows, 3);
    }
  }
  EXPECT_EQ(y.untouched(), checks_indices());
}

TEST_P(AttentionTest, Bf16ProductsStayCloseToTheOracle) {
  if (GetParam().device == "cpu") return;  // it has float32 alone
  const auto other = kernels::make_backend(GetParam().device + ",bf16");
  for (const AttentionCase& c : attention_cases()) {
    if (c.lengths.empty()) continue;
    SCOPED_TRACE(c.name);
    const AttentionInputs in = inputs_for(c, 1);
    const AttentionOracle oracle{positions_of(c.lengths), c.shape};
    const Matrix dy = noise(in.q.rows, in.q.cols, 9);
    const auto on_device = [&](const Matrix& m) { return support::DeviceMatrix(*other, m, GetParam().padding); };
    const auto like = [&](const Matrix& m) { return on_device(Matrix(m.rows, m.cols, NAN)); };
    auto q = on_device(in.q), k = on_device(in.k), v = on_device(in.v), d = on_device(dy), y = like(in.q);
    auto dq = like(in.q), dk = like(in.k), dv = like(in.v), logsumexp = on_device(Matrix(in.q.rows, c.shape.heads));
    const support::DeviceIndices positions(*other, oracle.positions);
    other->attention(q, k, v, positions, c.shape, y, logsumexp);
    other->attention_backward(d, q, k, v, y, logsumexp, positions, c.shape, dq, dk, dv);
    const auto expected = support::differentiate(oracle, {in.q, in.k, in.v}, as_double(dy));
    support::expect_close("y", y.download(), expected.output, 0.01);
    support::expect_close("dv", dv.download(), expected.gradients[2], 0.01);
    if (c.shape.window == 1 || in.q.rows <= 1) continue;  // the exact gradients are zero
    support::expect_close("dq", dq.download(), expected.gradients[0], 0.03);
    support::expect_close("dk", dk.download(), expected.gradients[1], 0.03);
    EXPECT_TRUE(y.guards_intact() && dq.guards_intact() && dk.guards_intact() && dv.guards_intact());
  }
}

TEST_P(AttentionTest, DecodingMatchesTheParallelPass) {
  for (const AttentionShape& shape :
       {AttentionShape{4, 2, 8, 0}, AttentionShape{5, 5, 3, 0}, AttentionShape{2, 1, 16, 7}}) {
    const std::vector<int> lengths{30, 1, 300, 12};
    const AttentionInputs in = inputs_for({"", lengths, shape}, 5);
    const auto positions = positions_of(lengths);
    const Matrix expected = run(in, positions, shape);
    // The last row of each document asks its own cache rows.
    Matrix q(4, in.q.cols);
    std::vector<std::int32_t> first, length;
    std::vector<double> last_rows;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      first.push_back(static_cast<std::int32_t>(end));
      length.push_back(lengths[i]);
      end += lengths[i];
      for (std::int64_t c = 0; c < q.cols; ++c) {
        q.at(static_cast<std::int64_t>(i), c) = in.q.at(end - 1, c);
        last_rows.push_back(static_cast<double>(expected.at(end - 1, c)));
      }
    }
    auto& y = poisoned(4, q.cols);
    backend().decode_attention(device(q), device(in.k), device(in.v), device(first), device(length), shape, y);
    support::expect_close("y", y.download(), last_rows);
  }
}

TEST_P(AttentionTest, DecodingOneRowMatchesTheParallelPass) {
  // Alone, a row's keys may be shared out and put together again.
  for (const AttentionShape& shape : {AttentionShape{1, 1, 8, 0}, AttentionShape{2, 1, 70, 40}}) {
    for (const int length : {1, 5, 513}) {
      const AttentionInputs in = inputs_for({"", {length}, shape}, 5);
      const Matrix expected = run(in, positions_of({length}), shape);
      const auto last_row = [](const Matrix& m) {
        Matrix row(1, m.cols);
        std::copy_n(m.values.end() - m.cols, m.cols, row.values.begin());
        return row;
      };
      auto& y = poisoned(1, in.q.cols);
      backend().decode_attention(device(last_row(in.q)), device(in.k), device(in.v),
                                 device(std::vector<std::int32_t>{0}), device(std::vector<std::int32_t>{length}), shape,
                                 y);
      support::expect_close("y", y.download(), as_double(last_row(expected)));
    }
  }
}

TEST_P(AttentionTest, DecodingOutsideTheCacheIsAnError) {
  auto& cache = device(noise(10, 4, 1));
  auto& q = device(noise(1, 4, 2));
  auto& y = poisoned(1, 4);
  struct Wrong {
    std::int32_t first, length;
  };
  for (const auto& [first, length] : {Wrong{0, 11}, Wrong{-1, 3}, Wrong{5, 6}, Wrong{3, 0}}) {
    const auto attend = [&, begin = first, count = length] {
      backend().decode_attention(q, cache, cache, device(std::vector<std::int32_t>{begin}),
                                 device(std::vector<std::int32_t>{count}), {1, 1, 4, 0}, y);
    };
    if (checks_indices()) {
      EXPECT_THROW(attend(), kernels::ShapeError);
    } else {
      attend();
      for (const float value : y.download().values) EXPECT_TRUE(std::isnan(value));
    }
  }
  EXPECT_EQ(y.untouched(), checks_indices());
}

/// x [n, heads * d] times the sigmoid of logits [n, heads].
struct HeadGateOracle {
  std::int64_t d;
  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> out;
    for (std::size_t i = 0; i < in[0].size(); ++i) {
      out.push_back(in[0][i] / (T(1.0) + exp(T(0.0) - in[1][i / static_cast<std::size_t>(d)])));
    }
    return out;
  }
};

TEST_P(AttentionTest, HeadGateMatchesTheOracleForwardAndBackward) {
  struct Case {
    std::int64_t n, heads, d;
  };
  for (const auto& [n, heads, d] : {Case{0, 2, 4}, Case{1, 3, 1}, Case{37, 5, 4}, Case{900, 4, 16}}) {
    const Matrix x = noise(n, heads * d, 1), logits = noise(n, heads, 2, 3.0F), dy = noise(n, heads * d, 3);
    const HeadGateOracle oracle{d};
    auto &y = poisoned(n, heads * d), &dx = poisoned(n, heads * d), &dlogits = poisoned(n, heads);
    backend().head_gate(device(x), device(logits), y);
    backend().head_gate_backward(device(dy), device(x), device(logits), dx, dlogits);
    support::expect_close("y", y.download(), oracle(support::Inputs<double>{as_double(x), as_double(logits)}));
    expect_gradient("dx", dx.download(), nullptr, oracle, {x, logits}, as_double(dy), 0);
    expect_gradient("dlogits", dlogits.download(), nullptr, oracle, {x, logits}, as_double(dy), 1);
  }
}

FULLBAND_FOR_EVERY_BACKEND(AttentionTest);

}  // namespace
