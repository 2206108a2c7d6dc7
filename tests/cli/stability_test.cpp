#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using StabilityTest = CliTest;

TEST_F(StabilityTest, TheJsonHoldsEveryCurveWithItsUncertainty) {
  const Printed printed = call({"stability", "--passes", "60", "--rows", "8", "--json", "--by-position"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json result = printed.json();
  for (const char* name : {"loss", "loss_error", "loss_change", "exact_loss", "exact_standard_loss"})
    EXPECT_EQ(result[name].size(), 61U) << name;
  for (const char* name : {"update_all", "update_movable", "update_movable_error", "movable_positions"})
    EXPECT_EQ(result[name].size(), 60U) << name;
  EXPECT_EQ(result["rows"], 8);
  EXPECT_EQ(result["step"], 2000);
  EXPECT_EQ(result["trained_passes"], 3);
  EXPECT_LT(result["computed_passes"], 44);
  EXPECT_EQ(result["update_by_position"].size(), result["computed_passes"].get<std::size_t>());
  EXPECT_GE(result["update_movable"][0], result["update_all"][0]);
  EXPECT_EQ(result["movable_positions"][59], 0);
  EXPECT_EQ(result["update_all"][59], 0);
  EXPECT_EQ(result["exact_positions"][60], result["scored_positions"]);
  EXPECT_NEAR(result["exact_standard_loss"][60].get<double>(), result["loss"][0].get<double>(), 1e-9);
  for (std::size_t f = 1; f < 60; ++f)
    EXPECT_LE(result["movable_positions"][f].get<int>(), result["movable_positions"][f - 1].get<int>());
}

TEST_F(StabilityTest, RepeatsAreOtherRowsAndHaveASpread) {
  const auto run = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"stability", "--passes", "3", "--rows", "4", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Printed printed = call(arguments);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.json();
  };
  const nlohmann::json three = run({"--repeats", "3"});
  EXPECT_EQ(three["rows"], 12);
  EXPECT_LE(three["different_rows"], 12);
  EXPECT_GT(three["different_rows"], 4);
  EXPECT_GT(three["spread_over_repeats"]["loss"][3], 0);
  const nlohmann::json one = run({});
  EXPECT_TRUE(one["spread_over_repeats"]["loss"][3].is_null());
  EXPECT_EQ(one, run({}));
  EXPECT_NE(one["loss"], run({"--seed", "2"})["loss"]);
}

TEST_F(StabilityTest, TheTableEndsWithAVerdictInWords) {
  const Printed printed = call({"stability", "--passes", "100", "--rows", "8"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  for (const char* part : {"demo, step 2000, seed 1, 8 held-out rows", "nothing can move", "still move", "Standard"})
    EXPECT_NE(printed.out.find(part), std::string::npos) << printed.out;
}

TEST_F(StabilityTest, BadArgumentsAreNamed) {
  expect_refused(call({"stability", "--passes", "0"}), 2, "--passes");
  expect_refused(call({"stability", "--rows", "0"}), 2, "--rows");
  expect_refused(call({"stability", "--repeats", "0"}), 2, "--repeats");
  expect_refused(call({"stability", "--run", path("nothing")}), 1, "nothing");
}

}  // namespace
}  // namespace app::cli
