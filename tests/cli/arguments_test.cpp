#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ArgumentsTest = CliTest;

TEST_F(ArgumentsTest, NoVerbUnknownVerbAndUnknownOptionAreBadArguments) {
  expect_refused(call({}), 2, "subcommand");
  expect_refused(call({"dance"}), 2, "dance");
  expect_refused(call({"info", "--colour", "red"}), 2, "--colour");
}

TEST_F(ArgumentsTest, HelpAndVersionGoToStandardOutput) {
  const Printed help = call({"--help"});
  EXPECT_EQ(help.code, 0);
  for (const char* verb : {"train", "rollout", "evaluate", "golden", "info"})
    EXPECT_NE(help.out.find(verb), std::string::npos);
  EXPECT_EQ(help.err, "");
  EXPECT_NE(call({"--version"}).out.find("fullband-cli "), std::string::npos);
}

TEST_F(ArgumentsTest, BadValuesAreRefusedByName) {
  expect_refused(call({"rollout", "--prompt", "x", "--mode", "loud"}), 2, "--mode");
  expect_refused(call({"rollout", "--prompt", "x", "--temperature", "nan"}), 2, "temperature");
  expect_refused(call({"rollout", "--prompt", "x", "--temperature", "-1"}), 2, "temperature");
  expect_refused(call({"rollout", "--prompt", "x", "--max-tokens", "-3"}), 2, "max-tokens");
  expect_refused(call({"rollout", "--prompt", "x", "--top-p", "2"}), 2, "top-p");
  expect_refused(call({"rollout", "--prompt", "x", "--seed", "many"}), 2, "seed");
  expect_refused(call({"rollout", "--prompt", "x", "--seed", "-1"}), 2, "seed");
  expect_refused(call({"evaluate", "--seed", "99999999999999999999"}), 2, "seed");
  expect_refused(call({"train", "--recipe", "demo", "--seed", "-1", "--out", path("run")}), 2, "seed");
  expect_refused(call({"gate", "--temperatures", "nan"}), 2, "temperatures");
  expect_refused(call({"evaluate", "--rows", "0"}), 2, "rows");
}

TEST_F(ArgumentsTest, TrainNeedsARecipeThatIsThereAndSettingsThatExist) {
  expect_refused(call({"train", "--out", path("run")}), 2, "--recipe");
  expect_refused(call({"train", "--recipe", "no-such", "--out", path("run")}), 2, "demo");
  expect_refused(call({"train", "--recipe", "demo", "--set", "train.speed=9", "--out", path("run")}), 2, "train.speed");
  expect_refused(call({"train", "--recipe", "demo", "--set", "model.heads=3", "--out", path("run")}), 2, "model.");
  expect_refused(call({"train", "--recipe", "demo", "--device", "cuda:7777", "--out", path("run")}), 1, "cuda:7777");
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(ArgumentsTest, ARunThatIsNotThereFails) {
  for (const char* verb : {"info", "evaluate"}) expect_refused(call({verb, "--run", path("nothing")}), 1, "nothing");
  expect_refused(call({"rollout", "--prompt", "x", "--run", path("nothing")}), 1, "nothing");
  expect_refused(call({"train", "--resume", "--out", path("nothing")}), 1, "nothing");
  expect_refused(call({"golden", path("nothing")}), 1, "nothing");
}

}  // namespace
}  // namespace app::cli
