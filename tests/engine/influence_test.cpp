// Measured influence: exactly zero where nothing can be read, non-zero where it can, and equal to what a numerical
// perturbation of the same state does.
#include "engine/influence.h"

#include <gtest/gtest.h>

#include "engine/error.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::Cell;
using engine::DecodeMode;
using engine::InfluenceMap;
using engine::InfluenceRequest;
using support::TestModel;
using support::Tokens;

constexpr std::int64_t kPositions = 6;

/// Carried states and residuals of a mode with something added to one state, by repeating parallel passes.
class PerturbedRun {
 public:
  PerturbedRun(TestModel& test, const InfluenceRequest& request) : test_(test), request_(request) {}

  /// The chosen cell when element `i` of the state at `source` is moved by `amount` wherever it is computed.
  std::vector<float> chosen(Cell source, std::int64_t i, float amount) {
    std::vector<float> got;
    engine::PassRunner runner(*test_.backend, test_.parameters);
    engine::StackHooks hooks;
    const auto element = [&](engine::Variable variable) -> float& {
      const kernels::ConstView view = runner.value(variable);
      return const_cast<float*>(view.data)[source.position * view.stride + i];
    };
    engine::Variable input;
    hooks.on_residual = [&](std::int64_t depth, engine::Variable variable) {
      if (depth == 0) input = variable;
      if (depth == 0 && source.depth == 0) element(input) += amount;
      if (depth == 1 && source.depth == 0) element(input) -= amount;  // later passes start from the same plain inputs
      if (depth == request_.cell.depth)
        got = engine::download_matrix(*test_.backend, runner.value(variable).row_range(request_.cell.position, 1));
    };
    hooks.on_branch = [&](std::int64_t depth, engine::Variable variable) {
      if (depth == source.depth) element(variable) += amount / test_.parameters.config().branch_scale();
    };
    run_passes(runner, hooks);
    return got;
  }

 private:
  void run_passes(engine::PassRunner& runner, const engine::StackHooks& hooks) {
    const std::size_t count = request_.tokens.size();
    const auto prompt = static_cast<std::size_t>(request_.plain);
    runner.begin(request_.tokens, support::places(count));
    runner.plain_pass(hooks);
    if (request_.mode == DecodeMode::soft) {
      for (std::size_t pass = prompt; pass < count; ++pass)
        runner.feedback_pass(support::flags_after(prompt, count), hooks, true);
    }
    if (request_.mode == DecodeMode::fused) run_fused(runner, hooks, prompt, count);
  }

  void run_fused(engine::PassRunner& runner, const engine::StackHooks& hooks, std::size_t prompt, std::size_t count) {
    const std::int64_t dim = test_.parameters.config().dim;
    std::vector<float> states = engine::download_matrix(*test_.backend, runner.carried());
    for (std::size_t pass = prompt; pass <= count; ++pass) {
      engine::Arena arena(*test_.backend);
      runner.feedback_pass(support::flags_after(1, count), hooks, false,
                           engine::upload_matrix(*test_.backend, arena, states, dim));
      const auto next = engine::download_matrix(*test_.backend, runner.carried());
      const auto kept = static_cast<std::ptrdiff_t>((prompt - 1) * static_cast<std::size_t>(dim));
      std::copy(next.begin() + kept, next.end(), states.begin() + kept);
    }
  }

  TestModel& test_;
  const InfluenceRequest& request_;
};

double numerical_influence(TestModel& test, const InfluenceRequest& request, Cell source) {
  constexpr float kStep = 4e-4F;  // small enough for the most curved case, large enough for float32
  PerturbedRun run(test, request);
  double sum = 0;
  for (std::int64_t i = 0; i < test.parameters.config().dim; ++i) {
    const auto up = run.chosen(source, i, kStep);
    const auto down = run.chosen(source, i, -kStep);
    for (std::size_t n = 0; n < up.size(); ++n) {
      const double derivative = (double{up[n]} - double{down[n]}) / (2 * double{kStep});
      sum += derivative * derivative;
    }
  }
  return std::sqrt(sum);
}

InfluenceRequest request_for(const engine::ModelConfig& config, DecodeMode mode, Cell cell, std::int64_t plain) {
  InfluenceRequest request;
  request.tokens = support::random_tokens(kPositions, config.vocab, 21);
  request.mode = mode;
  request.cell = cell;
  request.plain = plain;
  return request;
}

