// The output head with its loss against an oracle in double precision that keeps all logits.
#include "tests/support/autodiff.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::HeadLoss;
using kernels::Write;
using std::exp;
using std::log;
using support::exp;
using support::expect_gradient;
using support::log;
using support::Matrix;
using support::noise;

/// Inputs states [n,d] and weight [v,d]; the output is each scored row's logits turned into w * (nll + z * lse^2), or
/// the nll.
struct LossOracle {
  std::int64_t d, v;
  std::vector<std::int32_t> targets;
  std::vector<float> row_weight;
  double z_weight = 0.0;
  bool want_nll = false;

  template <typename T>
  std::vector<T> operator()(const support::Inputs<T>& in) const {
    std::vector<T> out;
    for (std::size_t n = 0; n < targets.size(); ++n) out.push_back(targets[n] < 0 ? T(0.0) : row(in, n));
    return out;
  }

  template <typename T>
  std::vector<T> logits(const support::Inputs<T>& in, std::size_t n) const {
    std::vector<T> out;
    for (std::int64_t id = 0; id < v; ++id) {
      T logit = 0.0;
      for (std::int64_t i = 0; i < d; ++i) {
        logit += in[0][n * static_cast<std::size_t>(d) + static_cast<std::size_t>(i)] *
                 in[1][static_cast<std::size_t>(id * d + i)];
      }
      out.push_back(logit);
    }
    return out;
  }

  template <typename T>
  T row(const support::Inputs<T>& in, std::size_t n) const {
    T sum = 0.0;
    const std::vector<T> values = logits(in, n);
    for (const T& logit : values) sum += exp(logit);
    const T logsumexp = log(sum);
    const T nll = logsumexp - values[static_cast<std::size_t>(targets[n])];
    if (want_nll) return nll;
    return T(static_cast<double>(row_weight[n])) * (nll + T(z_weight) * logsumexp * logsumexp);
  }
};

struct Sizes {
  std::int64_t n, d, v;
};

class HeadLossTest : public support::BackendTest {
 protected:
  /// The last row and about one in six others are not scored.
  static std::vector<std::int32_t> some_targets(std::int64_t n, std::int64_t v) {
    auto targets = support::random_indices(n, 0, static_cast<int>(v), 5);
    for (std::size_t i = 0; i < targets.size(); i += 6) targets[targets.size() - 1 - i] = -1;
    return targets;
  }

  void check(const Sizes& s, float z_weight, Write write) {
    SCOPED_TRACE(::testing::Message() << s.n << " x " << s.d << ", vocabulary " << s.v);
    const Matrix states = noise(s.n, s.d, 1), weight = noise(s.v, s.d, 2, 0.5F), row_weight = noise(s.n, 1, 3);
    const Matrix ds_base = noise(s.n, s.d, 6), dw_base = noise(s.v, s.d, 7);
    LossOracle oracle{s.d, s.v, some_targets(s.n, s.v), row_weight.values, static_cast<double>(z_weight)};
    const bool adds = write == Write::accumulate;
    auto &nll = poisoned(s.n, 1), &ds = adds ? device(ds_base) : poisoned(s.n, s.d);
    auto& dw = adds ? device(dw_base) : poisoned(s.v, s.d);
    auto& argmax = device(std::vector<std::int32_t>(static_cast<std::size_t>(s.n), -5));
    const HeadLoss args{device(states),
                        device(weight),
                        device(oracle.targets),
                        device(row_weight),
                        z_weight,
                        nll,
                        argmax,
                        ds,
                        write,
                        dw,
                        write};
    backend().head_loss(args);

    const std::vector<Matrix> inputs{states, weight};
    const std::vector<double> ones(static_cast<std::size_t>(s.n), 1.0);
    expect_gradient("d_states", ds.download(), adds ? &ds_base : nullptr, oracle, inputs, ones, 0);
    expect_gradient("d_weight", dw.download(), adds ? &dw_base : nullptr, oracle, inputs, ones, 1);
    oracle.want_nll = true;
    const support::Inputs<double> values{as_double(states), as_double(weight)};
    support::expect_close("nll", nll.download(), oracle(values));
    const auto best = argmax.download();
    for (std::size_t n = 0; n < best.size(); ++n) {
      const auto logits = oracle.logits(values, n);
      EXPECT_EQ(best[n], std::max_element(logits.begin(), logits.end()) - logits.begin()) << n;
    }
  }
};

