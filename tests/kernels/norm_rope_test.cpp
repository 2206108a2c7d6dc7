// Norms, the residual sum and the rotation, forward and backward, against oracles in double precision.
#include "tests/support/autodiff.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::ConstView;
using kernels::View;
using kernels::Write;
using std::sqrt;
using support::expect_gradient;
using support::Matrix;
using support::noise;
using support::sqrt;

/// rms(x) * gain, row by row; inputs: x [n,d] and, optionally, gain [d].
struct NormOracle {
  std::int64_t n, d;
  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> out;
    for (std::int64_t r = 0; r < n; ++r) {
      const T* x = in[0].data() + r * d;
      T mean = 0.0;
      for (std::int64_t i = 0; i < d; ++i) mean += x[i] * x[i] / T(static_cast<double>(d));
      const T rms = sqrt(mean + T(1e-6));
      for (std::int64_t i = 0; i < d; ++i)
        out.push_back(in.size() > 1 ? x[i] / rms * in[1][static_cast<std::size_t>(i)] : x[i] / rms);
    }
    return out;
  }
};

/// Inputs x, branch and gain; outputs the sums, then the normed sums.
struct ResidualOracle {
  std::int64_t n, d;
  double scale;
  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> sum;
    for (std::size_t i = 0; i < in[0].size(); ++i) sum.push_back(in[0][i] + T(scale) * in[1][i]);
    std::vector<T> out = sum;
    for (const T& y : NormOracle{n, d}(support::Inputs<T>{sum, in[2]})) out.push_back(y);
    return out;
  }
};

/// Input x [n, heads * d]; the norm of each head, then the rotation by its position.
struct RopeOracle {
  std::int64_t n, heads, d;
  bool normalize;
  std::vector<std::int32_t> positions;
  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> x = normalize ? NormOracle{n * heads, d}(support::Inputs<T>{in[0]}) : in[0];
    std::vector<T> out(x.size());
    for (std::int64_t row = 0; row < n * heads; ++row) {
      for (std::int64_t i = 0; i < d / 2; ++i) {
        const double angle = positions[static_cast<std::size_t>(row / heads)] *
                             std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(d));
        const T a = x[static_cast<std::size_t>(row * d + i)];
        const T b = x[static_cast<std::size_t>(row * d + i + d / 2)];
        out[static_cast<std::size_t>(row * d + i)] = a * T(std::cos(angle)) - b * T(std::sin(angle));
        out[static_cast<std::size_t>(row * d + i + d / 2)] = b * T(std::cos(angle)) + a * T(std::sin(angle));
      }
    }
    return out;
  }
};

std::vector<double> inverse_rms(const Matrix& x, std::int64_t width) {
  std::vector<double> out;
  for (std::size_t r = 0; r < x.values.size() / static_cast<std::size_t>(width); ++r) {
    double mean = 0.0;
    for (std::int64_t i = 0; i < width; ++i) {
      const double v = x.values[r * static_cast<std::size_t>(width) + static_cast<std::size_t>(i)];
      mean += v * v / static_cast<double>(width);
    }
    out.push_back(1.0 / std::sqrt(mean + 1e-6));
  }
  return out;
}

struct Sizes {
  std::int64_t n, d;
};
constexpr Sizes kSizes[] = {{0, 8}, {1, 3}, {1, 20}, {37, 20}, {900, 48}};

class NormTest : public support::BackendTest {};

TEST_P(NormTest, ForwardMatchesTheOracle) {
  for (const auto& [n, d] : kSizes) {
    const Matrix x = noise(n, d, 1), gain = noise(1, d, 2);
    auto& y = poisoned(n, d);
    auto& bare = poisoned(n, d);
    auto& r = poisoned(n, 1);
    backend().rms_norm(device(x), ConstView{}, bare, r);
    backend().rms_norm(device(x), device(gain), y, r);
    support::expect_close("y", y.download(), NormOracle{n, d}(support::Inputs<double>{as_double(x), as_double(gain)}));
    support::expect_close("y without gain", bare.download(), NormOracle{n, d}(support::Inputs<double>{as_double(x)}));
    support::expect_close("inv_rms", r.download(), inverse_rms(x, d));
  }
}

