// AdamW and NorMuon over a whole model against their formulas in double precision; parameters without gradient stay
// out.
#include "engine/optimizer.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/error.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::HostTensor;
using engine::OptimizerSettings;
using engine::OptimizerType;
using engine::ParameterInfo;
using Values = std::vector<double>;

/// Row-major matrix product, with b transposed when asked for.
Values times(const Values& a, const Values& b, std::size_t rows, std::size_t inner, std::size_t cols, bool transposed) {
  Values out(rows * cols, 0.0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) {
      for (std::size_t i = 0; i < inner; ++i) {
        out[r * cols + c] += a[r * inner + i] * (transposed ? b[c * inner + i] : b[i * cols + c]);
      }
    }
  }
  return out;
}

Values transposed(const Values& a, std::size_t rows, std::size_t cols) {
  Values out(a.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < cols; ++c) out[c * rows + r] = a[r * cols + c];
  }
  return out;
}

double norm(const Values& a) {
  double sum = 0;
  for (const double v : a) sum += v * v;
  return std::sqrt(sum);
}

/// Five quintic Newton-Schulz steps of the matrix scaled to norm one; the shorter side is multiplied out.
Values orthogonalised(Values x, std::size_t rows, std::size_t cols) {
  if (rows > cols) return transposed(orthogonalised(transposed(x, rows, cols), cols, rows), cols, rows);
  const double size = norm(x) + 1e-7;
  for (double& v : x) v /= size;
  for (int i = 0; i < 5; ++i) {
    const Values gram = times(x, x, rows, cols, rows, true);
    const Values gx = times(gram, x, rows, rows, cols, false);
    const Values ggx = times(gram, gx, rows, rows, cols, false);
    for (std::size_t j = 0; j < x.size(); ++j) x[j] = 3.4445 * x[j] - 4.7750 * gx[j] + 2.0315 * ggx[j];
  }
  return x;
}

/// One parameter, stepped in double precision.
struct OracleParameter {
  Values value, first, second;
  int steps = 0;

  void adam(const Values& g, double rate, double decay, const OptimizerSettings& s) {
    ++steps;
    const double b1 = static_cast<double>(s.beta1);
    const double b2 = static_cast<double>(s.beta2);
    for (std::size_t i = 0; i < value.size(); ++i) {
      first[i] = b1 * first[i] + (1 - b1) * g[i];
      second[i] = b2 * second[i] + (1 - b2) * g[i] * g[i];
      const double m = first[i] / (1 - std::pow(b1, steps));
      const double v = second[i] / (1 - std::pow(b2, steps));
      value[i] -= rate * decay * value[i];
      value[i] -= rate * m / (std::sqrt(v) + static_cast<double>(s.epsilon));
    }
  }

  void normuon(const Values& g, const ParameterInfo& info, const OptimizerSettings& s) {
    ++steps;
    const auto rows = static_cast<std::size_t>(info.rows);
    const auto cols = static_cast<std::size_t>(info.cols);
    for (std::size_t i = 0; i < value.size(); ++i) first[i] = 0.95 * first[i] + 0.05 * g[i];
    Values o = orthogonalised(first, rows, cols);
    second.resize(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      double mean = 0;
      for (std::size_t c = 0; c < cols; ++c) mean += o[r * cols + c] * o[r * cols + c] / static_cast<double>(cols);
      second[r] = 0.95 * second[r] + 0.05 * mean;
      for (std::size_t c = 0; c < cols; ++c) o[r * cols + c] /= std::sqrt(second[r]) + 1e-8;
    }
    const double rate = static_cast<double>(s.rate);
    const double step = 0.2 * rate * std::sqrt(static_cast<double>(rows * cols)) / norm(o);
    for (std::size_t i = 0; i < value.size(); ++i) {
      value[i] -= rate * static_cast<double>(s.weight_decay) * value[i];
      value[i] -= step * o[i];
    }
  }
};

OptimizerSettings settings_of(OptimizerType type) {
  OptimizerSettings settings;
  settings.type = type;
  settings.rate = 1e-2F;
  settings.adam_rate = 3e-3F;
  settings.weight_decay = 0.1F;
  settings.epsilon = 1e-4F;
  return settings;
}

bool is_fusion(const ParameterInfo& info) { return info.name.starts_with("fusion."); }

class OptimizerTest : public ::testing::TestWithParam<OptimizerType> {
 protected:
  static engine::ModelConfig config() {
    engine::ModelConfig config = support::tiny_config();
    config.head_gate = config.sandwich_norm = true;
    config.tied = false;
    return config;
  }

  std::vector<HostTensor> noise(std::uint64_t seed) const {
    std::vector<HostTensor> tensors;
    for (const ParameterInfo& info : test_.parameters.layout()) {
      tensors.push_back({info.name, info.shape, support::random_floats(info.size(), ++seed * 31)});
    }
    return tensors;
  }
  void set_gradients(const std::vector<HostTensor>& gradients) {
    for (const HostTensor& g : gradients) {
      const auto view = test_.parameters.gradient(test_.parameters.info(g.name));
      test_.backend->upload(g.values.data(), view.data, view.size() * std::int64_t{sizeof(float)});
    }
  }
  /// Steps with new gradients; the fusion has one in every second step.
  void run_steps(engine::Optimizer& optimizer, int from, int to) {
    for (int step = from; step < to; ++step) {
      set_gradients(noise(static_cast<std::uint64_t>(step) * 1000));
      optimizer.step(settings_of(GetParam()),
                     [step](const ParameterInfo& info) { return step % 2 == 0 || !is_fusion(info); });
    }
  }

