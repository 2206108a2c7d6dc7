// Probes find what is there, at the depth where it is, and nothing where nothing is.
#include "engine/probe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/error.h"
#include "engine/grouped_folds.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::cross_validate;
using engine::FoldScore;
using engine::grouped_folds;
using engine::ProbePrompt;
using engine::ProbeReport;
using engine::score_folds;
using support::TestModel;

constexpr std::int64_t kDim = 12;

/// Examples in groups of four with two of each label, and noise as features.
struct NoiseExamples {
  std::vector<int> labels;
  std::vector<std::int64_t> groups;
  std::vector<float> features;
  std::vector<std::size_t> all;

  explicit NoiseExamples(std::int64_t count) : features(support::random_floats(count * kDim, 5)) {
    for (std::int64_t n = 0; n < count; ++n) {
      labels.push_back(static_cast<int>(n % 2));
      groups.push_back(n / 4);
      all.push_back(static_cast<std::size_t>(n));
    }
  }

  [[nodiscard]] FoldScore score() const {
    const std::vector<int> fold = grouped_folds(groups, labels, 4, 1);
    return score_folds(cross_validate(features, kDim, labels, groups, fold), labels, fold, all);
  }
};

TEST(ProbeTest, ASignalAmongNoiseIsFoundAndNoiseAloneIsChance) {
  NoiseExamples examples(800);
  EXPECT_NEAR(examples.score().accuracy, 0.5, 4 * 0.5 / std::sqrt(800.0));
  for (std::size_t n = 0; n < examples.labels.size(); ++n) {
    examples.features[n * kDim + 3] += examples.labels[n] == 1 ? 4.0F : 0.0F;
    examples.features[n * kDim + 7] = 1000 + 0.01F * examples.features[n * kDim + 7];
  }
  EXPECT_GT(examples.score().accuracy, 0.95);
  EXPECT_LT(examples.score().spread, 0.05);
}

TEST(ProbeTest, WhatOnlyNamesTheGroupIsChanceUnlessGroupsLeak) {
  NoiseExamples examples(240);
  // All four of a group share one label and one code, drawn once a group; there are as many numbers in a code as
  // groups, so that every group can be learned by heart.
  constexpr std::int64_t kWide = 64;
  std::mt19937_64 random(3);
  std::vector<float> codes;
  for (std::size_t n = 0; n < examples.labels.size(); ++n) {
    examples.labels[n] = n % 4 == 0 ? static_cast<int>(random() % 2) : examples.labels[n - 1];
    const std::vector<float> code = support::random_floats(kWide, 900 + n / 4);
    codes.insert(codes.end(), code.begin(), code.end());
  }
  const auto accuracy = [&](const std::vector<std::int64_t>& groups) {
    const std::vector<int> fold = grouped_folds(groups, examples.labels, 4, 1);
    const auto predicted = cross_validate(codes, kWide, examples.labels, groups, fold);
    return score_folds(predicted, examples.labels, fold, examples.all).accuracy;
  };
  const std::vector<std::int64_t> each_alone(examples.all.begin(), examples.all.end());
  EXPECT_GT(accuracy(each_alone), 0.95);
  EXPECT_LT(accuracy(examples.groups), 0.75);
}

TEST(ProbeTest, FoldsThatLeakAreRefused) {
  const NoiseExamples examples(80);
  std::vector<int> fold = grouped_folds(examples.groups, examples.labels, 4, 1);
  fold[17] = (fold[17] + 1) % 4;
  EXPECT_THROW(cross_validate(examples.features, kDim, examples.labels, examples.groups, fold), engine::Error);
}

TEST(ProbeTest, FeaturesThatSayNothingGiveTheChanceAccuracyExactly) {
  NoiseExamples examples(400);
  std::fill(examples.features.begin(), examples.features.end(), 0.1F);
  EXPECT_EQ(examples.score().accuracy, 0.5);
  for (std::size_t n = 0; n < examples.labels.size(); ++n) examples.labels[n] = n % 7 < 3 ? 1 : 0;
  const std::vector<int> fold = grouped_folds(examples.groups, examples.labels, 4, 1);
  const double chance = engine::chance_accuracy(examples.labels, fold);
  EXPECT_EQ(examples.score().accuracy, chance);
  EXPECT_NEAR(chance, 4.0 / 7, 0.02);
}