TEST_P(NormTest, AZeroRowGivesZeroAndNothingElse) {
  auto& y = poisoned(3, 8);
  backend().rms_norm(device(Matrix(3, 8)), ConstView{}, y, poisoned(3, 1));
  for (const float v : y.download().values) EXPECT_EQ(v, 0.0F);
}

TEST_P(NormTest, BackwardMatchesTheDerivative) {
  for (const auto& [n, d] : kSizes) {
    for (const Write write : {Write::assign, Write::accumulate}) {
      const Matrix x = noise(n, d, 1), gain = noise(1, d, 2), dy = noise(n, d, 3);
      const Matrix dx_base = noise(n, d, 4), dgain_base = noise(1, d, 5);
      const bool adds = write == Write::accumulate;
      auto& r = poisoned(n, 1);
      backend().rms_norm(device(x), device(gain), poisoned(n, d), r);
      auto& dx = adds ? device(dx_base) : poisoned(n, d);
      auto& dgain = adds ? device(dgain_base) : poisoned(1, d);
      backend().rms_norm_backward(device(dy), device(x), device(gain), r, dx, write, dgain, write);
      expect_gradient("dx", dx.download(), adds ? &dx_base : nullptr, NormOracle{n, d}, {x, gain}, as_double(dy), 0);
      expect_gradient("dgain", dgain.download(), adds ? &dgain_base : nullptr, NormOracle{n, d}, {x, gain},
                      as_double(dy), 1);
      auto& bare = poisoned(n, d);
      backend().rms_norm_backward(device(dy), device(x), ConstView{}, r, bare, Write::assign, View{}, Write::assign);
      expect_gradient("dx without gain", bare.download(), nullptr, NormOracle{n, d}, {x}, as_double(dy), 0);
    }
  }
}

TEST_P(NormTest, ResidualForwardMatchesTheOracle) {
  for (const auto& [n, d] : kSizes) {
    const Matrix x = noise(n, d, 1), branch = noise(n, d, 2), gain = noise(1, d, 3);
    auto& sum = poisoned(n, d);
    auto& y = poisoned(n, d);
    auto& r = poisoned(n, 1);
    backend().residual_rms_norm(device(x), device(branch), 0.37F, device(gain), sum, y, r);
    const auto expected = ResidualOracle{
        n, d, static_cast<double>(0.37F)}(support::Inputs<double>{as_double(x), as_double(branch), as_double(gain)});
    support::expect_close("sum", sum.download(), {expected.begin(), expected.begin() + n * d});
    support::expect_close("y", y.download(), {expected.begin() + n * d, expected.end()});
    support::expect_close("inv_rms", r.download(), inverse_rms(sum.download(), d));
  }
}

/// dy or dsum absent means zero upstream there.
struct Upstream {
  bool dy, dsum;
};

class ResidualBackwardTest : public support::BackendTest {
 protected:
  void check(std::int64_t n, std::int64_t d, Upstream given, Write write) {
    const Matrix x = noise(n, d, 1), branch = noise(n, d, 2), gain = noise(1, d, 3);
    const Matrix dy = given.dy ? noise(n, d, 4) : Matrix(n, d), dsum = given.dsum ? noise(n, d, 5) : Matrix(n, d);
    const Matrix dx_base = noise(n, d, 6), dgain_base = noise(1, d, 7);
    const bool adds = write == Write::accumulate;
    auto& sum = poisoned(n, d);
    auto& r = poisoned(n, 1);
    backend().residual_rms_norm(device(x), device(branch), 0.37F, device(gain), sum, poisoned(n, d), r);
    auto& dx = adds ? device(dx_base) : poisoned(n, d);
    auto& dgain = adds ? device(dgain_base) : poisoned(1, d);
    auto& dbranch = poisoned(n, d);
    backend().residual_rms_norm_backward(given.dy ? device(dy).view() : View{},
                                         given.dsum ? device(dsum).view() : View{}, sum, device(gain), r, 0.37F, dx,
                                         write, dbranch, dgain, write);
    const ResidualOracle oracle{n, d, static_cast<double>(0.37F)};
    std::vector<double> upstream = as_double(dsum);
    for (const float v : dy.values) upstream.push_back(static_cast<double>(v));
    expect_gradient("dx", dx.download(), adds ? &dx_base : nullptr, oracle, {x, branch, gain}, upstream, 0);
    expect_gradient("dbranch", dbranch.download(), nullptr, oracle, {x, branch, gain}, upstream, 1);
    expect_gradient("dgain", dgain.download(), adds ? &dgain_base : nullptr, oracle, {x, branch, gain}, upstream, 2);
  }
};

