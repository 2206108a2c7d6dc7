#include "app/rollout_report.h"

#include <gtest/gtest.h>

#include <QLocale>
#include <nlohmann/json.hpp>

#include "engine/json_io.h"

namespace {

using app::first_divergence;
using engine::Rollout;

Rollout make(const std::vector<std::int32_t>& ids) {
  Rollout rollout;
  for (const std::int32_t id : ids) {
    engine::RolloutToken token;
    token.id = id;
    token.bytes = std::string(1, static_cast<char>('a' + id));
    token.logprob = -0.1F;
    token.entropy = 1.5F;
    token.milliseconds = 0.25;
    rollout.tokens.push_back(token);
  }
  return rollout;
}

TEST(FirstDivergence, IsTheFirstTokenThatDiffers) {
  const Rollout a = make({1, 2, 3, 4});
  const Rollout b = make({1, 2, 5, 4});
  const Rollout shorter = make({1, 2});
  EXPECT_EQ(first_divergence({&a, &b}), 2U);
  EXPECT_EQ(first_divergence({&a, &a, &b}), 2U);
  EXPECT_EQ(first_divergence({&a, &shorter}), 2U) << "it parts where the shorter one ended";
  EXPECT_EQ(first_divergence({&a, &a}), std::nullopt);
  EXPECT_EQ(first_divergence({&a}), std::nullopt);
  EXPECT_EQ(first_divergence({}), std::nullopt);
}

TEST(RolloutReport, JsonAndCsvKeepEveryByteReadable) {
  Rollout rollout = make({0, 1});
  rollout.tokens[0].bytes = "\xF0\x9F";  // half of a character
  rollout.tokens[1].bytes = "\",\n";
  rollout.request.prompt = "1 + 1 =";
  app::ModelInfo model;
  model.name = "模型";
  model.step = 900;
  const auto json = app::rollouts_json(model, {rollout});
  EXPECT_EQ(json["rollouts"][0]["tokens"][0]["text"], "<0xF0><0x9F>");
  EXPECT_EQ(json["rollouts"][0]["token_count"], 2);
  EXPECT_EQ(json["rollouts"][0]["tokens"][0]["logprob"].dump(), "-0.1");
  EXPECT_NO_THROW(engine::dump_json(json));
  const std::string csv = app::rollouts_csv(model, {rollout});
  EXPECT_NE(csv.find("\"模型\",900,standard,1,1,0,\"<0xF0><0x9F>\",-0.1,1.5,0.25\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\"\"\",\n\""), std::string::npos) << "quotes are doubled: " << csv;
}

TEST(RolloutReport, NumbersDoNotFollowTheLocale) {
  QLocale::setDefault(QLocale(QLocale::German));
  const std::string csv = app::rollouts_csv({}, {make({1})});
  QLocale::setDefault(QLocale::c());
  EXPECT_NE(csv.find("-0.1,1.5,0.25"), std::string::npos) << csv;
}

TEST(StopStrings, AreLinesWithEscapes) {
  EXPECT_EQ(app::parse_stop_strings(""), std::vector<std::string>{});
  EXPECT_EQ(app::parse_stop_strings("\\n"), std::vector<std::string>{"\n"});
  EXPECT_EQ(app::parse_stop_strings("a\\tb\n\n\\\\n"), (std::vector<std::string>{"a\tb", "\\n"}));
  EXPECT_EQ(app::parse_stop_strings("end\\"), std::vector<std::string>{"end\\"});
}

}  // namespace
