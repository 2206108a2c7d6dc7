#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ReachTest = CliTest;

constexpr std::int64_t kPosition = 6;  // before it lie so many; on the command line it is t = 7

TEST_F(ReachTest, TheShippedModelShowsTheRectangleAndExactZeros) {
  const auto measured = [&](const std::string& mode, const std::string& plain, const std::string& layer) {
    const Printed printed = call(
        {"reach", "--t", std::to_string(kPosition + 1), "--layer", layer, "--mode", mode, "--plain", plain, "--json"});
    EXPECT_EQ(printed.code, 0) << printed.err;
    return printed.json();
  };
  const nlohmann::json soft = measured("soft", "1", "2");
  const auto layers = soft["influence"][0].size() - 1;
  EXPECT_EQ(soft["influence"].size(), soft["tokens"].size());
  EXPECT_EQ(soft["moving_cells"], kPosition * (static_cast<std::int64_t>(layers) + 1) + 2);
  EXPECT_EQ(soft["moving_cells"], soft["theory"]["latent_feedback"]);
  EXPECT_EQ(soft["step"], 2000);
  EXPECT_EQ(soft["t"], kPosition + 1);
  EXPECT_TRUE(soft["exact"]);
  EXPECT_GT(soft["influence"][0][layers], 0);
  EXPECT_GT(soft["influence"][kPosition - 1][layers], 0);
  EXPECT_EQ(soft["influence"][kPosition][2], 0);
  EXPECT_EQ(soft["influence"][kPosition + 1][0], 0);

  const nlohmann::json standard = measured("standard", "1", "2");
  EXPECT_EQ(standard["moving_cells"], (kPosition + 1) * 2);
  EXPECT_EQ(standard["influence"][0][2], 0);
  EXPECT_GT(standard["influence"][0][1], 0);

  const nlohmann::json prompted = measured("soft", "4", "2");
  EXPECT_EQ(prompted["influence"][0][layers], 0);
  EXPECT_GT(prompted["influence"][3][layers], 0);
  EXPECT_GT(measured("fused", "4", "2")["influence"][0][layers], 0);
}

TEST_F(ReachTest, TheTableNamesWhatItWasMeasuredOn) {
  const Printed printed = call({"reach", "--t", "4", "--mode", "standard"});
  EXPECT_EQ(printed.code, 0) << printed.err;
  for (const char* part : {"demo, step 2000, seed 1", "position 4, depth 4", "here", "theory: 16 in Standard"})
    EXPECT_NE(printed.out.find(part), std::string::npos) << printed.out;
}

TEST_F(ReachTest, BadArgumentsAreNamed) {
  expect_refused(call({"reach", "--t", "4000"}), 2, "--t: must be 1 to");
  expect_refused(call({"reach", "--t", "0"}), 2, "--t: must be a whole number from 1");
  expect_refused(call({"reach", "--layer", "5"}), 2, "--layer: must be 0 to 4");
  expect_refused(call({"reach", "--plain", "0"}), 2, "--plain");
  expect_refused(call({"reach", "--plain", "4000"}), 2, "--plain: must be 1 to");
  expect_refused(call({"reach", "--mode", "all"}), 2, "--mode");
  expect_refused(call({"reach", "--prompt", "zebra"}), 2, "zebra");
  expect_refused(call({"reach", "--run", path("nothing")}), 1, "nothing");
}

}  // namespace
}  // namespace app::cli
