#include "engine/run_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <cmath>
#include <csignal>
#include <ctime>
#include <fstream>

#include "engine/atomic_file.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "tests/support/file_limits.h"
#include "tests/support/sample_checkpoint.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using engine::FileError;
using engine::FormatError;
using engine::read_metrics;
using engine::RunSummary;
using engine::RunWriter;
using nlohmann::json;
using support::sample_checkpoint;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

json run_description() {
  return {{"recipe", {{"name", "demo"}, {"train", {{"steps", 200}}}}},
          {"norm_reading", "gain"},
          {"state_tap", "post_norm"}};
}

std::vector<std::int64_t> steps_of(const std::vector<json>& lines) {
  std::vector<std::int64_t> steps;
  for (const json& line : lines) {
    steps.push_back(line.at("step").get<std::int64_t>());
  }
  return steps;
}

std::vector<std::int64_t> steps_in(const fs::path& folder) {
  std::uint64_t offset = 0;
  return steps_of(read_metrics(folder, offset));
}

std::vector<std::int64_t> checkpoint_steps(const fs::path& folder, std::vector<std::string>* problems = nullptr) {
  std::vector<std::int64_t> steps;
  for (const engine::CheckpointEntry& entry : engine::list_checkpoints(folder, problems)) {
    steps.push_back(entry.step);
  }
  return steps;
}

void append_raw(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::app | std::ios::binary) << text;
}

TEST(RunWriter, CreatesARunWithAnIdOfItsOwn) {
  const support::TemporaryFolder folder;
  RunWriter::create(folder / "a", run_description());
  RunWriter::create(folder / "b" / "c", run_description());
  const json run = engine::read_run(folder / "a");
  EXPECT_EQ(run.at("recipe").at("name"), "demo");
  EXPECT_THAT(run.at("id").get<std::string>(), testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_NE(run.at("id"), engine::read_run(folder / "b" / "c").at("id"));
  EXPECT_THROW(RunWriter::create(folder / "a", run_description()), FileError);
  EXPECT_EQ(engine::read_run(folder / "a"), run);
}

TEST(RunWriter, KeepsTheNewestCheckpoints) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", run_description());
  for (const std::int64_t step : {10, 20, 30, 40}) {
    writer.write_checkpoint(step, sample_checkpoint(step), 2);
  }
  EXPECT_THAT(checkpoint_steps(folder / "r"), ElementsAre(30, 40));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "r" / "checkpoints"), fs::directory_iterator()), 2);
  EXPECT_EQ(engine::read_newest_checkpoint(folder / "r", false).state.at("step"), 40);
}

TEST(RunWriter, MergesMembersIntoTheDescription) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", run_description());
  writer.update_run({{"state", "done"}, {"result", std::nan("")}});
  const json run = engine::read_run(folder / "r");
  EXPECT_EQ(run.at("state"), "done");
  EXPECT_EQ(run.at("result"), "NaN");
  EXPECT_EQ(run.at("recipe").at("name"), "demo");
}

TEST(RunWriter, FilesStayInsideTheFolder) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", run_description());
  writer.write_file("probes.json", "{}");
  EXPECT_EQ(engine::read_file(folder / "r" / "probes.json"), "{}");
  for (const std::string& name : {std::string("../x"), std::string("a/b"), std::string(), std::string("..")}) {
    EXPECT_THROW(writer.write_file(name, "x"), FileError) << name;
  }
}

TEST(RunLock, ASecondWriterIsRefusedByTheIdOfTheFirst) {
  const support::TemporaryFolder folder;
  {
    const RunWriter writer = RunWriter::create(folder / "r", run_description());
    try {
      RunWriter::resume(folder / "r", 0);
      FAIL();
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("process " + std::to_string(getpid()) + " is training"));
    }
    EXPECT_EQ(engine::summarize_run(folder / "r").state, "training");
  }
  EXPECT_NO_THROW(RunWriter::resume(folder / "r", 0));
}

