#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ProbeVerbTest = CliTest;

TEST_F(ProbeVerbTest, TheShippedModelReportsEveryConditionAndDepth) {
  const Printed printed = call({"probe", "--examples", "160", "--json"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json report = printed.json();
  EXPECT_EQ(report["task"], "completion");
  EXPECT_EQ(report["chance"], 0.5);
  EXPECT_EQ(report["groups"].get<int>() * 16, report["examples"].get<int>()) << "4 assignments x 4 trained lengths";
  EXPECT_EQ(report["step"], 2000);
  EXPECT_TRUE(report["trained_on_task"].get<bool>());
  EXPECT_TRUE(report["fits_trained_rows"].get<bool>());
  for (const char* condition : {"standard", "recurrent-1", "recurrent-2", "recurrent-4", "full"}) {
    const nlohmann::json& curve = report["conditions"][condition];
    EXPECT_EQ(curve["accuracy"].size(), 5U) << condition;
    EXPECT_EQ(curve["spread"].size(), 5U) << condition;
    EXPECT_EQ(curve["by_distractors"].size(), 4U) << condition;
    EXPECT_EQ(curve["model_answers_right"]["rows"], report["groups"]) << condition;
    EXPECT_EQ(curve["swap"].is_null(), condition == std::string("standard"));
  }
  EXPECT_EQ(report["conditions"]["standard"]["accuracy"][0], 0.5);
  EXPECT_EQ(report["conditions"]["standard"]["spread"][0], 0.0);
}

/// The shipped model was trained with feedback: what the paper finds must be there.
TEST_F(ProbeVerbTest, OneRecurrentStepBringsTheStateToTheLayerZeroInput) {
  const Printed printed = call({"probe", "--task", "memory", "--examples", "320", "--distractors", "0,4", "--json"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json conditions = printed.json()["conditions"];
  EXPECT_EQ(conditions["standard"]["accuracy"][0], 0.5);
  EXPECT_GT(conditions["recurrent-1"]["accuracy"][0].get<double>(), 0.9);
}

TEST_F(ProbeVerbTest, TheSameSeedGivesTheSameNumbersAndText) {
  const std::vector<std::string> arguments = {"probe", "--task", "memory", "--examples", "64", "--seed", "3"};
  const Printed first = call(arguments);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, call(arguments).out);
  EXPECT_NE(first.out.find("demo, step 2000, seed 3"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("recurrent-4"), std::string::npos);
}

TEST_F(ProbeVerbTest, ARunThatDoesNotKnowTheTaskSaysSo) {
  expect_refused(call({"probe", "--task", "registers"}), 2, "not trained on registers");
}

TEST_F(ProbeVerbTest, BadArgumentsAreRefused) {
  expect_refused(call({"probe", "--task", "poetry"}), 2, "--task");
  expect_refused(call({"probe", "--distractors", "2,-1"}), 2, "--distractors");
  expect_refused(call({"probe", "--examples", "0"}), 2, "--examples");
  expect_refused(call({"probe", "--examples", "20"}), 2, "use more examples");
  expect_refused(call({"probe", "--run", path("missing")}), 1, "missing");
}

}  // namespace
}  // namespace app::cli
