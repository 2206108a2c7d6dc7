// The verb lengths: state tracking on rows longer than the trained ones.
#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using LengthsTest = CliTest;

TEST_F(LengthsTest, GivesEveryDigitOfEveryReading) {
  const std::string run_folder = tiny_run(
      "run", 4, {"--set", R"(data.tasks=[{"name": "running-sum", "supervision": "hidden", "max_length": 4}])"});
  const std::vector<std::string> arguments = {"lengths", "--run", run_folder, "--digits", "16", "--rows", "6"};
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const Printed printed = call(as_json);
  ASSERT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json result = printed.json();
  EXPECT_EQ(result["trained_digits"], 4);
  EXPECT_EQ(result["lengths"], nlohmann::json({4, 8, 16}));
  for (const char* reading : {"standard", "fused-1", "fused-8", "soft-1", "soft", "full"}) {
    SCOPED_TRACE(reading);
    const nlohmann::json& values = result["readings"][reading];
    ASSERT_EQ(values["accuracy"].size(), 16U);
    EXPECT_EQ(values["accuracy"][7], values["at_lengths"][1]);
  }
  EXPECT_TRUE(result["readings"]["soft"]["accuracy"][2].is_null()) << "within the plain prompt";
  EXPECT_EQ(result["readings"]["soft"]["accuracy"][3], result["readings"]["standard"]["accuracy"][3]);
  EXPECT_NE(call(arguments).out.find("held-out rows of 16 digits, trained on up to 4"), std::string::npos);
}

TEST_F(LengthsTest, NeedsARunWithHiddenTotals) {
  expect_refused(call({"lengths", "--run", tiny_run("run", 2)}), 2, "supervision \"hidden\"");
}

}  // namespace
}  // namespace app::cli
