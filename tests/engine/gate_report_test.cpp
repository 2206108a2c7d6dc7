// Inside the channel: gates, spectra, the residual stream, interventions, the plain->fused boundary.
#include "engine/gate_report.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "engine/error.h"
#include "engine/multipass.h"
#include "tests/engine/support/decode_probe.h"

namespace {

using engine::ChannelProbe;
using engine::Intervention;
using support::relative_difference;
using support::TestModel;
using support::Tokens;

constexpr std::int64_t kSeq = 7;

/// One full row, one packed row, one padded row; every third target belongs to an answer.
engine::data::Batch mixed_batch(std::int64_t vocab, std::int32_t padding = 0) {
  engine::data::Batch batch =
      support::make_batch({{support::random_document(7, vocab, 1)},
                           {support::random_document(4, vocab, 2), support::random_document(3, vocab, 3)},
                           {support::random_document(5, vocab, 4)}},
                          kSeq, padding);
  for (std::size_t n = 0; n < batch.answer.size(); ++n) batch.answer[n] = batch.targets[n] >= 0 && n % 3 == 0 ? 1 : 0;
  return batch;
}

Tokens all_fused(const engine::data::Batch& batch) {
  return engine::fused_flags(batch, std::vector<std::int64_t>(static_cast<std::size_t>(batch.rows), 1));
}

std::vector<engine::HostTensor> changed(std::vector<engine::HostTensor> tensors, const std::string& name,
                                        const std::function<float(std::size_t, float)>& value) {
  for (engine::HostTensor& tensor : tensors) {
    if (tensor.name != name) continue;
    for (std::size_t i = 0; i < tensor.values.size(); ++i) tensor.values[i] = value(i, tensor.values[i]);
  }
  return tensors;
}

class ChannelProbeTest : public ::testing::TestWithParam<support::ConfigCase> {
 protected:
  TestModel test_{GetParam().config};
  engine::data::Batch batch_ = mixed_batch(GetParam().config.vocab);
};

TEST_P(ChannelProbeTest, AnUnchangedPassIsAFeedbackPass) {
  const Tokens fused = all_fused(batch_);
  engine::PassRunner runner(*test_.backend, test_.parameters);
  runner.begin(batch_.tokens, batch_.positions);
  runner.plain_pass();
  ChannelProbe probe(*test_.backend, test_.parameters, batch_);
  EXPECT_LE(relative_difference(probe.prepare(fused, 3), runner.score(batch_.targets).nll), 1e-6);
  for (int pass = 0; pass < 3; ++pass) runner.feedback_pass(fused);
  const auto expected = runner.score(batch_.targets).nll;
  EXPECT_LE(relative_difference(probe.run({}), expected), 1e-6);
  EXPECT_GT(relative_difference(probe.run({{}, {}, 3.0F}), expected), 1e-3);
  std::vector<float> other = probe.states();
  for (float& x : other) x = 1 - x;
  EXPECT_GT(relative_difference(probe.run({other, {}, 1.0F}), expected), 1e-3);
  std::vector<float> side = probe.token_side();
  for (float& x : side) x += 1;
  EXPECT_GT(relative_difference(probe.run({{}, side, 1.0F}), expected), 1e-4);
  EXPECT_LE(relative_difference(probe.run({probe.states(), probe.token_side(), 1.0F}), expected), 1e-6)
      << "earlier changes must leave nothing behind";
}

/// Padding once raised an alarm: whatever stands there may move no number.
TEST_P(ChannelProbeTest, PaddingMovesNoNumber) {
  engine::GateReportSettings settings;
  const auto report = measure_gate_report(*test_.backend, test_.parameters, batch_, settings);
  const engine::data::Batch other = mixed_batch(GetParam().config.vocab, 9);
  ASSERT_NE(other.tokens, batch_.tokens);
  const auto same = measure_gate_report(*test_.backend, test_.parameters, other, settings);
  for (std::size_t i = 0; i < report.interventions.results.size(); ++i) {
    EXPECT_EQ(report.interventions.results[i].cost.value, same.interventions.results[i].cost.value) << i;
  }
  for (std::size_t i = 0; i < report.ladder.size(); ++i) {
    EXPECT_EQ(report.ladder[i].fused_rms.value, same.ladder[i].fused_rms.value);
  }
  for (std::size_t i = 0; i < report.boundary.size(); ++i) {
    EXPECT_EQ(report.boundary[i].difference.value, same.boundary[i].difference.value);
  }
  EXPECT_EQ(report.states[1].values, same.states[1].values);
  EXPECT_EQ(report.fused_positions, 6 + 3 + 2 + 4);
  EXPECT_EQ(report.gates.has_value(), GetParam().config.fusion == engine::FusionType::gate);
  if (report.gates) {
    EXPECT_EQ(report.gates->histogram, same.gates->histogram);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, ChannelProbeTest, ::testing::ValuesIn(support::config_cases()),
                         support::config_case_name);

class GateReportTest : public ::testing::Test {
 protected:
  engine::ModelConfig config_ = support::tiny_config();
  TestModel test_{config_};
  engine::data::Batch batch_ = mixed_batch(config_.vocab);

  engine::InterventionReport interventions(const engine::InterventionSettings& settings = {}) {
    ChannelProbe probe(*test_.backend, test_.parameters, batch_);
    probe.prepare(all_fused(batch_), 1);
    return measure_interventions(probe, config_.fusion, settings);
  }
  static engine::Estimate cost(const engine::InterventionReport& report, Intervention kind) {
    for (const auto& result : report.results) {
      if (result.kind == kind) return result.cost;
    }
    ADD_FAILURE() << "not measured: " << to_string(kind);
    return {};
  }
};

/// Zeroing the state cost 32 nats and meant nothing; the default replaces it by one that could have been there.
TEST_F(GateReportTest, ShuffledStatesComeFirstAndZeroIsMarkedOutOfDistribution) {
  const auto report = interventions();
  EXPECT_EQ(report.results.front().kind, Intervention::shuffled_state);
  int marked = 0;
  for (const auto& result : report.results) {
    EXPECT_EQ(result.out_of_distribution, result.kind == Intervention::zero_state);
    marked += result.out_of_distribution ? 1 : 0;
    EXPECT_EQ(result.cost.rows, 3);
    EXPECT_GT(result.cost.counts, result.answer_cost.counts);
    EXPECT_GT(result.answer_cost.counts, 0);
    EXPECT_GT(std::abs(result.cost.value), 1e-5) << to_string(result.kind);
    EXPECT_GT(result.cost.error, 0) << "every number has its standard error";
  }
  EXPECT_EQ(marked, 1);
}

TEST_F(GateReportTest, DonorsAreRealTokensOfOtherRowsAtTheSamePlace) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    const Tokens donors = engine::shuffled_donors(batch_, seed);
    std::set<std::int64_t> rows;
    for (std::int64_t n = 0; n < 3 * kSeq; ++n) {
      const std::int64_t donor = donors[static_cast<std::size_t>(n)];
      const bool padding = n >= 2 * kSeq + 5;
      if (padding) {
        EXPECT_EQ(donor, n);
        continue;
      }
      EXPECT_NE(donor / kSeq, n / kSeq) << "a state of the own row could tell its future";
      EXPECT_LT(donor, 2 * kSeq + 5) << "padding is no donor";
      if (donor < 2 * kSeq || n % kSeq < 5) {
        EXPECT_EQ(donor % kSeq, n % kSeq);
      }
      rows.insert(donor / kSeq);
    }
    EXPECT_EQ(rows.size(), 3U);
  }
  EXPECT_NE(engine::shuffled_donors(batch_, 1), engine::shuffled_donors(batch_, 3));
  const auto alone = support::make_batch({{support::random_document(4, 11, 1)}}, 4);
  EXPECT_THROW(engine::shuffled_donors(alone, 1), engine::ConfigError);
}

