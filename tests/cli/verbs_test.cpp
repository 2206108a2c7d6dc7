#include <fstream>

#include "tests/cli/cli_fixture.h"
#include "tests/support/file_limits.h"

namespace app::cli {
namespace {

using VerbsTest = CliTest;

nlohmann::json first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return nlohmann::json::parse(line);
}

constexpr const char* kGolden = FULLBAND_TEST_DIR "/golden";

TEST_F(VerbsTest, GoldenFilesPass) {
  const Printed printed = call({"golden", kGolden});
  EXPECT_EQ(printed.code, 0) << printed.out;
  EXPECT_NE(printed.out.find(" passed, 0 failed"), std::string::npos);
  EXPECT_NE(printed.out.find("grad.fusion.wu"), std::string::npos);
  EXPECT_NE(printed.out.find("% of the tolerance"), std::string::npos);
}

TEST_F(VerbsTest, AChangedGoldenFileFails) {
  const std::string name = "gate_gain.safetensors";
  std::filesystem::copy(std::string(kGolden) + "/" + name, path(name));
  {
    // The last bytes are the last of the inputs in name order: the tokens.
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-8, std::ios::end);
    const char token[8] = {7, 0, 0, 0, 0, 0, 0, 0};
    file.write(token, sizeof(token));
  }
  const Printed printed = call({"golden", path("")});
  EXPECT_EQ(printed.code, 1);
  EXPECT_NE(printed.out.find("FAILED"), std::string::npos);
  EXPECT_EQ(printed.out.find(" 0 failed"), std::string::npos);
}

TEST_F(VerbsTest, TheShippedModelIsDescribed) {
  const nlohmann::json info = call({"info", "--run", "demo", "--json"}).json();
  EXPECT_EQ(info["name"], "demo");
  EXPECT_EQ(info["step"], 2000);
  EXPECT_EQ(info["config"]["dim"], 64);
}