template <class Visit>
void for_each_cell(const InfluenceMap& map, Visit visit) {
  for (std::int64_t position = 0; position < map.positions; ++position) {
    for (std::int64_t depth = 0; depth <= map.layers; ++depth) visit(Cell{position, depth});
  }
}

void expect_zero_exactly_where(const InfluenceMap& map, Cell chosen, const std::function<bool(Cell)>& readable) {
  for_each_cell(map, [&](Cell cell) {
    SCOPED_TRACE("chosen " + std::to_string(chosen.position) + "," + std::to_string(chosen.depth) + " source " +
                 std::to_string(cell.position) + "," + std::to_string(cell.depth));
    if (cell != chosen && readable(cell)) {
      EXPECT_GT(map.at(cell), 0.0);
    } else {
      EXPECT_EQ(map.at(cell), 0.0);
    }
  });
}

/// Without sliding windows, for which the theory does not hold.
std::vector<support::ConfigCase> full_attention_cases() {
  auto cases = support::config_cases();
  for (auto& c : cases) c.config.window = c.config.full_every = 0;
  return cases;
}

class InfluenceTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  engine::ModelConfig config_ = GetParam().config;
  TestModel test_{GetParam().config};

  InfluenceMap measure(const InfluenceRequest& request) {
    return measure_influence(*test_.backend, test_.parameters, request);
  }
  void each_cell(const std::function<void(Cell)>& visit) const {
    for (const std::int64_t position : {std::int64_t{0}, std::int64_t{2}, kPositions - 1}) {
      for (std::int64_t depth = 0; depth <= config_.layers; ++depth) visit({position, depth});
    }
  }
};

TEST_P(InfluenceTest, StandardReadsLowerDepthsOfThisAndEarlierPositionsAndNothingElse) {
  each_cell([&](Cell chosen) {
    const auto map = measure(request_for(config_, DecodeMode::standard, chosen, 1));
    expect_zero_exactly_where(map, chosen,
                              [&](Cell cell) { return cell.position <= chosen.position && cell.depth < chosen.depth; });
  });
}

TEST_P(InfluenceTest, SoftReadsTheWholeRectangle) {
  each_cell([&](Cell chosen) {
    const auto map = measure(request_for(config_, DecodeMode::soft, chosen, 1));
    std::int64_t count = 0;
    for_each_cell(map, [&](Cell cell) { count += map.at(cell) > 0 ? 1 : 0; });
    EXPECT_EQ(count, latent_reach({kPositions, config_.layers}, chosen, engine::Convention::own_position));
    expect_zero_exactly_where(map, chosen, [&](Cell cell) {
      return cell.position < chosen.position || (cell.position == chosen.position && cell.depth < chosen.depth);
    });
  });
}

TEST_P(InfluenceTest, TopStatesOfAPlainPromptAreReadByNothingButTheLast) {
  constexpr std::int64_t kPlain = 3;
  const Cell chosen{kPositions - 1, 1};
  const auto map = measure(request_for(config_, DecodeMode::soft, chosen, kPlain));
  expect_zero_exactly_where(map, chosen, [&](Cell cell) {
    if (cell.position == chosen.position) return cell.depth < chosen.depth;
    return cell.depth < config_.layers || cell.position >= kPlain - 1;
  });
}

TEST_P(InfluenceTest, SoftInsideItsPlainPromptIsStandard) {
  const Cell chosen{2, config_.layers};
  const auto soft = measure(request_for(config_, DecodeMode::soft, chosen, 3));
  const auto standard = measure(request_for(config_, DecodeMode::standard, chosen, 1));
  EXPECT_LE(support::relative_difference(soft.influence, standard.influence), 1e-6);
}

TEST_P(InfluenceTest, FusedReadsTheWholeRectangleOfAPrompt) {
  for (const std::int64_t prompt : {std::int64_t{4}, kPositions}) {
    const Cell chosen{kPositions - 1, config_.layers};
    expect_zero_exactly_where(measure(request_for(config_, DecodeMode::fused, chosen, prompt)), chosen,
                              [&](Cell cell) { return cell.position < chosen.position || cell.depth < chosen.depth; });
  }
}

