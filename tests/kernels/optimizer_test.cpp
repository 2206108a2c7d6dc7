// AdamW, NorMuon and clipping against their formulas in double precision.
#include "tests/support/backend_fixture.h"

namespace {

using support::Matrix;
using support::noise;
using Values = std::vector<double>;

struct Sizes {
  std::int64_t rows, cols;
};

class OptimizerTest : public support::BackendTest {};

TEST_P(OptimizerTest, ThreeAdamStepsMatchTheFormula) {
  for (const auto& [rows, cols] : {Sizes{0, 4}, Sizes{1, 1}, Sizes{5, 13}, Sizes{1, 70000}}) {
    Matrix p = noise(rows, cols, 1), m(rows, cols), v(rows, cols);
    auto &parameter = device(p), &first = device(m), &second = device(v);
    Values ep = as_double(p), em = as_double(m), ev = as_double(v);
    for (int step = 1; step <= 3; ++step) {
      const Matrix g = noise(rows, cols, 10 + static_cast<unsigned>(step));
      const kernels::AdamStep s{0.01F, 0.9F, 0.95F, 1e-8F, 0.1F, step};
      backend().adamw(parameter, device(g), first, second, s);
      const double b1 = s.beta1, b2 = s.beta2, rate = s.rate;
      for (std::size_t i = 0; i < ep.size(); ++i) {
        const double gradient = g.values[i];
        em[i] = b1 * em[i] + (1 - b1) * gradient;
        ev[i] = b2 * ev[i] + (1 - b2) * gradient * gradient;
        ep[i] -= rate * static_cast<double>(s.weight_decay) * ep[i];
        ep[i] -= rate * (em[i] / (1 - std::pow(b1, step))) /
                 (std::sqrt(ev[i] / (1 - std::pow(b2, step))) + static_cast<double>(s.epsilon));
      }
    }
    support::expect_close("parameter", parameter.download(), ep, 5e-7);
    support::expect_close("first moment", first.download(), em, 5e-7);
    support::expect_close("second moment", second.download(), ev, 5e-7);
  }
}

/// Row-major double matrix for the oracle.
struct Wide {
  std::int64_t rows, cols;
  Values v;
  [[nodiscard]] double at(std::int64_t r, std::int64_t c) const { return v[static_cast<std::size_t>(r * cols + c)]; }
  [[nodiscard]] double norm() const {
    double sum = 0.0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
  }
};

Wide turned(const Wide& m) {
  Wide out{m.cols, m.rows, {}};
  for (std::int64_t r = 0; r < m.cols; ++r) {
    for (std::int64_t c = 0; c < m.rows; ++c) out.v.push_back(m.at(c, r));
  }
  return out;
}

Wide times(const Wide& a, const Wide& b) {
  Wide out{a.rows, b.cols, {}};
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t c = 0; c < b.cols; ++c) {
      double sum = 0.0;
      for (std::int64_t i = 0; i < a.cols; ++i) sum += a.at(r, i) * b.at(i, c);
      out.v.push_back(sum);
    }
  }
  return out;
}

Wide orthogonalised(const Wide& m) {
  Wide x = m.rows > m.cols ? turned(m) : m;
  const double norm = x.norm() + 1e-7;
  for (double& v : x.v) v /= norm;
  for (int i = 0; i < 5; ++i) {
    const Wide g = times(x, turned(x));
    const Wide gx = times(g, x);
    const Wide ggx = times(g, gx);
    for (std::size_t k = 0; k < x.v.size(); ++k) x.v[k] = 3.4445 * x.v[k] - 4.7750 * gx.v[k] + 2.0315 * ggx.v[k];
  }
  return m.rows > m.cols ? turned(x) : x;
}

/// What NorMuon keeps of one matrix.
struct MuonOracle {
  Wide parameter, momentum;
  Values row_moment;

  void step(const Matrix& gradient, const kernels::NorMuonStep& s) {
    const double b1 = s.beta1, b2 = s.beta2, rate = s.rate;
    for (std::size_t i = 0; i < momentum.v.size(); ++i) {
      momentum.v[i] = b1 * momentum.v[i] + (1 - b1) * static_cast<double>(gradient.values[i]);
    }
    Wide o = orthogonalised(momentum);
    for (std::int64_t r = 0; r < o.rows; ++r) {
      double mean = 0.0;
      for (std::int64_t c = 0; c < o.cols; ++c) mean += o.at(r, c) * o.at(r, c) / static_cast<double>(o.cols);
      double& v = row_moment[static_cast<std::size_t>(r)];
      v = b2 * v + (1 - b2) * mean;
      for (std::int64_t c = 0; c < o.cols; ++c) {
        o.v[static_cast<std::size_t>(r * o.cols + c)] /= std::sqrt(v) + static_cast<double>(s.epsilon);
      }
    }
    const double size = 0.2 * rate * std::sqrt(static_cast<double>(o.v.size())) / o.norm();
    for (std::size_t i = 0; i < o.v.size(); ++i) {
      parameter.v[i] -= rate * static_cast<double>(s.weight_decay) * parameter.v[i];
      parameter.v[i] -= size * o.v[i];
    }
  }
};

