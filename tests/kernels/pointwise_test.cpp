#include "tests/support/autodiff.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::Write;
using std::exp;
using support::exp;
using support::Matrix;
using support::noise;

/// silu(gate) * up; the input holds gate then up in each row.
struct SwigluOracle {
  std::int64_t n, f;
  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> out;
    for (std::int64_t r = 0; r < n; ++r) {
      for (std::int64_t i = 0; i < f; ++i) {
        const T gate = in[0][static_cast<std::size_t>(r * 2 * f + i)];
        out.push_back(gate / (T(1.0) + exp(T(0.0) - gate)) * in[0][static_cast<std::size_t>(r * 2 * f + f + i)]);
      }
    }
    return out;
  }
};

class PointwiseTest : public support::BackendTest {};

TEST_P(PointwiseTest, SwigluMatchesTheOracleForwardAndBackward) {
  struct Case {
    std::int64_t n, f;
  };
  for (const auto& [n, f] : {Case{0, 4}, Case{1, 1}, Case{37, 20}, Case{700, 90}}) {
    const Matrix x = noise(n, 2 * f, 1, 2.0F), dy = noise(n, f, 2);
    auto &y = poisoned(n, f), &dx = poisoned(n, 2 * f);
    backend().swiglu(device(x), y);
    backend().swiglu_backward(device(dy), device(x), dx);
    support::expect_close("y", y.download(), SwigluOracle{n, f}(support::Inputs<double>{as_double(x)}));
    support::expect_gradient("dx", dx.download(), nullptr, SwigluOracle{n, f}, {x}, as_double(dy), 0);
  }
}

TEST_P(PointwiseTest, SwigluHasFiniteLimits) {
  Matrix x(1, 4, 1.0F);
  x.at(0, 0) = -1e30F;
  x.at(0, 1) = 1e30F;
  auto& y = poisoned(1, 2);
  backend().swiglu(device(x), y);
  EXPECT_EQ(y.download().at(0, 0), 0.0F);
  EXPECT_EQ(y.download().at(0, 1), 1e30F);
}

TEST_P(PointwiseTest, ScaledAssignsAndAccumulates) {
  for (const std::int64_t cols : {1, 37, 100000}) {
    const Matrix x = noise(2, cols, 1), base = noise(2, cols, 2);
    auto &y = poisoned(2, cols), &sum = device(base);
    backend().scaled(device(x), -0.3F, y, Write::assign);
    backend().scaled(device(x), -0.3F, sum, Write::accumulate);
    const Matrix got = y.download(), got_sum = sum.download();
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      EXPECT_EQ(got.values[i], -0.3F * x.values[i]);
      EXPECT_NEAR(got_sum.values[i], base.values[i] - 0.3F * x.values[i], 1e-6F);
    }
  }
}

TEST_P(PointwiseTest, FillReachesEveryElement) {
  for (const std::int64_t cols : {0, 1, 37, 100000}) {
    auto& y = poisoned(3, cols);
    backend().fill(y, 2.5F);
    for (const float v : y.download().values) EXPECT_EQ(v, 2.5F);
  }
}

TEST_P(PointwiseTest, UniformNoiseFollowsItsStream) {
  const kernels::PhiloxStream stream{5, kernels::Purpose::jitter, 17, 2};
  for (const std::int64_t rows : {1, 37, 900}) {
    const Matrix x = noise(rows, 21, 1);
    auto &y = poisoned(rows, 21), &in_place = device(x);
    backend().add_uniform(device(x), 0.02F, stream, y);
    backend().add_uniform(in_place, 0.02F, stream, in_place);
    kernels::PhiloxReader reader(stream);
    const Matrix got = y.download();
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      EXPECT_NEAR(got.values[i], x.values[i] + 0.02F * (2.0F * reader.next_unit() - 1.0F), 1e-6F);
      EXPECT_LE(std::abs(got.values[i] - x.values[i]), 0.0200005F);
    }
    EXPECT_EQ(in_place.download().values, got.values);
  }
}

