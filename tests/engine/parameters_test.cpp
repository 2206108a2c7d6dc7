// Start values, storage and strict loading of parameters.
#include "engine/parameters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/error.h"
#include "tests/engine/support/test_model.h"

namespace {

using engine::FusionType;
using engine::HostTensor;
using engine::ModelConfig;
using engine::NormReading;

ModelConfig wide_config() {
  ModelConfig config;
  config.vocab = 200;
  config.dim = 64;
  config.layers = 2;
  config.heads = 4;
  config.kv_heads = 2;
  config.ffn = 96;
  config.sandwich_norm = config.head_gate = true;
  return config;
}

struct Statistics {
  double mean = 0, deviation = 0, largest = 0;
};

Statistics statistics(const std::vector<float>& values) {
  Statistics s;
  double squares = 0;
  for (const float v : values) {
    s.mean += static_cast<double>(v) / static_cast<double>(values.size());
    squares += static_cast<double>(v) * static_cast<double>(v) / static_cast<double>(values.size());
    s.largest = std::max(s.largest, static_cast<double>(std::abs(v)));
  }
  s.deviation = std::sqrt(squares - s.mean * s.mean);
  return s;
}

std::map<std::string, HostTensor> by_name(const std::vector<HostTensor>& tensors) {
  std::map<std::string, HostTensor> result;
  for (const HostTensor& t : tensors) result[t.name] = t;
  return result;
}

class StartValueTest : public ::testing::TestWithParam<FusionType> {};

TEST_P(StartValueTest, EachKindHasItsDistribution) {
  ModelConfig config = wide_config();
  config.fusion = GetParam();
  for (const HostTensor& t : engine::initial_parameters(config, 5)) {
    const Statistics s = statistics(t.values);
    SCOPED_TRACE(t.name);
    if (t.name == "input_norm.gain") {
      EXPECT_EQ(t.values, std::vector<float>(64, 0.05F));
    } else if (t.shape.size() == 1) {
      EXPECT_EQ(t.values, std::vector<float>(64, 1.0F));
    } else if (t.name == "embed.weight") {
      EXPECT_NEAR(s.deviation, 0.05, 0.002);
      EXPECT_GT(s.largest, 0.15) << "normal, not uniform";
    } else if (t.name.starts_with("fusion.")) {
      EXPECT_NEAR(s.deviation, 1 / 8.0, 0.005) << "1/sqrt(D)";
    } else {
      const double bound = 1 / std::sqrt(static_cast<double>(t.shape[1]));
      EXPECT_LE(s.largest, bound);
      EXPECT_GT(s.largest, 0.95 * bound);
      EXPECT_NEAR(s.deviation, bound / std::sqrt(3.0), 0.1 * bound);
    }
  }
}

TEST_P(StartValueTest, AnotherFusionLeavesEverythingElseAsItIs) {
  ModelConfig config = wide_config();
  const auto gate = by_name(engine::initial_parameters(config, 5));
  config.fusion = GetParam();
  for (const HostTensor& t : engine::initial_parameters(config, 5)) {
    if (!t.name.starts_with("fusion.")) {
      EXPECT_TRUE(t == gate.at(t.name)) << t.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fusions, StartValueTest,
                         ::testing::Values(FusionType::gate, FusionType::add, FusionType::concat),
                         [](const auto& fusion) { return to_string(fusion.param); });

TEST(StartValuesTest, DependOnTheSeedAndDifferBetweenTensors) {
  const auto first = engine::initial_parameters(wide_config(), 5);
  EXPECT_TRUE(engine::initial_parameters(wide_config(), 5) == first);
  const auto other = by_name(engine::initial_parameters(wide_config(), 6));
  std::set<std::vector<float>> beginnings;
  for (const HostTensor& t : first) {
    if (t.shape.size() == 1) continue;
    EXPECT_NE(t.values, other.at(t.name).values) << t.name;
    const float scale = *std::max_element(t.values.begin(), t.values.end());
    std::vector<float> beginning(t.values.begin(), t.values.begin() + 4);
    for (float& v : beginning) v = std::round(1000 * v / scale);
    EXPECT_TRUE(beginnings.insert(beginning).second) << t.name << " begins like another tensor";
  }
}

TEST(StartValuesTest, MoreLayersKeepTheFirstOnes) {
  ModelConfig config = wide_config();
  const auto small = engine::initial_parameters(config, 5);
  config.layers = 4;
  const auto large = by_name(engine::initial_parameters(config, 5));
  for (const HostTensor& t : small) EXPECT_TRUE(t == large.at(t.name)) << t.name;
}

TEST(LayoutTest, NamesAndShapesFollowTheConfiguration) {
  for (const auto& [name, config] : support::config_cases()) {
    std::set<std::string> names;
    std::int64_t end = 0;
    for (const auto& info : engine::parameter_layout(config)) {
      EXPECT_TRUE(names.insert(info.name).second) << name << ": " << info.name;
      EXPECT_GE(info.offset, end) << name << ": " << info.name << " overlaps";
      end = info.offset + info.size();
      EXPECT_EQ(info.is_gain(), info.name.ends_with("gain"));
    }
    EXPECT_EQ(engine::parameter_floats(engine::parameter_layout(config)), end);
    EXPECT_EQ(names.count("lm_head.weight"), config.tied ? 0U : 1U);
    EXPECT_EQ(names.count("blocks.1.attn.wgate"), config.head_gate ? 1U : 0U);
    EXPECT_EQ(names.count("blocks.0.mlp_out_norm.gain"), config.sandwich_norm ? 1U : 0U);
    EXPECT_EQ(names.count("fusion.wc"), config.fusion == FusionType::concat ? 1U : 0U);
    const bool gain = config.norm_reading == NormReading::gain || config.norm_reading == NormReading::listing3;
    EXPECT_EQ(names.count("input_norm.gain"), gain ? 1U : 0U);
  }
}

class LoadTest : public ::testing::Test {
 protected:
  std::string refusal(const std::vector<HostTensor>& tensors) {
    try {
      test_.parameters.load(tensors, "some file");
    } catch (const engine::FormatError& error) {
      return error.what();
    }
    return "taken";
  }
  support::TestModel test_{support::tiny_config()};
  std::vector<HostTensor> tensors_ = support::noisy_tensors(support::tiny_config(), 8);
};

TEST_F(LoadTest, WhatIsLoadedIsStored) {
  test_.parameters.load(tensors_, "some file");
  EXPECT_TRUE(test_.parameters.store() == tensors_);
  std::reverse(tensors_.begin(), tensors_.end());
  EXPECT_EQ(refusal(tensors_), "taken") << "the order does not matter";
}

TEST_F(LoadTest, MissingExtraAndMisshapedTensorsAreNamedAndNothingIsTaken) {
  const auto before = test_.parameters.store();
  auto changed = tensors_;
  changed.erase(changed.begin() + 3);
  EXPECT_EQ(refusal(changed), "some file: tensor " + tensors_[3].name + " is missing");
  changed = tensors_;
  changed.push_back({"blocks.7.attn.wq", {1, 1}, {0.0F}});
  EXPECT_NE(refusal(changed).find("blocks.7.attn.wq does not belong"), std::string::npos);
  changed = tensors_;
  changed[2].shape = {changed[2].shape[1], changed[2].shape[0]};
  changed[2].shape.push_back(1);
  EXPECT_NE(refusal(changed).find(tensors_[2].name + " has another shape"), std::string::npos);
  EXPECT_TRUE(test_.parameters.store() == before) << "a refused file must leave the parameters alone";
}

TEST_F(LoadTest, AnUnknownNameIsAnError) { EXPECT_THROW((void)test_.parameters.info("blocks.9.x"), engine::Error); }

}  // namespace
