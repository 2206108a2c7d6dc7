// The sampler: greedy ties, filters, inversion of the uniform number, statistics, and input that is not finite.
#include <set>

#include "kernels/philox.h"
#include "tests/support/backend_fixture.h"

namespace {

using kernels::SamplerShape;
using support::Matrix;
using support::noise;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Drawn {
  std::vector<std::int32_t> tokens;
  Matrix logprob, entropy;
};

Matrix row(const std::vector<float>& values) {
  Matrix m(1, static_cast<std::int64_t>(values.size()));
  m.values = values;
  return m;
}

/// Logits of these probabilities.
Matrix logs(const std::vector<float>& probabilities) {
  Matrix m = row(probabilities);
  for (float& v : m.values) v = std::log(v);
  return m;
}

class SampleTest : public support::BackendTest {
 protected:
  Drawn draw(const Matrix& logits, const SamplerShape& shape, const Matrix& uniforms) {
    auto& tokens = device(std::vector<std::int32_t>(static_cast<std::size_t>(logits.rows), -9));
    auto &logprob = poisoned(logits.rows, 1), &entropy = poisoned(logits.rows, 1);
    backend().sample(device(logits), shape, device(uniforms), tokens, logprob, entropy);
    return {tokens.download(), logprob.download(), entropy.download()};
  }
  std::int32_t draw_one(const Matrix& logits, const SamplerShape& shape, float uniform) {
    return draw(logits, shape, Matrix(1, 1, uniform)).tokens[0];
  }
  /// Every id that a fine sweep of the uniform number reaches.
  std::set<std::int32_t> reachable(const Matrix& logits, const SamplerShape& shape) {
    Matrix many(500, logits.cols), uniforms(500, 1);
    for (std::int64_t r = 0; r < 500; ++r) {
      std::copy(logits.values.begin(), logits.values.end(), many.values.begin() + r * logits.cols);
      uniforms.at(r, 0) = static_cast<float>(r) / 500.0F;
    }
    const auto tokens = draw(many, shape, uniforms).tokens;
    return {tokens.begin(), tokens.end()};
  }
};

TEST_P(SampleTest, GreedyTakesTheLowestIdOnTies) {
  EXPECT_EQ(draw_one(row({0.0F, 3.0F, 3.0F, 1.0F}), {}, 0.9F), 1);
  EXPECT_EQ(draw_one(row({2.0F, 2.0F, 2.0F}), {}, 0.9F), 0);
  EXPECT_EQ(draw_one(row({-kInfinity, -kInfinity, -5.0F}), {}, 0.0F), 2);
}

TEST_P(SampleTest, StatisticsAreThoseOfTheUnfilteredDistribution) {
  const Matrix logits = noise(90, 53, 1, 3.0F);
  const Drawn got = draw(logits, {0.7F, 3, 0.9F}, Matrix(90, 1, 0.4F));
  for (std::int64_t r = 0; r < 90; ++r) {
    double sum = 0.0, entropy = 0.0;
    for (std::int64_t c = 0; c < 53; ++c) sum += std::exp(static_cast<double>(logits.at(r, c)));
    for (std::int64_t c = 0; c < 53; ++c) {
      const double log_p = static_cast<double>(logits.at(r, c)) - std::log(sum);
      entropy -= std::exp(log_p) * log_p;
    }
    const std::int32_t token = got.tokens[static_cast<std::size_t>(r)];
    EXPECT_NEAR(got.entropy.at(r, 0), entropy, 1e-5);
    EXPECT_NEAR(got.logprob.at(r, 0), static_cast<double>(logits.at(r, token)) - std::log(sum), 1e-5);
  }
}

TEST_P(SampleTest, UniformNumbersAreInvertedInIdOrder) {
  const Matrix logits = logs({0.1F, 0.2F, 0.3F, 0.4F});
  const SamplerShape shape{1.0F, 0, 1.0F};
  EXPECT_EQ(draw_one(logits, shape, 0.0F), 0);
  EXPECT_EQ(draw_one(logits, shape, 0.09F), 0);
  EXPECT_EQ(draw_one(logits, shape, 0.11F), 1);
  EXPECT_EQ(draw_one(logits, shape, 0.29F), 1);
  EXPECT_EQ(draw_one(logits, shape, 0.31F), 2);
  EXPECT_EQ(draw_one(logits, shape, 0.61F), 3);
  EXPECT_EQ(draw_one(logits, shape, 0.99999994F), 3);
}

/// What the interface promises, in double precision: filters by likelihood, lowest ids first on ties, then id order.
std::int64_t expected_draw(const float* logits, std::int64_t n, const SamplerShape& shape, float uniform) {
  std::vector<double> weights(static_cast<std::size_t>(n));
  std::vector<std::size_t> order(weights.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
    weights[i] = std::exp(static_cast<double>(logits[i]) / static_cast<double>(shape.temperature));
  }
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return weights[a] > weights[b]; });
  const auto kept = static_cast<std::size_t>(shape.top_k > 0 ? std::min(shape.top_k, n) : n);
  for (std::size_t i = kept; i < order.size(); ++i) weights[order[i]] = 0.0;
  double rest = 0.0;
  for (const double w : weights) rest += w;
  double sum = 0.0;
  for (const std::size_t id : order) {
    const bool enough = sum >= static_cast<double>(shape.top_p) * rest;
    sum += weights[id];
    if (enough && shape.top_p < 1.0F) weights[id] = 0.0;
  }
  double total = 0.0;
  for (const double w : weights) total += w;
  double reached = 0.0;
  for (std::int64_t i = 0; i < n; ++i) {
    reached += weights[static_cast<std::size_t>(i)];
    if (reached > static_cast<double>(uniform) * total) return i;
  }
  return -1;
}