TEST_P(OptimizerTest, ThreeNorMuonStepsMatchTheFormula) {
  for (const auto& [rows, cols] :
       {Sizes{1, 1}, Sizes{7, 7}, Sizes{5, 13}, Sizes{13, 5}, Sizes{96, 40}, Sizes{64, 150}}) {
    const Matrix p = noise(rows, cols, 1);
    auto &parameter = device(p), &momentum = device(Matrix(rows, cols)), &row_moment = device(Matrix(rows, 1));
    MuonOracle oracle{{rows, cols, as_double(p)},
                      {rows, cols, Values(p.values.size(), 0.0)},
                      Values(static_cast<std::size_t>(rows), 0.0)};
    const kernels::NorMuonStep s{0.01F, 0.95F, 0.9F, 1e-8F, 0.1F};
    for (unsigned step = 0; step < 3; ++step) {
      const Matrix g = noise(rows, cols, 10 + step);
      backend().normuon(parameter, device(g), momentum, row_moment, s);
      oracle.step(g, s);
    }
    support::expect_close("parameter", parameter.download(), oracle.parameter.v, 5e-7);
    support::expect_close("momentum", momentum.download(), oracle.momentum.v, 5e-7);
    support::expect_close("row moment", row_moment.download(), oracle.row_moment, 2e-5);
  }
}

TEST_P(OptimizerTest, NorMuonOfAnEmptyMatrixIsNothing) {
  auto &empty = device(Matrix(0, 5)), &row_moment = device(Matrix(0, 1));
  EXPECT_NO_THROW(backend().normuon(empty, empty, empty, row_moment, {}));
}

TEST_P(OptimizerTest, ClippingScalesOnlyWhatIsTooLong) {
  for (const auto& [rows, cols] : {Sizes{1, 1}, Sizes{3, 70}, Sizes{1, 200000}, Sizes{900, 21}}) {
    const Matrix g = noise(rows, cols, 1);
    double norm = 0.0;
    for (const float v : g.values) norm += static_cast<double>(v) * static_cast<double>(v);
    norm = std::sqrt(norm);
    auto &clipped = device(g), &kept = device(g), &off = device(g), &out = poisoned(1, 1);
    backend().clip_by_norm(kept, static_cast<float>(norm * 1.01), out);
    EXPECT_NEAR(out.download().at(0, 0), norm, 1e-6 * norm);
    EXPECT_TRUE(kept.untouched());
    backend().clip_by_norm(off, 0.0F, out);
    EXPECT_TRUE(off.untouched());
    backend().clip_by_norm(clipped, static_cast<float>(norm / 4), out);
    EXPECT_NEAR(out.download().at(0, 0), norm, 1e-6 * norm);
    Values expected = as_double(g);
    for (double& v : expected) v /= 4;
    support::expect_close("clipped", clipped.download(), expected, 3e-7);
  }
}

TEST_P(OptimizerTest, ANormThatIsNotFiniteClipsNothing) {
  Matrix g = noise(4, 30, 1);
  g.at(2, 7) = std::numeric_limits<float>::quiet_NaN();
  auto &gradient = device(g), &norm = poisoned(1, 1);
  backend().clip_by_norm(gradient, 0.5F, norm);
  EXPECT_TRUE(std::isnan(norm.download().at(0, 0)));
  EXPECT_TRUE(gradient.untouched());
}

TEST_P(OptimizerTest, TheNormOfHugeGradientsDoesNotOverflow) {
  auto &gradient = device(Matrix(10, 10, 1e30F)), &norm = poisoned(1, 1);
  backend().clip_by_norm(gradient, 1.0F, norm);
  EXPECT_NEAR(norm.download().at(0, 0) / 1e31F, 1.0F, 1e-5F);
  EXPECT_NEAR(gradient.download().at(3, 3), 0.1F, 1e-6F);
}

FULLBAND_FOR_EVERY_BACKEND(OptimizerTest);

}  // namespace
