#include "engine/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace {

using engine::ConfigError;
using engine::ModelConfig;
using nlohmann::json;

TEST(ModelConfig, EveryMemberSurvivesTheRoundTrip) {
  // Each value differs from its default, so that a member left out on either side shows.
  const json object = {{"vocab", 100},
                       {"dim", 96},
                       {"layers", 7},
                       {"heads", 6},
                       {"kv_heads", 3},
                       {"ffn", 11},
                       {"fusion", "concat"},
                       {"norm_reading", "listing3"},
                       {"state_tap", "pre_norm"},
                       {"qk_norm", false},
                       {"sandwich_norm", true},
                       {"head_gate", true},
                       {"window", 9},
                       {"full_every", 2},
                       {"depth_scale", false},
                       {"tied", false},
                       {"rope_base", 500.5}};
  const json defaults = to_json(ModelConfig{});
  ASSERT_EQ(defaults.size(), object.size());
  for (const auto& [name, value] : object.items()) {
    EXPECT_NE(defaults.at(name), value) << name;
  }
  const ModelConfig config = engine::model_config_from_json(object);
  EXPECT_EQ(to_json(config), object);
  EXPECT_EQ(engine::model_config_from_json(to_json(config)), config);
}

TEST(ModelConfig, MissingMembersKeepTheirDefaults) {
  const ModelConfig config = engine::model_config_from_json({{"dim", 32}});
  EXPECT_EQ(config.dim, 32);
  EXPECT_TRUE(config.qk_norm);
}

/// The field that reading or checking complains of, "" if none.
std::string bad_field(const json& object) {
  try {
    engine::model_config_from_json(object).validate();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith(error.field() + ": "));
    return error.field();
  }
  return "";
}

TEST(ModelConfig, WrongMembersAreNamed) {
  EXPECT_EQ(bad_field({{"dim", "64"}}), "model.dim");
  EXPECT_EQ(bad_field({{"dim", 64.5}}), "model.dim");
  EXPECT_EQ(bad_field({{"dim", nullptr}}), "model.dim");
  EXPECT_EQ(bad_field({{"dim", 1e300}}), "model.dim");
  EXPECT_EQ(bad_field({{"dim", 18446744073709551615U}}), "model.dim");
  EXPECT_EQ(bad_field({{"tied", 1}}), "model.tied");
  EXPECT_EQ(bad_field({{"fusion", "gated"}}), "model.fusion");
  EXPECT_EQ(bad_field({{"fusion", 3}}), "model.fusion");
  EXPECT_EQ(bad_field({{"rope_base", 1e39}}), "model.rope_base");
  EXPECT_EQ(bad_field({{"hedas", 4}}), "model.hedas");
  EXPECT_EQ(bad_field(json::array()), "model");
  EXPECT_EQ(bad_field({{"dim", 64.0}}), "");
}

TEST(ModelConfig, UnknownMembersSuggestTheNearestName) {
  try {
    engine::model_config_from_json({{"hedas", 4}});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean \"heads\""));
  }
}

TEST(ModelConfig, ImpossibleSizesAreNamed) {
  EXPECT_EQ(bad_field({{"dim", 66}}), "model.dim");
  EXPECT_EQ(bad_field({{"kv_heads", 3}}), "model.heads");
  EXPECT_EQ(bad_field({{"kv_heads", 8}}), "model.kv_heads");
  EXPECT_EQ(bad_field({{"dim", 12}}), "model.heads");  // three numbers a head cannot be rotated in pairs
  EXPECT_EQ(bad_field({{"window", -1}}), "model.window");
  EXPECT_EQ(bad_field({{"full_every", -1}}), "model.full_every");
  EXPECT_EQ(bad_field({{"layers", 0}}), "model.layers");
  EXPECT_EQ(bad_field({{"heads", 0}}), "model.heads");
  EXPECT_EQ(bad_field({{"kv_heads", 0}}), "model.kv_heads");
  EXPECT_EQ(bad_field({{"ffn", 0}}), "model.ffn");
  EXPECT_EQ(bad_field({{"vocab", 1}}), "model.vocab");
  EXPECT_EQ(bad_field({{"dim", 9000000000000000000}}), "model.dim");
  EXPECT_EQ(bad_field({{"rope_base", 0}}), "model.rope_base");
  EXPECT_EQ(bad_field(json::object()), "");
}

TEST(ModelConfig, NotANumberIsRefusedWithoutAFile) {
  ModelConfig config;
  config.rope_base = std::nanf("");
  EXPECT_THROW(config.validate(), ConfigError);
}

TEST(ModelConfig, BranchScale) {
  ModelConfig config;
  config.layers = 8;
  EXPECT_FLOAT_EQ(config.branch_scale(), 0.25F);
  config.depth_scale = false;
  EXPECT_FLOAT_EQ(config.branch_scale(), 1.0F);
}

TEST(ModelConfig, WindowLeavesEveryNthLayerFull) {
  ModelConfig config;
  config.window = 4;
  config.full_every = 3;
  std::vector<bool> full;
  for (std::int64_t layer = 0; layer < 6; ++layer) {
    full.push_back(config.layer_is_full(layer));
  }
  EXPECT_EQ(full, (std::vector<bool>{false, false, true, false, false, true}));
}

}  // namespace