TEST_P(ResidualBackwardTest, MatchesTheDerivative) {
  for (const auto& [n, d] : kSizes) {
    for (const Write write : {Write::assign, Write::accumulate}) check(n, d, {true, true}, write);
  }
}

TEST_P(ResidualBackwardTest, AbsentUpstreamGradientsAreZero) {
  check(37, 20, {true, false}, Write::accumulate);
  check(37, 20, {false, true}, Write::accumulate);
  check(37, 20, {false, false}, Write::assign);
}

class RopeTest : public support::BackendTest {};

TEST_P(RopeTest, MatchesTheOracleForwardAndBackward) {
  struct Case {
    std::int64_t n, heads, d;
  };
  for (const auto& [n, heads, d] : {Case{0, 2, 4}, Case{1, 1, 2}, Case{37, 5, 6}, Case{600, 3, 16}}) {
    for (const bool normalize : {true, false}) {
      const Matrix x = noise(n, heads * d, 1), dy = noise(n, heads * d, 2);
      const RopeOracle oracle{n, heads, d, normalize, support::random_indices(n, 0, 300, 3)};
      auto& positions = device(oracle.positions);
      auto& y = poisoned(n, heads * d);
      auto& r = poisoned(n, heads);
      auto& dx = poisoned(n, heads * d);
      backend().norm_rope(device(x), positions, d, 10000.0F, normalize, y, r);
      backend().norm_rope_backward(device(dy), device(x), r, positions, d, 10000.0F, normalize, dx);
      support::expect_close("y", y.download(), oracle(support::Inputs<double>{as_double(x)}));
      if (normalize) support::expect_close("inv_rms", r.download(), inverse_rms(x, d));
      expect_gradient("dx", dx.download(), nullptr, oracle, {x}, as_double(dy), 0);
    }
  }
}

TEST_P(RopeTest, FarPositionsKeepTheirPrecision) {
  const Matrix x = noise(4, 32, 1);
  const RopeOracle oracle{4, 2, 16, true, {8191, 5000, 70000, 1}};
  auto& y = poisoned(4, 32);
  backend().norm_rope(device(x), device(oracle.positions), 16, 10000.0F, true, y, poisoned(4, 2));
  support::expect_close("y", y.download(), oracle(support::Inputs<double>{as_double(x)}));
}

// More columns than a grid of blocks takes at once.
TEST_P(NormTest, AGainWiderThanAGridOfBlocksGetsItsGradient) {
  const std::int64_t n = 70, d = 2100;
  const Matrix x = noise(n, d, 1), dy = noise(n, d, 2), gain = noise(1, d, 3);
  auto &y = poisoned(n, d), &inv_rms = poisoned(n, 1), &dx = poisoned(n, d), &dgain = poisoned(1, d);
  backend().rms_norm(device(x), device(gain), y, inv_rms);
  backend().rms_norm_backward(device(dy), device(x), device(gain), inv_rms, dx, Write::assign, dgain, Write::assign);
  std::vector<double> expected(static_cast<std::size_t>(d), 0.0);
  for (std::int64_t r = 0; r < n; ++r) {
    double squares = 0.0;
    for (std::int64_t c = 0; c < d; ++c) squares += static_cast<double>(x.at(r, c)) * static_cast<double>(x.at(r, c));
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(d) + 1e-6);
    for (std::int64_t c = 0; c < d; ++c) {
      expected[static_cast<std::size_t>(c)] +=
          static_cast<double>(dy.at(r, c)) * static_cast<double>(x.at(r, c)) * scale;
    }
  }
  support::expect_close("dgain", dgain.download(), expected);
}

FULLBAND_FOR_EVERY_BACKEND(NormTest);
FULLBAND_FOR_EVERY_BACKEND(ResidualBackwardTest);
FULLBAND_FOR_EVERY_BACKEND(RopeTest);

}  // namespace