TEST_F(GateReportTest, ChangesThatChangeNothingCostNothing) {
  engine::InterventionSettings settings;
  settings.temperatures = {1.0};
  settings.seed_scales = {1.0};
  const auto report = interventions(settings);
  EXPECT_EQ(cost(report, Intervention::gate_temperature).value, 0);
  EXPECT_EQ(cost(report, Intervention::seed_scale).value, 0);
  test_.parameters.load(changed(support::noisy_tensors(config_, 1), "fusion.wg", [](auto, auto) { return 0.0F; }), "");
  EXPECT_NEAR(cost(interventions(), Intervention::constant_gate).value, 0, 1e-6) << "gates of 1/2 are constant already";
}

/// Gates all near one half look as if they did nothing; only the intervention beside the histogram tells.
TEST_F(GateReportTest, ANarrowHistogramDoesNotSayThatGatesDoNothing) {
  test_.parameters.load(
      changed(support::noisy_tensors(config_, 1), "fusion.wg", [](auto, float w) { return 0.1F * w; }), "");
  const auto report = measure_gate_report(*test_.backend, test_.parameters, batch_, {});
  ASSERT_TRUE(report.gates.has_value());
  const auto& histogram = report.gates->histogram;
  EXPECT_EQ(std::accumulate(histogram.begin() + 6, histogram.begin() + 14, std::int64_t{0}),
            report.fused_positions * config_.dim)
      << "all gates lie in 0.3..0.7";
  EXPECT_LT(report.gates->deviation, 0.1);
  const auto constant = cost(report.interventions, Intervention::constant_gate);
  EXPECT_GT(std::abs(constant.value), 1e-4);
}