TEST_P(SampleTest, ALargeVocabularyIsFilteredAndInvertedAsASmallOne) {
  const std::int64_t rows = 6, vocab = 2500;
  const Matrix logits = noise(rows, vocab, 4, 2.0F);
  Matrix uniforms(rows, 1);
  for (std::int64_t r = 0; r < rows; ++r) uniforms.at(r, 0) = 0.07F + 0.17F * static_cast<float>(r);
  for (const SamplerShape& shape : {SamplerShape{1.0F, 0, 1.0F}, SamplerShape{0.8F, 40, 1.0F},
                                    SamplerShape{1.0F, 0, 0.9F}, SamplerShape{1.3F, 300, 0.6F}}) {
    const Drawn got = draw(logits, shape, uniforms);
    for (std::int64_t r = 0; r < rows; ++r) {
      EXPECT_EQ(got.tokens[static_cast<std::size_t>(r)],
                expected_draw(logits.values.data() + r * vocab, vocab, shape, uniforms.at(r, 0)))
          << "row " << r << " top_k " << shape.top_k << " top_p " << shape.top_p;
    }
  }
}

TEST_P(SampleTest, DrawsFollowTheDistributionAtTheTemperature) {
  const std::int64_t draws = is_host_device() ? 1000 : 20000;
  const Matrix logits = logs({0.1F, 0.2F, 0.3F, 0.4F});
  for (const float temperature : {1.0F, 0.5F, 2.0F}) {
    Matrix many(draws, 4), uniforms(draws, 1);
    kernels::PhiloxReader reader({3, kernels::Purpose::sampling, 0, 0});
    for (std::int64_t r = 0; r < draws; ++r) {
      std::copy(logits.values.begin(), logits.values.end(), many.values.begin() + r * 4);
      uniforms.at(r, 0) = reader.next_unit();
    }
    std::array<double, 4> counts{}, expected{};
    for (const std::int32_t id : draw(many, {temperature, 0, 1.0F}, uniforms).tokens)
      counts.at(static_cast<std::size_t>(id)) += 1.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < 4; ++i)
      sum += expected[i] = std::exp(static_cast<double>(logits.values[i] / temperature));
    double chi_squared = 0.0;
    for (std::size_t i = 0; i < 4; ++i) {
      const double mean = expected[i] / sum * static_cast<double>(draws);
      chi_squared += (counts[i] - mean) * (counts[i] - mean) / mean;
    }
    EXPECT_LT(chi_squared, 16.3) << "three degrees of freedom, one in a thousand";
  }
}