TEST_P(HeadLossTest, LossAndGradientsMatchTheOracle) {
  for (const Sizes& s : {Sizes{0, 8, 5}, Sizes{1, 20, 31}, Sizes{37, 20, 13}, Sizes{40, 5, 2}, Sizes{700, 12, 40},
                         Sizes{20, 3, 1500}, Sizes{8300, 2, 3}}) {
    check(s, 0.0F, Write::assign);
    check(s, 0.01F, Write::accumulate);
  }
}

TEST_P(HeadLossTest, WithoutGradientsOnlyTheLossIsWritten) {
  const Matrix states = noise(300, 16, 1), weight = noise(50, 16, 2);
  const auto targets = some_targets(300, 50);
  auto &nll = poisoned(300, 1), &with = poisoned(300, 1);
  auto& argmax = device(std::vector<std::int32_t>(300, -5));
  HeadLoss args;
  args.states = device(states);
  args.weight = device(weight);
  args.targets = device(targets);
  args.row_weight = device(Matrix(300, 1, 1.0F));
  args.nll = nll;
  args.argmax = argmax;
  backend().head_loss(args);
  args.nll = with;
  args.d_states = poisoned(300, 16);
  backend().head_loss(args);
  EXPECT_EQ(nll.download().values, with.download().values);
}

TEST_P(HeadLossTest, ArgmaxTakesTheLowestIdOnTies) {
  auto& nll = poisoned(20, 1);
  auto& argmax = device(std::vector<std::int32_t>(20, -5));
  HeadLoss args;
  args.states = device(Matrix(20, 4, 1.0F));
  Matrix weight(37, 4, 0.25F);
  for (std::int64_t c = 0; c < 4; ++c) weight.at(0, c) = 0.125F;
  args.weight = device(weight);
  args.targets = device(std::vector<std::int32_t>(20, 3));
  args.row_weight = device(Matrix(20, 1, 1.0F));
  args.nll = nll;
  args.argmax = argmax;
  backend().head_loss(args);
  for (const std::int32_t id : argmax.download()) EXPECT_EQ(id, 1);
}

TEST_P(HeadLossTest, NonFiniteStatesGiveANonFiniteLossInTheirRowOnly) {
  Matrix states = noise(30, 8, 1);
  states.at(4, 0) = std::numeric_limits<float>::quiet_NaN();
  auto& nll = poisoned(30, 1);
  auto& argmax = device(std::vector<std::int32_t>(30, -5));
  HeadLoss args;
  args.states = device(states);
  args.weight = device(noise(19, 8, 2));
  args.targets = device(std::vector<std::int32_t>(30, 3));
  args.row_weight = device(Matrix(30, 1, 1.0F));
  args.nll = nll;
  args.argmax = argmax;
  backend().head_loss(args);
  const Matrix got = nll.download();
  for (std::int64_t n = 0; n < 30; ++n) EXPECT_EQ(std::isnan(got.at(n, 0)), n == 4) << n;
  for (const std::int32_t id : argmax.download()) {
    EXPECT_GE(id, 0);
    EXPECT_LT(id, 19);
  }
}

TEST_P(HeadLossTest, TargetsOutsideTheVocabularyAreAnError) {
  auto& nll = poisoned(2, 1);
  auto& argmax = device(std::vector<std::int32_t>(2, -5));
  HeadLoss args;
  args.states = device(noise(2, 4, 1));
  args.weight = device(noise(3, 4, 2));
  args.row_weight = device(Matrix(2, 1, 1.0F));
  args.nll = nll;
  args.argmax = argmax;
  for (const std::int32_t wrong : {3, -2}) {
    args.targets = device(std::vector<std::int32_t>{0, wrong});
    if (checks_indices()) {
      EXPECT_THROW(backend().head_loss(args), kernels::ShapeError);
    } else {
      backend().head_loss(args);  // negative ones are not scored
      const Matrix got = nll.download();
      EXPECT_TRUE(std::isfinite(got.at(0, 0)));
      EXPECT_EQ(std::isnan(got.at(1, 0)), wrong > 0);
    }
  }
  EXPECT_EQ(nll.untouched(), checks_indices());
}

FULLBAND_FOR_EVERY_BACKEND(HeadLossTest);

}  // namespace