TEST_F(GateReportTest, GatesAreThoseOfTheTokensWeightedByOccurrence) {
  const auto gates = measure_gates(*test_.backend, test_.parameters, {3, 5, 3, 3}, 10);
  ASSERT_EQ(gates.tokens.size(), 2U);
  EXPECT_EQ(gates.tokens[0].token, 3);
  EXPECT_EQ(gates.tokens[0].occurrences, 3);
  EXPECT_NEAR(gates.mean, (3 * gates.tokens[0].mean + gates.tokens[1].mean) / 4, 1e-12);
  for (std::size_t b = 0; b < 10; ++b) {
    EXPECT_EQ(gates.histogram[b], 3 * gates.tokens[0].histogram[b] + gates.tokens[1].histogram[b]);
  }
  // sigmoid(rms(e) W_G^T) by hand.
  const auto tensors = support::noisy_tensors(config_, 1);
  const auto find = [&](const std::string& name) {
    return std::find_if(tensors.begin(), tensors.end(), [&](const auto& t) { return t.name == name; })->values;
  };
  const auto table = find("embed.weight");
  const auto wg = find("fusion.wg");
  double square = 0;
  for (std::size_t d = 0; d < 8; ++d) square += double{table[5 * 8 + d]} * double{table[5 * 8 + d]} / 8;
  double mean = 0;
  double smallest = 1;
  for (std::size_t o = 0; o < 8; ++o) {
    double logit = 0;
    for (std::size_t d = 0; d < 8; ++d) logit += table[5 * 8 + d] / std::sqrt(square + 1e-6) * wg[o * 8 + d];
    const double gate = 1 / (1 + std::exp(-logit));
    mean += gate / 8;
    smallest = std::min(smallest, gate);
  }
  EXPECT_NEAR(gates.tokens[1].mean, mean, 1e-5);
  EXPECT_NEAR(gates.tokens[1].smallest, smallest, 1e-5);

  engine::ModelConfig add = config_;
  add.fusion = engine::FusionType::add;
  TestModel without(add);
  EXPECT_THROW(measure_gates(*without.backend, without.parameters, {1}), engine::ConfigError);
}

TEST_F(GateReportTest, SpectraOfKnownMatricesAndStates) {
  const auto diagonal = [](std::size_t i, float) { return i / 8 == i % 8 ? static_cast<float>(i % 8 + 1) : 0.0F; };
  test_.parameters.load(changed(support::noisy_tensors(config_, 1), "fusion.wu", diagonal), "");
  const auto weights = fusion_spectra(*test_.backend, test_.parameters);
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_EQ(weights[0].name, "fusion.wu");
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(weights[0].values[i], 8.0 - static_cast<double>(i), 1e-5);
  EXPECT_NEAR(weights[0].participation, 204.0 * 204.0 / 8772.0, 1e-4);
  // States along two axes, centred at (1, ..., 1): variances 8 and 2 before, times the squared entries after.
  std::vector<float> states;
  for (const auto& [axis, size] : {std::pair{0, 2.0F}, {0, -2.0F}, {3, 1.0F}, {3, -1.0F}}) {
    std::vector<float> row(8, 1.0F);
    row[static_cast<std::size_t>(axis)] += size;
    states.insert(states.end(), row.begin(), row.end());
  }
  const auto spectra = state_spectra(*test_.backend, test_.parameters, states);
  EXPECT_NEAR(spectra[0].values[0], 8.0 / 3, 1e-5);
  EXPECT_NEAR(spectra[0].values[1], 2.0 / 3, 1e-5);
  EXPECT_NEAR(spectra[0].values[2], 0, 1e-6);
  EXPECT_NEAR(spectra[1].values[0], 32.0 / 3, 1e-4);
  EXPECT_NEAR(spectra[1].values[1], 8.0 / 3, 1e-4);
  EXPECT_NEAR(spectra[0].participation, 100.0 / 68, 1e-5);
}