  support::TestModel test_{config()};
  engine::Optimizer optimizer_{*test_.backend, test_.parameters};
};

TEST_P(OptimizerTest, SeveralStepsFollowTheFormulas) {
  const OptimizerSettings settings = settings_of(GetParam());
  std::map<std::string, OracleParameter> oracle;
  for (const HostTensor& t : test_.parameters.store()) {
    oracle[t.name] = {{t.values.begin(), t.values.end()}, Values(t.values.size()), Values(t.values.size())};
  }
  for (int step = 0; step < 5; ++step) {
    const auto gradients = noise(static_cast<std::uint64_t>(step) * 1000);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const ParameterInfo& info = test_.parameters.layout()[i];
      if (step % 2 == 1 && is_fusion(info)) continue;
      const Values g(gradients[i].values.begin(), gradients[i].values.end());
      OracleParameter& parameter = oracle[info.name];
      if (GetParam() == OptimizerType::adamw) {
        parameter.adam(g, static_cast<double>(settings.rate), static_cast<double>(settings.weight_decay), settings);
      } else if (engine::is_muon_matrix(info)) {
        parameter.normuon(g, info, settings);
      } else {
        parameter.adam(g, static_cast<double>(settings.adam_rate), 0.0, settings);
      }
    }
  }
  run_steps(optimizer_, 0, 5);
  for (const HostTensor& t : test_.parameters.store()) {
    EXPECT_LE(support::relative_difference(t.values, oracle[t.name].value), 2e-6) << t.name;
  }
  for (const HostTensor& t : optimizer_.store(GetParam())) {
    const bool first = t.name.starts_with("first.");
    const OracleParameter& expected = oracle[t.name.substr(first ? 6 : 7)];
    EXPECT_LE(support::relative_difference(t.values, first ? expected.first : expected.second), 2e-5) << t.name;
  }
}

TEST_P(OptimizerTest, ParametersWithoutGradientAreNeitherSteppedNorDecayed) {
  const auto before = test_.parameters.store();
  const auto moments = optimizer_.store(GetParam());
  set_gradients(noise(1));
  optimizer_.step(settings_of(GetParam()), [](const ParameterInfo& info) { return !is_fusion(info); });
  const auto after = test_.parameters.store();
  const auto moments_after = optimizer_.store(GetParam());
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool skipped = is_fusion(test_.parameters.layout()[i]);
    EXPECT_EQ(before[i] == after[i], skipped) << before[i].name;
    EXPECT_EQ(moments[2 * i] == moments_after[2 * i], skipped) << moments[2 * i].name;
    EXPECT_EQ(moments[2 * i + 1] == moments_after[2 * i + 1], skipped) << moments[2 * i + 1].name;
    EXPECT_EQ(optimizer_.counts()[i], skipped ? 0 : 1) << before[i].name;
  }
}

TEST_P(OptimizerTest, EachParameterCountsItsOwnSteps) {
  run_steps(optimizer_, 0, 5);
  for (std::size_t i = 0; i < optimizer_.counts().size(); ++i) {
    const ParameterInfo& info = test_.parameters.layout()[i];
    EXPECT_EQ(optimizer_.counts()[i], is_fusion(info) ? 3 : 5) << info.name;
  }
}

TEST_P(OptimizerTest, StoredAndLoadedItGoesOnBitForBit) {
  run_steps(optimizer_, 0, 3);
  const auto values = test_.parameters.store();
  const auto moments = optimizer_.store(GetParam());
  const auto counts = optimizer_.counts();
  run_steps(optimizer_, 3, 6);
  const auto expected = test_.parameters.store();
  const auto expected_moments = optimizer_.store(GetParam());

  engine::Optimizer other(*test_.backend, test_.parameters);
  test_.parameters.load(values, "values");
  other.load(moments, counts, GetParam(), "moments");
  run_steps(other, 3, 6);
  EXPECT_TRUE(test_.parameters.store() == expected);
  EXPECT_TRUE(other.store(GetParam()) == expected_moments);
  EXPECT_EQ(other.counts(), optimizer_.counts());
}

TEST_P(OptimizerTest, RefusesAStateOfAnotherModel) {
  const auto counts = optimizer_.counts();
  auto moments = optimizer_.store(GetParam());
  const auto refused = [&](const std::vector<HostTensor>& tensors) {
    EXPECT_THROW(optimizer_.load(tensors, counts, GetParam(), "file"), engine::FormatError);
  };
  auto changed = moments;
  changed.pop_back();
  refused(changed);
  changed = moments;
  changed[4].name = "first.unknown";
  refused(changed);
  changed = moments;
  changed[5].values.pop_back();
  refused(changed);
  EXPECT_THROW(optimizer_.load(moments, {1, 2}, GetParam(), "file"), engine::FormatError);
}

INSTANTIATE_TEST_SUITE_P(Types, OptimizerTest, ::testing::Values(OptimizerType::adamw, OptimizerType::normuon),
                         [](const auto& type) { return to_string(type.param); });

TEST(MuonMatrixTest, BlockAndFusionMatricesAndNothingElse) {
  engine::ModelConfig config = support::tiny_config();
  config.tied = false;
  for (const ParameterInfo& info : engine::parameter_layout(config)) {
    const bool matrix = info.shape.size() == 2;
    const bool vocabulary = info.name == "embed.weight" || info.name == "lm_head.weight";
    EXPECT_EQ(engine::is_muon_matrix(info), matrix && !vocabulary) << info.name;
  }
}

}  // namespace
