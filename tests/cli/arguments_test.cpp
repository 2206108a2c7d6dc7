#include <gmock/gmock.h>

#include "tests/cli/cli_fixture.h"

namespace app::cli {
namespace {

using ArgumentsTest = CliTest;

TEST_F(ArgumentsTest, NoVerbUnknownVerbAndUnknownOptionAreBadArguments) {
  expect_refused(call({}), 2, "a verb is required");
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

/// What a refusal says behind the program's name.
std::string sentence(const Printed& printed) {
  EXPECT_EQ(printed.code, 2) << printed.err;
  EXPECT_EQ(printed.out, "");
  const std::string name = "fullband-cli: ";
  EXPECT_EQ(printed.err.substr(0, name.size()), name);
  return printed.err.substr(name.size());
}

TEST_F(ArgumentsTest, NumbersOutOfRangeAreToldTheRange) {
  const auto refused = [](std::vector<std::string> arguments) { return sentence(call(std::move(arguments))); };
  EXPECT_EQ(refused({"evaluate", "--rows", "-4"}),
            "--rows: must be a whole number from 1 to 1000000, not -4 (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--rows", "99999999999"}),
            "--rows: must be a whole number from 1 to 1000000, not 99999999999 (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--rows", "1.5"}),
            "--rows: must be a whole number from 1 to 1000000, not 1.5 (see --help)\n");
  EXPECT_EQ(refused({"rollout", "--prompt", "x", "--max-tokens", "99999999999999999999"}),
            "--max-tokens: must be a whole number from 0 to 1000000, not 99999999999999999999 (see --help)\n");
  EXPECT_EQ(refused({"rollout", "--prompt", "x", "--top-p", "0"}),
            "--top-p: must be a number above 0 and at most 1, not 0 (see --help)\n");
  EXPECT_EQ(refused({"rollout", "--prompt", "x", "--top-k", "-1"}),
            "--top-k: must be a whole number from 0 to 1000000, not -1 (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--temperature", "-1"}),
            "--temperature: must be a number of at least 0, not -1 (see --help)\n");
  EXPECT_EQ(refused({"gate", "--temperatures", "1,inf"}),
            "--temperatures: must be a number above 0, not inf (see --help)\n");
  EXPECT_EQ(refused({"train", "--recipe", "demo", "--out", path("run"), "--threads", "-1"}),
            "--threads: must be a whole number from 0 to 4096, not -1 (see --help)\n");
  EXPECT_EQ(refused({"bench", "--dim", "-4"}),
            "--dim: must be a whole number from 1 to 1000000, not -4 (see --help)\n");
  EXPECT_EQ(refused({"reproduce", "--seeds", "x"}),
            "--seeds: must be a whole number from 0 to 18446744073709551615, not x (see --help)\n");
}

TEST_F(ArgumentsTest, WhatDoesNotBelongIsNamedInPlainWords) {
  const auto refused = [](std::vector<std::string> arguments) { return sentence(call(std::move(arguments))); };
  EXPECT_EQ(refused({"rollout", "--rows", "-4", "--prompt", "x"}),
            "--rows is no option or argument here (see --help)\n");
  EXPECT_EQ(refused({"rollout", "--prompt"}), "--prompt: needs a value (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--rows", "1", "--rows", "2"}), "--rows: is given more than once (see --help)\n");
  EXPECT_EQ(refused({"probe", "--task", "sums"}),
            "--task: must be completion, memory, registers or overwrites, not sums (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--jsonl", "/dev/null", "--task", "memory"}),
            "--task and --jsonl exclude each other (see --help)\n");
  for (const char* option : {"--recipe", "--seed"}) {
    EXPECT_THAT(refused({"train", "--resume", "--out", path("run"), option, "1"}), testing::HasSubstr("--resume"));
  }
  EXPECT_EQ(refused({"evaluate", "--jsonl", path("no.jsonl")}),
            "--jsonl: there is no file " + path("no.jsonl") + " (see --help)\n");
  EXPECT_EQ(refused({"evaluate", "--jsonl", path("")}),
            "--jsonl: " + path("") + " is a folder; name a file (see --help)\n");
}

TEST_F(ArgumentsTest, WhatOnlyTheModelRefusesNamesTheOption) {
  const auto refused = [](std::vector<std::string> arguments) { return sentence(call(std::move(arguments))); };
  EXPECT_EQ(refused({"reach", "--t", "4000"}).substr(0, 18), "--t: must be 1 to ");
  EXPECT_EQ(refused({"rollout", "--prompt", ""}), "--prompt: is empty; type at least one token\n");
  for (const char* verb : {"rollout", "reach", "rebuild"})
    EXPECT_EQ(refused({verb, "--prompt", "zebra"}).substr(0, 27), "--prompt: the text \"zebra\" ");
  EXPECT_EQ(refused({"evaluate", "--task", "sums"}).substr(0, 30), "--task: there is no task \"sums");
}

TEST_F(ArgumentsTest, ADeviceThatIsNotThereIsAWrongOption) {
  for (const char* device : {"foo", "cuda:x", "cuda:99"}) {
    SCOPED_TRACE(device);
    const std::string part = "--device: The device '" + std::string(device) + "'";
    expect_refused(call({"rollout", "--prompt", "state = one\n", "--device", device}), 2, part);
    expect_refused(call({"evaluate", "--rows", "1", "--device", device}), 2, part);
    expect_refused(call({"golden", FULLBAND_TEST_DIR "/golden", "--device", device}), 2, part);
    expect_refused(call({"train", "--recipe", "demo", "--device", device, "--out", path("run")}), 2, part);
  }
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(ArgumentsTest, TrainNeedsARecipeThatIsThereAndSettingsThatExist) {
  expect_refused(call({"train", "--out", path("run")}), 2, "--recipe");
  expect_refused(call({"train", "--recipe", "no-such", "--out", path("run")}), 2, "demo");
  expect_refused(call({"train", "--recipe", "demo", "--set", "train.speed=9", "--out", path("run")}), 2, "train.speed");
  expect_refused(call({"train", "--recipe", "demo", "--set", "model.heads=3", "--out", path("run")}), 2, "model.");
  expect_refused(call({"train", "--recipe", "demo", "--device", "cuda:7777", "--out", path("run")}), 2, "cuda:7777");
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