TEST_P(PointwiseTest, NoiseOfAPartIsTheNoiseOfTheWhole) {
  const Matrix x = noise(40, 21, 1);
  auto &whole = poisoned(40, 21), &part = poisoned(9, 21);
  kernels::PhiloxStream stream{5, kernels::Purpose::jitter, 17, 2};
  backend().add_uniform(device(x), 0.02F, stream, whole);
  Matrix rows(9, 21);
  std::copy_n(x.values.begin() + 31 * 21, rows.values.size(), rows.values.begin());
  stream.first = 31 * 21;
  backend().add_uniform(device(rows), 0.02F, stream, part);
  const Matrix all = whole.download(), got = part.download();
  for (std::size_t i = 0; i < got.values.size(); ++i) EXPECT_EQ(got.values[i], all.values[31 * 21 + i]);
}

TEST_P(PointwiseTest, GatherAndScatterMoveRows) {
  const Matrix x = noise(9, 20, 1);
  const std::vector<std::int32_t> rows{8, 0, 3, 5};
  auto &y = poisoned(4, 20), &back = device(noise(9, 20, 2));
  const Matrix before = back.download();
  backend().gather_rows(device(x), device(rows), y);
  backend().scatter_rows(y, device(rows), back);
  const Matrix got = y.download(), after = back.download();
  for (std::int64_t c = 0; c < 20; ++c) {
    for (std::int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(got.at(i, c), x.at(rows[static_cast<std::size_t>(i)], c));
      EXPECT_EQ(after.at(rows[static_cast<std::size_t>(i)], c), got.at(i, c));
    }
    for (const std::int64_t r : {1, 2, 4, 6, 7}) EXPECT_EQ(after.at(r, c), before.at(r, c));
  }
}

TEST_P(PointwiseTest, RowNumbersOutsideAreAnErrorOrLeftOut) {
  const Matrix host = noise(3, 4, 1);
  auto &x = device(host), &y = poisoned(3, 4);
  auto& wrong = device(std::vector<std::int32_t>{0, -1, 3});
  if (!checks_indices()) {
    backend().fill(y, 2.0F);
    backend().scatter_rows(x, wrong, y);
    EXPECT_EQ(y.download().at(0, 3), host.at(0, 3));
    EXPECT_EQ(y.download().at(1, 3), 2.0F);
    backend().gather_rows(x, wrong, y);
    EXPECT_EQ(y.download().at(0, 3), host.at(0, 3));
    EXPECT_TRUE(std::isnan(y.download().at(1, 0)) && std::isnan(y.download().at(2, 3)));
    return;
  }
  EXPECT_THROW(backend().gather_rows(x, wrong, y), kernels::ShapeError);
  EXPECT_THROW(backend().scatter_rows(x, wrong, y), kernels::ShapeError);
  EXPECT_TRUE(y.untouched());
}

TEST_P(PointwiseTest, RowDistanceIsEuclidean) {
  for (const std::int64_t n : {0, 1, 37, 2000}) {
    const Matrix a = noise(n, 30, 1), b = noise(n, 30, 2);
    std::vector<double> expected;
    for (std::int64_t r = 0; r < n; ++r) {
      double sum = 0.0;
      for (std::int64_t c = 0; c < 30; ++c) {
        sum += std::pow(static_cast<double>(a.at(r, c)) - static_cast<double>(b.at(r, c)), 2);
      }
      expected.push_back(std::sqrt(sum));
    }
    auto& out = poisoned(n, 1);
    backend().row_distance(device(a), device(b), out);
    support::expect_close("out", out.download(), expected, 1e-7);
  }
}

TEST_P(PointwiseTest, EqualRowsAreAtDistanceZero) {
  auto& x = device(noise(40, 30, 1));
  auto& out = poisoned(40, 1);
  backend().row_distance(x, x, out);
  for (const float v : out.download().values) EXPECT_EQ(v, 0.0F);
}

FULLBAND_FOR_EVERY_BACKEND(PointwiseTest);

}  // namespace