TEST(RunLock, AProcessThatDiedIsReplaced) {
  const support::TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const RunWriter writer = RunWriter::create(folder / "r", run_description());
    std::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_TRUE(fs::exists(folder / "r" / "lock"));
  EXPECT_EQ(engine::summarize_run(folder / "r").state, "stopped");
  EXPECT_THAT(engine::summarize_run(folder / "r").problem, HasSubstr("interrupted"));
  EXPECT_NO_THROW(RunWriter::resume(folder / "r", 0));
  EXPECT_FALSE(fs::exists(folder / "r" / "lock"));
}

TEST(RunLock, AnotherProcessWithTheSameIdIsNotTheOwner) {
  const support::TemporaryFolder folder;
  { RunWriter::create(folder / "r", run_description()); }
  append_raw(folder / "r" / "lock", "1 12345678901\n");  // process 1 lives, but did not start then
  EXPECT_EQ(engine::summarize_run(folder / "r").state, "stopped");
  EXPECT_NO_THROW(RunWriter::resume(folder / "r", 0));
}

TEST(Metrics, OneCutLastLineIsTolerated) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", run_description());
  writer.append_metrics({{"step", 1}, {"train/loss", 0.5}});
  writer.append_metrics({{"step", 2}, {"train/loss", std::nan("")}});
  append_raw(folder / "r" / "metrics.jsonl", "{\"step\": 3, \"tr");
  std::uint64_t offset = 0;
  const std::vector<json> lines = read_metrics(folder / "r", offset);
  EXPECT_THAT(steps_of(lines), ElementsAre(1, 2));
  EXPECT_TRUE(std::isnan(lines[1].at("train/loss").get<double>()));
  EXPECT_THAT(read_metrics(folder / "r", offset), IsEmpty());
  append_raw(folder / "r" / "metrics.jsonl", "ain/loss\": null}\n\n{\"step\": 4}");
  EXPECT_THAT(steps_of(read_metrics(folder / "r", offset)), ElementsAre(3, 4));
  append_raw(folder / "r" / "metrics.jsonl", "\n{\"step\": 5}\n");
  EXPECT_THAT(steps_of(read_metrics(folder / "r", offset)), ElementsAre(5));
  EXPECT_EQ(offset, fs::file_size(folder / "r" / "metrics.jsonl"));
}

TEST(Metrics, ABrokenLineInTheMiddleIsNamed) {
  const support::TemporaryFolder folder;
  engine::write_file_atomically(folder / "metrics.jsonl", "{\"step\": 1}\n{\"st\n{\"step\": 3}\n");
  std::uint64_t offset = 0;
  try {
    read_metrics(folder.path(), offset);
    FAIL();
  } catch (const FormatError& error) {
    EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl, byte 12"));
  }
}

TEST(Metrics, AFileThatWasCutIsReadAgain) {
  const support::TemporaryFolder folder;
  engine::write_file_atomically(folder / "metrics.jsonl", "{\"step\": 1}\n{\"step\": 2}\n");
  std::uint64_t offset = 0;
  read_metrics(folder.path(), offset);
  engine::write_file_atomically(folder / "metrics.jsonl", "{\"step\": 1}\n");
  EXPECT_THAT(steps_of(read_metrics(folder.path(), offset)), ElementsAre(1));
}

TEST(Resume, CutsMetricsPastTheCheckpointAndKeepsThemAside) {
  const support::TemporaryFolder folder;
  {
    RunWriter writer = RunWriter::create(folder / "r", run_description());
    for (int step = 1; step <= 5; ++step) {
      writer.append_metrics({{"step", step}});
    }
    append_raw(folder / "r" / "metrics.jsonl", "{\"ste");
  }
  {
    RunWriter writer = RunWriter::resume(folder / "r", 3);
    EXPECT_THAT(steps_in(folder / "r"), ElementsAre(1, 2, 3));
    EXPECT_EQ(engine::read_file(folder / "r" / "metrics-tail-1.jsonl"), "{\"step\":4}\n{\"step\":5}\n{\"ste");
    writer.append_metrics({{"step", 4}});
  }
  RunWriter::resume(folder / "r", 3);
  EXPECT_EQ(engine::read_file(folder / "r" / "metrics-tail-2.jsonl"), "{\"step\":4}\n");
  RunWriter::resume(folder / "r", 3);  // nothing to cut
  EXPECT_FALSE(fs::exists(folder / "r" / "metrics-tail-3.jsonl"));
  EXPECT_THAT(steps_in(folder / "r"), ElementsAre(1, 2, 3));
}