TEST_F(GateReportTest, TheLadderIsTheResidualStreamOfBothPasses) {
  ChannelProbe probe(*test_.backend, test_.parameters, batch_);
  const Tokens fused = all_fused(batch_);
  const auto ladder = measure_ladder(probe, fused, 2);
  ASSERT_EQ(ladder.size(), 3U);
  std::vector<std::vector<float>> streams[2];
  engine::PassRunner runner(*test_.backend, test_.parameters);
  runner.begin(batch_.tokens, batch_.positions);
  const auto keep = [&](std::vector<std::vector<float>>& into) {
    engine::StackHooks hooks;
    hooks.on_residual = [&](std::int64_t, engine::Variable x) {
      into.push_back(engine::download_matrix(*test_.backend, runner.value(x)));
    };
    return hooks;
  };
  runner.plain_pass(keep(streams[0]));
  runner.feedback_pass(fused);
  runner.feedback_pass(fused, keep(streams[1]));
  const Tokens places = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 15, 16, 17, 18};  // real and fused
  for (int pass = 0; pass < 2; ++pass) {
    for (std::size_t depth = 0; depth < 3; ++depth) {
      double rms = 0;
      double change = 0;
      for (const std::int32_t n : places) {
        double square = 0, before = 0, moved = 0;
        for (std::size_t i = static_cast<std::size_t>(n) * 8; i < static_cast<std::size_t>(n) * 8 + 8; ++i) {
          const double x = streams[pass][depth][i];
          const double y = depth > 0 ? streams[pass][depth - 1][i] : 0.0F;
          square += x * x;
          before += y * y;
          moved += (x - y) * (x - y);
        }
        rms += std::sqrt(square / 8) / 15;
        if (depth > 0) change += std::sqrt(moved / before) / 15;
      }
      const auto& rung = ladder[depth];
      EXPECT_NEAR((pass == 0 ? rung.plain_rms : rung.fused_rms).value, rms, 1e-5);
      if (depth > 0) {
        EXPECT_NEAR((pass == 0 ? rung.plain_change : rung.fused_change).value, change, 1e-5);
      }
    }
  }
  EXPECT_TRUE(std::isnan(ladder[0].plain_change.value));
}

TEST_F(GateReportTest, DistancesCountFromEveryPlainPosition) {
  const Tokens fused = engine::fused_flags(batch_, {3, 1, 2});
  const std::vector<std::int64_t> expected = {-1, -1, -1, 0, 1,  2,  3,    // plain length 3
                                              -1, 0,  1,  2, -1, 0,  1,    // the second document starts plain
                                              -1, -1, 0,  1, 2,  -1, -1};  // padding has no distance
  EXPECT_EQ(engine::boundary_distances(batch_, fused), expected);
}

/// Soft was worse than Standard because the boundary was never trained: loss by distance from it shows that.
TEST_F(GateReportTest, BoundaryLossIsTheLossOfPositionsAtThatDistance) {
  ChannelProbe probe(*test_.backend, test_.parameters, batch_);
  engine::BoundarySettings settings;
  settings.feedback_passes = 2;
  settings.draws = 3;
  settings.seed = 5;
  const auto points = measure_boundary_loss(probe, settings);
  std::vector<double> fused_sum(kSeq, 0), plain_sum(kSeq, 0), count(kSeq, 0);
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    const auto lengths = engine::draw_plain_lengths(batch_, {5, kernels::Purpose::analysis, draw, 0}, 0.0);
    const Tokens fused = engine::fused_flags(batch_, lengths);
    engine::PassRunner runner(*test_.backend, test_.parameters);
    runner.begin(batch_.tokens, batch_.positions);
    runner.plain_pass();
    const auto plain = runner.score(batch_.targets).nll;
    runner.feedback_pass(fused);
    runner.feedback_pass(fused);
    const auto last = runner.score(batch_.targets).nll;
    const auto distances = engine::boundary_distances(batch_, fused);
    for (std::size_t n = 0; n < fused.size(); ++n) {
      if (distances[n] < 0 || batch_.targets[n] < 0) continue;
      const auto d = static_cast<std::size_t>(distances[n]);
      fused_sum[d] += last[n];
      plain_sum[d] += plain[n];
      count[d] += 1;
    }
  }
  ASSERT_GE(points.size(), 3U);
  for (const auto& point : points) {
    const auto d = static_cast<std::size_t>(point.first);
    EXPECT_EQ(point.first, point.last);
    EXPECT_EQ(point.difference.counts, static_cast<std::int64_t>(count[d]));
    EXPECT_NEAR(point.fused_loss.value, fused_sum[d] / count[d], 1e-5);
    EXPECT_NEAR(point.difference.value, (fused_sum[d] - plain_sum[d]) / count[d], 1e-5);
  }
}