TEST(ProbeTest, ScoresAreMeansAndDeviationsOverFolds) {
  // Fold 0: 2 of 2, fold 1: 1 of 2, fold 2: 0 of 1; example 5 is not asked about.
  const FoldScore score = score_folds({1, 0, 1, 1, 0, 1}, {1, 0, 1, 0, 1, 0}, {0, 0, 1, 1, 2, 2}, {0, 1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(score.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(score.spread, 0.5);
}

/// Token 1 or 2 stands for the label, noise follows; one group for two prompts that differ in the label alone.
std::vector<ProbePrompt> labelled_prompts(std::int64_t groups) {
  std::vector<ProbePrompt> prompts;
  for (std::int64_t group = 0; group < groups; ++group) {
    for (int label = 0; label < 2; ++label) {
      std::vector<std::int32_t> tokens = {static_cast<std::int32_t>(1 + label)};
      const std::int64_t noise = 1 + group % 2;
      for (const std::int32_t token : support::random_tokens(noise, 8, static_cast<std::uint64_t>(group))) {
        tokens.push_back(3 + token);
      }
      tokens.push_back(0);
      prompts.push_back({tokens, label, group, noise});
    }
  }
  return prompts;
}

class ModelProbeTest : public ::testing::Test {
 protected:
  static engine::ModelConfig config() {
    engine::ModelConfig config = support::tiny_config();
    config.dim = 16;
    config.ffn = 24;
    return config;
  }
  ProbeReport probe(const std::vector<ProbePrompt>& prompts, const engine::ProbeSettings& settings = {}) {
    return run_probe(*test_.backend, test_.parameters, prompts, {{}, 1, 2}, settings);
  }

  TestModel test_{config()};
};

TEST_F(ModelProbeTest, TheLayerZeroInputTellsNothingInStandardAndTheLabelWithFeedback) {
  const ProbeReport report = probe(labelled_prompts(100));
  ASSERT_EQ(report.curves.size(), 5U);
  EXPECT_EQ(report.examples, 200);
  EXPECT_EQ(report.groups, 100);
  EXPECT_EQ(report.chance, 0.5);
  for (const engine::ProbeCurve& curve : report.curves) {
    ASSERT_EQ(curve.by_depth.size(), 3U);
    const bool standard = curve.condition.recurrent == 0;
    if (standard) {
      EXPECT_EQ(curve.by_depth[0].accuracy, 0.5);
      EXPECT_EQ(curve.by_depth[0].spread, 0.0);
    } else {
      EXPECT_GT(curve.by_depth[0].accuracy, 0.9) << curve.condition.name;
    }
    EXPECT_GT(curve.by_depth[2].accuracy, 0.9) << curve.condition.name;
    EXPECT_EQ(curve.swap.has_value(), !standard);
  }
}

TEST_F(ModelProbeTest, ShuffledLabelsAreChanceAtEveryDepth) {
  std::vector<ProbePrompt> prompts = labelled_prompts(200);
  std::mt19937_64 random(11);
  for (std::size_t n = 0; n < prompts.size(); n += 2) {
    prompts[n].label = static_cast<int>(random() % 2);
    prompts[n + 1].label = 1 - prompts[n].label;
  }
  for (const engine::ProbeCurve& curve : probe(prompts).curves) {
    for (const FoldScore& score : curve.by_depth) EXPECT_NEAR(score.accuracy, 0.5, 5 * 0.5 / std::sqrt(200.0));
  }
}

TEST_F(ModelProbeTest, SlicesSplitTheExamplesOfOneProbe) {
  const ProbeReport report = probe(labelled_prompts(60));
  for (const engine::ProbeCurve& curve : report.curves) {
    ASSERT_EQ(curve.slices.size(), 2U);
    EXPECT_EQ(curve.slices[0].value, 1);
    EXPECT_EQ(curve.slices[0].examples + curve.slices[1].examples, 120);
    ASSERT_EQ(curve.slices[1].by_depth.size(), 3U);
    const double mean = (curve.slices[0].by_depth[2].accuracy + curve.slices[1].by_depth[2].accuracy) / 2;
    EXPECT_NEAR(mean, curve.by_depth[2].accuracy, 0.05);
  }
}

TEST_F(ModelProbeTest, SwapsCountOnlyExchangedStatesAndKnowTheirRows) {
  const ProbeReport report = probe(labelled_prompts(60));
  const engine::ProbeCurve& curve = report.curves[1];
  EXPECT_EQ(curve.answers.rows, 60);
  EXPECT_EQ(curve.answers.counts, 120);
  EXPECT_EQ(curve.swap->same_label.counts, 120);
  EXPECT_EQ(curve.swap->follows_other.counts, 120);
  EXPECT_GT(curve.answers.error, 0.0);
}

TEST_F(ModelProbeTest, ProgressReachesItsTotalAndAStopIsObeyed) {
  const std::vector<ProbePrompt> prompts = labelled_prompts(20);
  std::int64_t last = 0;
  std::int64_t total = 0;
  run_probe(*test_.backend, test_.parameters, prompts, {{}, 1, 2}, {}, [&](std::int64_t done, std::int64_t all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  });
  EXPECT_EQ(last, total);
  EXPECT_GT(total, 0);
  std::stop_source source;
  const auto stop_at_once = [&](std::int64_t, std::int64_t) { source.request_stop(); };
  EXPECT_THROW(run_probe(*test_.backend, test_.parameters, prompts, {{}, 1, 2}, {}, stop_at_once, source.get_token()),
               engine::Cancelled);
}

}  // namespace