TEST(Resume, SetsLaterCheckpointsAsideAndClearsLeftovers) {
  const support::TemporaryFolder folder;
  const fs::path checkpoints = folder / "r" / "checkpoints";
  {
    RunWriter writer = RunWriter::create(folder / "r", run_description());
    for (const std::int64_t step : {100, 150, 170}) {
      writer.write_checkpoint(step, sample_checkpoint(step), 9);
    }
    fs::remove(checkpoints / "step-00000170" / "DONE");
    fs::create_directory(checkpoints / ".tmp-step-00000180");
  }
  RunWriter writer = RunWriter::resume(folder / "r", 100);
  EXPECT_THAT(checkpoint_steps(folder / "r"), ElementsAre(100));
  EXPECT_TRUE(fs::exists(checkpoints / "step-00000150.aside-1" / "DONE"));
  EXPECT_FALSE(fs::exists(checkpoints / "step-00000170"));
  EXPECT_FALSE(fs::exists(checkpoints / ".tmp-step-00000180"));
  writer.write_checkpoint(150, sample_checkpoint(151), 9);
  EXPECT_EQ(engine::read_newest_checkpoint(folder / "r", false).state.at("step"), 151);
}

TEST(Checkpoints, BrokenOnesAreSkippedWithAMessage) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", run_description());
  for (const std::int64_t step : {1, 2, 3, 4}) {
    writer.write_checkpoint(step, sample_checkpoint(step), 9);
  }
  const fs::path checkpoints = folder / "r" / "checkpoints";
  fs::remove(checkpoints / "step-00000004" / "DONE");
  // Same size, other bytes: only the hash can tell.
  std::string model = engine::read_file(checkpoints / "step-00000003" / "model.safetensors");
  model.back() = static_cast<char>(model.back() ^ 1);
  engine::write_file_atomically(checkpoints / "step-00000003" / "model.safetensors", model);
  std::vector<std::string> problems;
  EXPECT_THAT(checkpoint_steps(folder / "r", &problems), ElementsAre(1, 2, 3));
  EXPECT_THAT(problems, ElementsAre(HasSubstr("step-00000004")));
  problems.clear();
  EXPECT_EQ(engine::read_newest_checkpoint(folder / "r", true, &problems).state.at("step"), 2);
  EXPECT_THAT(problems, ElementsAre(HasSubstr("step-00000004"), HasSubstr("step-00000003")));
}

