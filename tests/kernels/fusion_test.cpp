// Fusion of state and token (paper, Eqs. 4 and 8) against an oracle in double precision.
#include "tests/support/autodiff.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::ConstView;
using kernels::FusionKind;
using kernels::FusionShape;
using kernels::View;
using kernels::Write;
using std::exp;
using std::sqrt;
using support::exp;
using support::expect_gradient;
using support::Matrix;
using support::noise;
using support::sqrt;

/// Inputs state, token, plain and, optionally, gain.
struct FusionOracle {
  FusionShape shape;
  std::int64_t d;
  std::vector<std::int32_t> fused;

  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> out;
    for (std::size_t n = 0; n < fused.size(); ++n) {
      const auto row = static_cast<std::int64_t>(n);
      std::vector<T> y(in[2].begin() + row * d, in[2].begin() + (row + 1) * d);
      if (fused[n] != 0) y = fused_row(in, row);
      out.insert(out.end(), y.begin(), y.end());
    }
    return out;
  }

  template <typename T>
  std::vector<T> fused_row(const support::Inputs<T>& in, std::int64_t row) const {
    std::vector<T> y;
    T mean = 0.0;
    for (std::int64_t i = 0; i < d; ++i) {
      const T state = in[0][static_cast<std::size_t>((row - shape.shift) * d + i)];
      const T token = in[1][static_cast<std::size_t>(row * d + i)];
      y.push_back(shape.kind == FusionKind::gate ? state / (T(1.0) + exp(T(0.0) - token)) : state + token);
      mean += y.back() * y.back() / T(static_cast<double>(d));
    }
    if (!shape.normalize) return y;
    for (std::int64_t i = 0; i < d; ++i) {
      const auto at = static_cast<std::size_t>(i);
      y[at] = y[at] / sqrt(mean + T(1e-6));
      if (in.size() > 3) y[at] = y[at] * in[3][at];
    }
    return y;
  }
};

/// About two thirds of the rows; never the first.
std::vector<std::int32_t> some_rows(std::int64_t n) {
  auto fused = support::random_indices(n, 0, 3, 8);
  if (n > 0) fused[0] = 0;
  return fused;
}

class FusionTest : public support::BackendTest {
 protected:
  void check(FusionShape shape, bool with_gain, std::int64_t n, std::int64_t d, Write write) {
    SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(shape.kind) << " norm " << shape.normalize
                                      << " shift " << shape.shift << " gain " << with_gain << " n " << n);
    const Matrix state = noise(n, d, 1), token = noise(n, d, 2), plain = noise(n, d, 3), gain = noise(1, d, 4);
    const Matrix dy = noise(n, d, 5), token_base = noise(n, d, 6), plain_base = noise(n, d, 7),
                 gain_base = noise(1, d, 9);
    const FusionOracle oracle{shape, d, some_rows(n)};
    std::vector<Matrix> inputs{state, token, plain};
    if (with_gain) inputs.push_back(gain);
    const ConstView gain_view = with_gain ? ConstView(device(gain)) : ConstView{};
    auto &s = device(state), &t = device(token), &y = poisoned(n, d), &r = poisoned(n, 1);
    auto& fused = device(oracle.fused);
    backend().fuse(shape, s, t, device(plain), gain_view, fused, y, r);
    support::Inputs<double> values;
    for (const Matrix& m : inputs) values.push_back(as_double(m));
    support::expect_close("y", y.download(), oracle(values));

    const bool adds = write == Write::accumulate;
    auto &dstate = poisoned(n, d), &dtoken = adds ? device(token_base) : poisoned(n, d);
    auto &dplain = adds ? device(plain_base) : poisoned(n, d), &dgain = adds ? device(gain_base) : poisoned(1, d);
    backend().fuse_backward(shape, device(dy), s, t, gain_view, r, fused, dstate, dtoken, write, dplain, write,
                            with_gain ? dgain.view() : View{}, write);
    const auto upstream = as_double(dy);
    expect_gradient("dstate", dstate.download(), nullptr, oracle, inputs, upstream, 0, 3e-6);
    expect_gradient("dtoken", dtoken.download(), adds ? &token_base : nullptr, oracle, inputs, upstream, 1, 3e-6);
    expect_gradient("dplain", dplain.download(), adds ? &plain_base : nullptr, oracle, inputs, upstream, 2);
    if (with_gain) {
      expect_gradient("dgain", dgain.download(), adds ? &gain_base : nullptr, oracle, inputs, upstream, 3, 3e-6);
    }
  }
};

