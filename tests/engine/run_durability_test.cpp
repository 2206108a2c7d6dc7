// A run survives what happens to programs: kills at any moment, full disks, readers that look while it writes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>

#include "engine/atomic_file.h"
#include "engine/checkpoint_file.h"
#include "engine/error.h"
#include "engine/run_store.h"
#include "tests/support/file_limits.h"
#include "tests/support/sample_checkpoint.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using engine::Checkpoint;
using engine::RunWriter;
using support::sample_checkpoint;

std::int64_t newest_step(const fs::path& folder) {
  const auto entries = engine::list_checkpoints(folder);
  return entries.empty() ? 0 : entries.back().step;
}

/// Whatever has DONE must be whole: readers other than ours may look for nothing else.
void expect_done_means_whole(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "checkpoints")) {
    const bool named = engine::checkpoint_step(entry.path().filename().string()).has_value();
    if (named && fs::exists(entry.path() / "DONE")) {
      EXPECT_NO_THROW(engine::read_checkpoint(entry.path(), true)) << entry.path();
    }
  }
}

/// Trains without end: metrics and checkpoints, each finished step told through the pipe.
[[noreturn]] void write_for_ever(const fs::path& folder, int report) {
  std::int64_t step = newest_step(folder);
  RunWriter writer = step == 0 && !fs::exists(folder / "run.json") ? RunWriter::create(folder, {{"name", "x"}})
                                                                   : RunWriter::resume(folder, step);
  while (true) {
    ++step;
    writer.append_metrics({{"step", step}});
    writer.write_checkpoint(step, sample_checkpoint(step));
    if (::write(report, &step, sizeof(step)) != sizeof(step)) {
      _exit(2);
    }
  }
}

/// Starts such a child, kills it `after` a while (counted from its first finished step if `wait_for_step`), and returns
/// the last step it said was safe.
std::int64_t run_and_kill(const fs::path& folder, std::chrono::microseconds after, bool wait_for_step) {
  int ends[2];
  if (::pipe(ends) != 0) {
    throw std::runtime_error("no pipe");
  }
  const pid_t child = fork();
  if (child == 0) {
    try {
      write_for_ever(folder, ends[1]);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      _exit(1);
    }
  }
  ::close(ends[1]);
  std::int64_t safe = 0;
  if (wait_for_step) {
    EXPECT_EQ(::read(ends[0], &safe, sizeof(safe)), static_cast<ssize_t>(sizeof(safe)));
  }
  std::this_thread::sleep_for(after);
  ::kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
  for (std::int64_t step = 0; ::read(ends[0], &step, sizeof(step)) == sizeof(step);) {
    safe = step;
  }
  ::close(ends[0]);
  return safe;
}

TEST(Durability, KillsNeverLoseAFinishedCheckpoint) {
  const support::TemporaryFolder folder;
  const fs::path run = folder / "run";
  std::mt19937_64 random(1);
  std::int64_t safe = 0;
  for (int i = 0; i < 40; ++i) {
    safe = std::max(safe, run_and_kill(run, std::chrono::microseconds(random() % 40'000), i % 2 == 0));
    if (safe == 0) {
      continue;
    }
    expect_done_means_whole(run);
    const Checkpoint newest = engine::read_newest_checkpoint(run, true);
    const auto step = newest.state.at("step").get<std::int64_t>();
    ASSERT_GE(step, safe);
    ASSERT_EQ(tensor_hash(newest.model), tensor_hash(sample_checkpoint(step).model));
    ASSERT_EQ(tensor_hash(newest.optim), tensor_hash(sample_checkpoint(step).optim));
    std::uint64_t offset = 0;
    const auto lines = engine::read_metrics(run, offset);
    ASSERT_FALSE(lines.empty());
    ASSERT_GE(lines.back().at("step").get<std::int64_t>(), step);
  }
  // All steps are there once, whatever was cut and written again.
  RunWriter::resume(run, newest_step(run));
  std::uint64_t offset = 0;
  std::int64_t expected = 0;
  for (const auto& line : engine::read_metrics(run, offset)) {
    ASSERT_EQ(line.at("step").get<std::int64_t>(), ++expected);
  }
  EXPECT_EQ(expected, newest_step(run));
  EXPECT_GE(expected, 20);
}

TEST(Durability, ReadersSeeWholeCheckpointsWhileTheTrainerPrunes) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", {{"name", "x"}});
  writer.write_checkpoint(1, sample_checkpoint(1));
  std::jthread trainer([&](const std::stop_token& stop) {
    for (std::int64_t step = 2; !stop.stop_requested(); ++step) {
      writer.write_checkpoint(step, sample_checkpoint(step));
    }
  });
  std::int64_t last = 1;
  for (int i = 0; i < 25; ++i) {
    const Checkpoint seen = engine::read_newest_checkpoint(folder / "r", true);
    const auto step = seen.state.at("step").get<std::int64_t>();
    ASSERT_EQ(tensor_hash(seen.model), tensor_hash(sample_checkpoint(step).model));
    ASSERT_GE(step, last);
    last = step;
  }
}

TEST(Durability, AFullDiskKeepsTheCheckpointAndTheMetrics) {
  const support::TemporaryFolder folder;
  RunWriter writer = RunWriter::create(folder / "r", {{"name", "x"}});
  writer.append_metrics({{"step", 1}});
  writer.write_checkpoint(1, sample_checkpoint(1), 1);
  const auto model_bytes = fs::file_size(folder / "r" / "checkpoints" / "step-00000001" / "model.safetensors");
  for (const std::uintmax_t limit : {std::uintmax_t{20}, std::uintmax_t{200}, model_bytes - 1}) {
    const support::FileSizeLimit full(limit);
    EXPECT_THROW(writer.write_checkpoint(2, sample_checkpoint(2), 1), engine::FileError);
    EXPECT_THROW(writer.append_metrics({{"step", 2}, {"text", std::string(limit, 'x')}}), engine::FileError);
    EXPECT_THROW(writer.update_run({{"text", std::string(limit, 'x')}}), engine::FileError);
  }
  EXPECT_EQ(engine::read_newest_checkpoint(folder / "r", true).state.at("step"), 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "r" / "checkpoints"), fs::directory_iterator()), 1);
  EXPECT_EQ(engine::read_file(folder / "r" / "metrics.jsonl"), "{\"step\":1}\n");
  EXPECT_EQ(engine::read_run(folder / "r").at("name"), "x");
  writer.append_metrics({{"step", 2}});
  writer.write_checkpoint(2, sample_checkpoint(2), 1);
  EXPECT_EQ(engine::read_newest_checkpoint(folder / "r", true).state.at("step"), 2);
}

}  // namespace