TEST(Checkpoints, WhenNoneReadsTheNewestSaysWhy) {
  const support::TemporaryFolder folder;
  {
    RunWriter writer = RunWriter::create(folder / "r", run_description());
    for (const int step : {1, 2}) writer.write_checkpoint(step, sample_checkpoint(step));
  }
  fs::remove(folder / "r" / "checkpoints" / "step-00000001" / "DONE");
  const fs::path model = folder / "r" / "checkpoints" / "step-00000002" / "model.safetensors";
  for (const std::uintmax_t bytes : {fs::file_size(model) / 2, std::uintmax_t{3}, std::uintmax_t{0}}) {
    fs::resize_file(model, bytes);
    try {
      engine::read_newest_checkpoint(folder / "r", false);
      FAIL();
    } catch (const FileError& error) {
      EXPECT_THAT(error.what(), HasSubstr("has no complete checkpoint: " + model.string() + ": "));
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
}

TEST(Checkpoints, NoneIsAFileError) {
  const support::TemporaryFolder folder;
  RunWriter::create(folder / "r", run_description());
  EXPECT_THROW(engine::read_newest_checkpoint(folder / "r", false), FileError);
  EXPECT_THROW(engine::read_newest_checkpoint(folder / "nothing", false), FileError);
}

TEST(Checkpoints, AnotherNormReadingOrStateTapIsRefused) {
  for (const char* key : {"norm_reading", "state_tap"}) {
    const support::TemporaryFolder folder;
    RunWriter writer = RunWriter::create(folder / "r", run_description());
    writer.write_checkpoint(1, sample_checkpoint(1));
    const fs::path checkpoint = folder / "r" / "checkpoints" / "step-00000001";
    EXPECT_NO_THROW(engine::read_checkpoint(checkpoint, true));
    writer.update_run({{key, std::string(key) == "state_tap" ? "pre_norm" : "unit"}});
    try {
      engine::read_checkpoint(checkpoint, true);
      FAIL();
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr(key));
    }
  }
}

TEST(Summary, SaysStateAndProgress) {
  const support::TemporaryFolder folder;
  {
    RunWriter writer = RunWriter::create(folder / "r", run_description());
    writer.append_metrics({{"step", 41}});
    writer.append_metrics({{"step", 42}, {"text", std::string(100'000, 'x')}});
    writer.append_metrics({{"step", 43}});
    append_raw(folder / "r" / "metrics.jsonl", "{\"step\": 44, ");
    writer.update_run({{"state", "done"}});
    EXPECT_EQ(engine::summarize_run(folder / "r").state, "training");
  }
  const RunSummary summary = engine::summarize_run(folder / "r");
  EXPECT_EQ(summary.state, "done");
  EXPECT_EQ(summary.name, "demo");
  EXPECT_EQ(summary.step, 43);
  EXPECT_EQ(summary.total_steps, 200);
  EXPECT_EQ(summary.id, engine::read_run(folder / "r").at("id"));
  EXPECT_EQ(summary.problem, "");
}

TEST(Summary, ABrokenRunIsListedWithItsProblem) {
  const support::TemporaryFolder folder;
  for (const char* text : {"", "{", "[]", "{\"recipe\": 3, \"id\": 4, \"state\": []}"}) {
    engine::write_file_atomically(folder / "run.json", text);
    const RunSummary summary = engine::summarize_run(folder.path());
    EXPECT_NE(summary.state, "done") << text;
    EXPECT_NE(summary.problem, "") << text;
  }
}

TEST(Summary, ThreeHundredRunsListFast) {
  const support::TemporaryFolder folder;
  std::string metrics;
  for (int step = 1; step <= 2000; ++step) {
    metrics += R"({"step":)" + std::to_string(step) + R"(,"train/loss":0.123456789,"lr":0.002})" + "\n";
  }
  for (int i = 0; i < 300; ++i) {
    const fs::path run = folder / ("run-" + std::to_string(i));
    fs::create_directory(run);
    std::ofstream(run / "run.json") << run_description().dump();
    std::ofstream(run / "metrics.jsonl") << metrics;
  }
  fs::create_directory(folder / "no-run");
  const std::clock_t start = std::clock();  // of this process, whatever else the machine does
  const std::vector<fs::path> runs = engine::find_runs(folder.path());
  for (const fs::path& run : runs) {
    EXPECT_EQ(engine::summarize_run(run).step, 2000);
  }
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_THAT(runs, SizeIs(300));
  EXPECT_LT(seconds, 0.5);
  EXPECT_THAT(engine::find_runs(folder / "nothing"), IsEmpty());
}

TEST(Folders, NonAsciiNamesWorkInEveryLocale) {
  const support::TemporaryFolder folder;
  const fs::path run = folder / "模型 ünï" / "läuft 🙂";
  std::setlocale(LC_ALL, "C");
  {
    RunWriter writer = RunWriter::create(run, run_description());
    writer.append_metrics({{"step", 1}});
    writer.write_checkpoint(1, sample_checkpoint(1));
  }
  EXPECT_EQ(engine::read_newest_checkpoint(run, true).state.at("step"), 1);
  EXPECT_EQ(engine::summarize_run(run).step, 1);
  EXPECT_THAT(engine::find_runs(run.parent_path()), ElementsAre(run));
}

TEST(Folders, AReadOnlyFolderIsAFileError) {
  const support::TemporaryFolder folder;
  { RunWriter::create(folder / "r", run_description()); }
  const support::ReadOnlyFolder read_only(folder / "r");
  EXPECT_THROW(RunWriter::resume(folder / "r", 0), FileError);
  EXPECT_THROW(RunWriter::create(folder / "r" / "inner", run_description()), FileError);
  EXPECT_EQ(engine::summarize_run(folder / "r").name, "demo");
}

}  // namespace