TEST_P(FusionTest, EveryFormMatchesTheOracleForwardAndBackward) {
  for (const FusionKind kind : {FusionKind::gate, FusionKind::add}) {
    for (const bool normalize : {true, false}) {
      for (const std::int64_t shift : {0, 1}) {
        for (const Write write : {Write::assign, Write::accumulate}) {
          check({kind, normalize, shift}, normalize, 37, 20, write);
        }
      }
    }
  }
}

TEST_P(FusionTest, NormWithoutGainAndOtherSizes) {
  check({FusionKind::gate, true, 1}, false, 37, 20, Write::assign);
  check({FusionKind::gate, true, 1}, true, 0, 8, Write::assign);
  check({FusionKind::gate, true, 1}, true, 1, 5, Write::accumulate);
  check({FusionKind::gate, true, 1}, true, 900, 48, Write::assign);
}

TEST_P(FusionTest, APlainRowIsCopiedWithoutTouchingTheState) {
  // A state that is not finite must not leak into a plain row, nor the last state into anything.
  Matrix state = noise(3, 4, 1);
  state.at(0, 0) = std::numeric_limits<float>::quiet_NaN();
  state.at(2, 0) = std::numeric_limits<float>::quiet_NaN();
  const Matrix plain = noise(3, 4, 2);
  auto &y = poisoned(3, 4), &r = poisoned(3, 1);
  backend().fuse({FusionKind::gate, true, 1}, device(state), device(noise(3, 4, 3)), device(plain), ConstView{},
                 device(std::vector<std::int32_t>{0, 0, 1}), y, r);
  const Matrix got = y.download();
  for (std::int64_t c = 0; c < 4; ++c) {
    EXPECT_EQ(got.at(0, c), plain.at(0, c));
    EXPECT_EQ(got.at(1, c), plain.at(1, c));
    EXPECT_TRUE(std::isfinite(got.at(2, c)));
  }
  EXPECT_EQ(r.download().at(1, 0), 0.0F);
}

TEST_P(FusionTest, TheStateComesFromTheRowBefore) {
  Matrix state = noise(30, 8, 1);
  const Matrix token = noise(30, 8, 2), plain = noise(30, 8, 3);
  std::vector<std::int32_t> flags(30, 1);
  flags[0] = 0;
  auto& fused = device(flags);
  const auto run = [&] {
    auto& y = poisoned(30, 8);
    backend().fuse({FusionKind::gate, true, 1}, device(state), device(token), device(plain), ConstView{}, fused, y,
                   poisoned(30, 1));
    return y.download();
  };
  const Matrix before = run();
  state.at(11, 3) += 1.0F;
  const Matrix after = run();
  for (std::int64_t r = 0; r < 30; ++r) EXPECT_EQ(after.at(r, 3) != before.at(r, 3), r == 12) << r;
}

TEST_P(FusionTest, TheFirstRowCannotBeFused) {
  const Matrix host = noise(2, 4, 1);
  auto &x = device(host), &y = poisoned(2, 4), &r = poisoned(2, 1);
  auto& fused = device(std::vector<std::int32_t>{1, 0});
  if (!checks_indices()) {
    backend().fuse({FusionKind::gate, true, 1}, x, x, x, ConstView{}, fused, y, r);
    EXPECT_EQ(y.download().values, host.values) << "it counts as plain";
    return;
  }
  EXPECT_THROW(backend().fuse({FusionKind::gate, true, 1}, x, x, x, ConstView{}, fused, y, r), kernels::ShapeError);
  EXPECT_TRUE(y.untouched());
  EXPECT_NO_THROW(backend().fuse({FusionKind::gate, true, 0}, x, x, x, ConstView{}, fused, y, r));
}

FULLBAND_FOR_EVERY_BACKEND(FusionTest);

}  // namespace