TEST_P(InfluenceTest, AgreesWithANumericalPerturbation) {
  struct Case {
    DecodeMode mode;
    Cell cell;
    std::int64_t plain;
  };
  for (const Case& c :
       {Case{DecodeMode::standard, {4, 2}, 1}, Case{DecodeMode::soft, {4, 1}, 1}, Case{DecodeMode::soft, {5, 2}, 3},
        Case{DecodeMode::fused, {3, 2}, 5}, Case{DecodeMode::fused, {5, 0}, 3}}) {
    const auto request = request_for(config_, c.mode, c.cell, c.plain);
    const auto map = measure(request);
    std::vector<double> numerical;
    for_each_cell(
        map, [&](Cell cell) { numerical.push_back(cell == c.cell ? 0 : numerical_influence(test_, request, cell)); });
    EXPECT_LE(support::relative_difference(map.influence, numerical), 5e-3) << to_string(c.mode);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, InfluenceTest, ::testing::ValuesIn(full_attention_cases()),
                         support::config_case_name);

TEST(InfluenceDirectionsTest, RandomDirectionsEstimateTheNormWithinTheirError) {
  TestModel test(support::tiny_config());
  auto request = request_for(support::tiny_config(), DecodeMode::soft, {5, 2}, 1);
  const auto exact = measure_influence(*test.backend, test.parameters, request);
  ASSERT_TRUE(exact.exact);
  request.directions = 7;
  request.seed = 3;
  const auto estimate = measure_influence(*test.backend, test.parameters, request);
  ASSERT_FALSE(estimate.exact);
  EXPECT_EQ(estimate.directions, 7);
  for (std::size_t i = 0; i < exact.influence.size(); ++i) {
    EXPECT_EQ(exact.error[i], 0.0);
    EXPECT_EQ(estimate.influence[i] == 0, exact.influence[i] == 0);
    if (exact.influence[i] == 0) continue;
    EXPECT_GT(estimate.error[i], 0.0);
    EXPECT_NEAR(estimate.influence[i], exact.influence[i], 5 * estimate.error[i] + 0.05 * exact.influence[i]);
  }
}

TEST(InfluenceDirectionsTest, AModelWithoutGradientsGivesTheSameNumbers) {
  for (const bool sandwich : {false, true}) {
    engine::ModelConfig config = support::tiny_config();
    config.sandwich_norm = sandwich;
    TestModel test(config);
    engine::Parameters loaded(*test.backend, config, false);
    loaded.load(support::noisy_tensors(config, 1), "test model");
    for (const DecodeMode mode : {DecodeMode::standard, DecodeMode::fused}) {
      const auto request = request_for(config, mode, {5, 2}, 3);
      EXPECT_EQ(measure_influence(*test.backend, loaded, request).influence,
                measure_influence(*test.backend, test.parameters, request).influence);
    }
  }
}

TEST(InfluenceDirectionsTest, ManyRowsAreTakenInShares) {
  TestModel test(support::tiny_config());
  InfluenceRequest request = request_for(support::tiny_config(), DecodeMode::standard, {0, 2}, 1);
  request.tokens = support::random_tokens(1100, 11, 5);  // 8 copies of it are more rows than are taken at once
  request.cell.position = 7;
  std::int64_t done = 0;
  std::int64_t total = 0;
  const auto map = measure_influence(*test.backend, test.parameters, request, [&](std::int64_t d, std::int64_t t) {
    done = d;
    total = t;
  });
  EXPECT_EQ(total, 3);
  EXPECT_EQ(done, total);
  request.tokens.resize(8);
  const auto short_row = measure_influence(*test.backend, test.parameters, request);
  for_each_cell(map, [&](Cell cell) { EXPECT_NEAR(map.at(cell), cell.position < 8 ? short_row.at(cell) : 0.0, 1e-5); });
}

TEST(InfluenceRequestTest, BadCellsAreNamedAndAStopCancels) {
  TestModel test(support::tiny_config());
  const auto refused = [&](const InfluenceRequest& request, const std::string& field) {
    try {
      measure_influence(*test.backend, test.parameters, request);
      ADD_FAILURE() << field;
    } catch (const engine::ConfigError& error) {
      EXPECT_EQ(error.field(), field);
    }
  };
  const auto good = request_for(support::tiny_config(), DecodeMode::soft, {5, 2}, 1);
  for (const Cell cell : {Cell{kPositions, 0}, Cell{-1, 0}}) {
    auto bad = good;
    bad.cell = cell;
    refused(bad, "t");
  }
  auto bad = good;
  bad.cell.depth = 3;
  refused(bad, "layer");
  bad = good;
  bad.plain = 0;
  refused(bad, "plain");
  bad = good;
  bad.tokens.clear();
  refused(bad, "prompt");
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(measure_influence(*test.backend, test.parameters, good, {}, stop.get_token()), engine::Cancelled);
}

}  // namespace