TEST(BoundaryRangesTest, LongDistancesShareRanges) {
  engine::ModelConfig config = support::tiny_config();
  TestModel test(config);
  const auto batch = support::make_batch(
      {{support::random_document(70, config.vocab, 1)}, {support::random_document(70, config.vocab, 2)}}, 70);
  ChannelProbe probe(*test.backend, test.parameters, batch);
  engine::BoundarySettings settings;
  settings.draws = 20;
  std::int64_t next = 0;
  for (const auto& point : measure_boundary_loss(probe, settings)) {
    EXPECT_GE(point.first, next);
    EXPECT_EQ(point.last, point.first < 16 ? point.first : 2 * point.first - 1);
    next = point.last + 1;
  }
  EXPECT_GE(next, 64);
}

engine::data::Batch plain_rows(std::int64_t rows, std::int64_t documents, std::int64_t length) {
  std::vector<std::vector<support::TestDocument>> texts;
  for (std::int64_t r = 0; r < rows; ++r) {
    texts.emplace_back();
    for (std::int64_t d = 0; d < documents; ++d)
      texts.back().push_back(support::random_document(length, 11, static_cast<std::uint64_t>(r * 10 + d)));
  }
  return support::make_batch(texts, documents * length + 2);  // two of padding
}

/// Uniform plain prefixes leave early positions seldom fused; documents of a packed row restart the count.
TEST(ExposureTest, EarlyPositionsAreSeldomFused) {
  engine::ExposureSettings settings;
  settings.fully_fused_share = 0.25;
  settings.draws = 30;
  const auto points = measure_exposure(plain_rows(40, 1, 8), settings);
  ASSERT_EQ(points.size(), 8U) << "padding is no position";
  EXPECT_EQ(points[0].fused_share.value, 0) << "a document's first position is plain";
  for (std::size_t t = 1; t < 8; ++t) {
    const double expected = 0.25 + 0.75 * static_cast<double>(t) / 8;  // the drawn length is at most t
    EXPECT_NEAR(points[t].fused_share.value, expected, 4 * points[t].fused_share.error) << t;
    EXPECT_LT(points[t].fused_share.error, 0.03);
  }
  EXPECT_LT(points[1].fused_share.value, points[7].fused_share.value - 0.4);
}

TEST(ExposureTest, DocumentsRestartTheCount) {
  engine::ExposureSettings settings;
  settings.fully_fused_share = 0;
  settings.draws = 30;
  const auto points = measure_exposure(plain_rows(40, 2, 4), settings);
  ASSERT_EQ(points.size(), 4U);
  for (std::size_t t = 1; t < 4; ++t) {
    const double expected = (static_cast<double>(t) / 8 + static_cast<double>(t + 4) / 8) / 2;
    EXPECT_NEAR(points[t].fused_share.value, expected, 4 * points[t].fused_share.error) << t;
  }
  settings.prefix_mixin = false;
  for (const auto& point : measure_exposure(plain_rows(4, 2, 4), settings)) {
    EXPECT_EQ(point.fused_share.value, point.position == 0 ? 0 : 1);
  }
}

TEST_F(GateReportTest, CanBeCancelledAndSaysWhatItDoes) {
  std::vector<std::string> parts;
  std::stop_source source;
  const auto progress = [&](const std::string& part, std::int64_t done, std::int64_t all) {
    EXPECT_LT(done, all);
    parts.push_back(part);
    if (part == "interventions") source.request_stop();
  };
  EXPECT_THROW(measure_gate_report(*test_.backend, test_.parameters, batch_, {}, progress, source.get_token()),
               engine::Cancelled);
  EXPECT_EQ(parts, (std::vector<std::string>{"gates", "depths", "interventions"}));
}

}  // namespace