TEST_P(SampleTest, TopKKeepsTheLikeliestAndTheLowestIdsOnTies) {
  using Ids = std::set<std::int32_t>;
  const Matrix logits = logs({0.1F, 0.3F, 0.2F, 0.4F});
  EXPECT_EQ(reachable(logits, {1.0F, 1, 1.0F}), (Ids{3}));
  EXPECT_EQ(reachable(logits, {1.0F, 2, 1.0F}), (Ids{1, 3}));
  EXPECT_EQ(reachable(logits, {1.0F, 4, 1.0F}), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(reachable(logits, {1.0F, 400, 1.0F}), (Ids{0, 1, 2, 3}));
  EXPECT_EQ(reachable(row({1.0F, 2.0F, 2.0F, 2.0F}), {1.0F, 2, 1.0F}), (Ids{1, 2}));
}

TEST_P(SampleTest, TopPKeepsTheFewestThatHoldIt) {
  using Ids = std::set<std::int32_t>;
  const Matrix logits = logs({0.1F, 0.3F, 0.2F, 0.4F});
  EXPECT_EQ(reachable(logits, {1.0F, 0, 1e-6F}), (Ids{3}));
  EXPECT_EQ(reachable(logits, {1.0F, 0, 0.39F}), (Ids{3}));
  EXPECT_EQ(reachable(logits, {1.0F, 0, 0.5F}), (Ids{1, 3}));
  EXPECT_EQ(reachable(logits, {1.0F, 0, 0.85F}), (Ids{1, 2, 3}));
  EXPECT_EQ(reachable(logits, {1.0F, 0, 0.95F}), (Ids{0, 1, 2, 3}));
  // Top-k first: of the two that it leaves, the likelier holds 4/7.
  EXPECT_EQ(reachable(logits, {1.0F, 2, 0.55F}), (Ids{3}));
}

TEST_P(SampleTest, ATinyTemperatureIsGreedy) {
  for (const float uniform : {0.0F, 0.5F, 0.99999994F}) {
    EXPECT_EQ(draw_one(row({1.0F, 2.0F, 5.0F, 4.0F}), {1e-20F, 0, 1.0F}, uniform), 2);
  }
}

TEST_P(SampleTest, InputThatIsNotFiniteGivesAValidId) {
  for (const SamplerShape& shape : {SamplerShape{}, SamplerShape{1.0F, 0, 1.0F}, SamplerShape{0.8F, 2, 0.9F}}) {
    EXPECT_EQ(draw_one(row({kNan, kNan, kNan}), shape, 0.7F), 0);
    EXPECT_EQ(draw_one(row({1.0F, kNan, 2.0F}), shape, 0.7F), 0);
    EXPECT_EQ(draw_one(row({1.0F, kInfinity, kInfinity}), shape, 0.7F), 1);
    EXPECT_EQ(draw_one(row({-kInfinity, -kInfinity}), shape, 0.7F), 0);
  }
  const Drawn got = draw(row({1.0F, kNan}), {}, Matrix(1, 1, 0.5F));
  EXPECT_TRUE(std::isnan(got.logprob.at(0, 0)));
}

TEST_P(SampleTest, AMaskedIdIsNeverDrawn) {
  for (const std::int32_t id : reachable(row({-kInfinity, 0.0F, -kInfinity, 0.0F, -kInfinity}), {1.0F, 0, 1.0F})) {
    EXPECT_TRUE(id == 1 || id == 3) << id;
  }
}

FULLBAND_FOR_EVERY_BACKEND(SampleTest);

}  // namespace