TEST_F(VerbsTest, TrainingWritesARunThatOtherVerbsRead) {
  const std::string run_folder = tiny_run("run", 6);
  const nlohmann::json info = call({"info", "--run", run_folder, "--json"}).json();
  EXPECT_EQ(info["step"], 6);
  EXPECT_EQ(info["config"]["dim"], 16);
  EXPECT_EQ(info["tensor_hash"].get<std::string>().size(), 16U);
  EXPECT_GT(info["parameters"].get<int>(), 1000);

  const Printed evaluated =
      call({"evaluate", "--run", run_folder, "--task", "memory", "--rows", "5", "--max-tokens", "4", "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  for (const char* mode : {"standard", "soft", "fused"}) {
    EXPECT_EQ(evaluated.json()["modes"][mode]["rows"], 5);
    EXPECT_LE(evaluated.json()["modes"][mode]["tokens_median"].get<double>(), 4);
  }
}

TEST_F(VerbsTest, SoftsFirstTokenIsStandards) {
  const std::string run_folder = tiny_run("run", 3);
  const nlohmann::json evaluated = call({"evaluate", "--run", run_folder, "--rows", "1", "--json"}).json();
  EXPECT_EQ(evaluated["task"], "completion");
  const Printed printed = call({"rollout", "--run", run_folder, "--prompt", "state = one\n", "--temperature", "1",
                                "--seed", "5", "--max-tokens", "8", "--json"});
  ASSERT_EQ(printed.code, 0) << printed.err;
  const nlohmann::json modes = printed.json()["modes"];
  EXPECT_EQ(modes["standard"]["tokens"][0]["id"], modes["soft"]["tokens"][0]["id"]);
  EXPECT_EQ(modes["standard"]["prefill_passes"], 1);
  EXPECT_EQ(modes["fused"]["prefill_passes"], 2);
}

TEST_F(VerbsTest, EvaluateReadsJsonLinesAndNamesABadLine) {
  const std::string run_folder = tiny_run("run", 1);
  std::ofstream(path("good.jsonl")) << R"({"prompt": "state = one\n", "answer": "one"})"
                                    << "\n";
  EXPECT_EQ(
      call({"evaluate", "--run", run_folder, "--task", path("good.jsonl"), "--json"}).json()["modes"]["soft"]["rows"],
      1);
  std::ofstream(path("bad.jsonl")) << R"({"prompt": "state = one\n", "answer": "one"})"
                                   << "\n{\"prompt\": 3}\n";
  expect_refused(call({"evaluate", "--run", run_folder, "--task", path("bad.jsonl")}), 1,
                 "bad.jsonl: line 2: needs the text member \"prompt\"");
  std::ofstream(path("broken.jsonl")) << "\n\n{\"prompt\": \"state\n";
  expect_refused(call({"evaluate", "--run", run_folder, "--jsonl", path("broken.jsonl")}), 1,
                 "broken.jsonl: line 3: syntax error");
  expect_refused(call({"evaluate", "--run", run_folder, "--jsonl", "/dev/null"}), 1,
                 "/dev/null: holds no prompt; write a line of JSON");
}

TEST_F(VerbsTest, AFileThatCannotBeWrittenIsToldBeforeTheWork) {
  // So many rows take hours: the refusal does not wait for them.
  const auto refused = [&](const std::string& file) { return call({"evaluate", "--rows", "1000000", "--out", file}); };
  expect_refused(refused(path("none/x.jsonl")), 1,
                 path("none/x.jsonl") + ": cannot be written: there is no folder " + path("none") + "; make it first");
  expect_refused(refused(path("")), 1, path("") + ": is a folder; name a file");
  expect_refused(refused("/proc/x.jsonl"), 1, "/proc/x.jsonl: cannot be opened for writing");
}

TEST_F(VerbsTest, ADiskThatFillsUpCostsTheRecordsAndNotTheResult) {
  const std::string run_folder = tiny_run("run", 1);
  const support::FileSizeLimit full(100);
  const Printed printed = call({"evaluate", "--run", run_folder, "--rows", "4", "--out", path("x.jsonl"), "--json"});
  EXPECT_EQ(printed.code, 1);
  EXPECT_EQ(printed.json()["rows"], 4);
  EXPECT_NE(printed.err.find(path("x.jsonl") + ": cannot be written: "), std::string::npos) << printed.err;
  EXPECT_FALSE(std::filesystem::exists(path("x.jsonl")));
}

TEST_F(VerbsTest, ATrainingThatCannotFitSaysWhatIsLarge) {
  const auto refused = [&](const std::string& setting) {
    return call({"train", "--recipe", "demo", "--out", path("run"), "--set", setting});
  };
  expect_refused(refused("model.dim=262144"), 1, "lower model.dim, model.ffn or model.layers");
  expect_refused(refused("train.rows=10000000"), 1, "lower train.rows or data.seq");
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(VerbsTest, AnInterruptedRunResumedEndsLikeOneThatWasNot) {
  const std::string whole = tiny_run("whole", 8);
  // A longer recipe stopped at its first checkpoint, as a kill would leave it.
  const std::string broken = tiny_run("broken", 8, {"--set", "train.checkpoint_every=5"});
  std::filesystem::remove_all(broken + "/checkpoints/step-00000008");
  const Printed resumed = call({"train", "--resume", "--out", broken, "--threads", "1", "--json"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const auto hash = [&](const std::string& run_folder) {
    return call({"info", "--run", run_folder, "--json"}).json()["tensor_hash"].get<std::string>();
  };
  EXPECT_EQ(hash(whole), hash(broken));
}

TEST_F(VerbsTest, ABrokenCheckpointIsNamed) {
  const std::string run_folder = tiny_run("run", 8, {"--set", "train.checkpoint_every=5"});
  const auto cut_in_half = [](const std::string& file) {
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  };
  const std::string newest = run_folder + "/checkpoints/step-00000008/model.safetensors";
  cut_in_half(newest);
  // With an older one to go on from, the loss of the newest is said; without one nothing can be done.
  const Printed resumed = call({"train", "--resume", "--out", run_folder, "--threads", "1"});
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("skipped: " + newest + ": is cut off"), std::string::npos) << resumed.err;
  cut_in_half(newest);
  std::filesystem::remove_all(run_folder + "/checkpoints/step-00000005");
  for (const char* verb :
       {"info", "evaluate", "probe", "reach", "stability", "rebuild", "prefill", "gate", "lengths"}) {
    SCOPED_TRACE(verb);
    expect_refused(call({verb, "--run", run_folder}), 1, "has no complete checkpoint: " + newest + ": is cut off");
  }
  expect_refused(call({"train", "--resume", "--out", run_folder}), 1, newest + ": is cut off");
  cut_in_half(run_folder + "/run.json");
  expect_refused(call({"info", "--run", run_folder}), 1, run_folder + "/run.json: line ");
}

TEST_F(VerbsTest, AnyNameOfAFolderWillDo) {
  for (const char* name : {"with spaces", "Läufe und 世界", "two\nlines", "no utf-8 \xff\xfe", "-dash"}) {
    SCOPED_TRACE(name);
    const std::string run_folder = tiny_run(name, 1);
    EXPECT_EQ(call({"info", "--run", run_folder, "--json"}).json()["step"], 1);
  }
  expect_refused(call({"info", "--run", path("two\nlines") + "/none"}), 1, "cannot be read: No such file");
  expect_refused(call({"info", "--run", ""}), 2, "--run: must not be empty");
  expect_refused(call({"train", "--recipe", "demo", "--out", ""}), 2, "--out: must not be empty");
}

TEST_F(VerbsTest, APromptOutsideTheVocabularyIsQuoted) {
  const std::string run_folder = tiny_run("run", 1);
  expect_refused(call({"rollout", "--run", run_folder, "--prompt", "zebra"}), 2, "zebra");
  expect_refused(call({"rollout", "--run", run_folder, "--prompt", ""}), 2, "prompt");
}

TEST_F(VerbsTest, TheSeedDecidesTheFirstLoss) {
  const auto first_loss = [&](const std::string& name, const std::string& seed) {
    return first_line(tiny_run(name, 1, {"--seed", seed}) + "/metrics.jsonl")["train/loss"];
  };
  EXPECT_EQ(first_loss("a", "4"), first_loss("b", "4"));
  EXPECT_NE(first_loss("c", "5"), first_loss("d", "6"));
}

}  // namespace
}  // namespace app::cli
