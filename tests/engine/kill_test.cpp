// Training killed at random moments, again and again, ends as if it had never been stopped.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <thread>

#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

/// fullband-cli train in a process of its own, its output thrown away.
class TrainingProcess {
 public:
  explicit TrainingProcess(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {FULLBAND_CLI, "train"});
    std::vector<char*> raw;
    for (std::string& argument : arguments) raw.push_back(argument.data());
    raw.push_back(nullptr);
    id_ = fork();
    if (id_ != 0) return;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(FULLBAND_CLI, raw.data());
    _exit(127);
  }

  /// Waits for its end, or until `is_moment` says to kill it. True when it ended by itself, without an error.
  bool finished_unless(const std::function<bool()>& is_moment) {
    int status = 0;
    while (waitpid(id_, &status, WNOHANG) == 0) {
      if (is_moment()) {
        kill(id_, SIGKILL);
        waitpid(id_, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "exit status " << status;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  bool finished() {
    return finished_unless([] { return false; });
  }

 private:
  pid_t id_ = -1;
};

/// Lines of a run's metrics, one a step.
std::int64_t logged_steps(const fs::path& run) {
  std::ifstream file(run / "metrics.jsonl");
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

class KillTest : public ::testing::TestWithParam<engine::OptimizerType> {
 protected:
  support::TemporaryFolder folder_;
  fs::path recipe_file_ = folder_ / "recipe.json";

  std::vector<std::string> arguments(const fs::path& run) const {
    if (fs::exists(run / "run.json")) return {"--resume", "--out", run, "--device", "cpu"};
    return {"--recipe", recipe_file_, "--out", run, "--device", "cpu", "--seed", "5"};
  }
};

TEST_P(KillTest, KilledAtRandomMomentsItEndsWithTheSameTensors) {
  engine::Recipe recipe = support::tiny_recipe(GetParam());
  recipe.train.steps = 60;
  recipe.train.checkpoint_every = 4;
  std::ofstream(recipe_file_) << to_json(recipe);
  ASSERT_TRUE(TrainingProcess(arguments(folder_ / "whole")).finished());

  const fs::path run = folder_ / "killed";
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> steps(0, 9);
  std::uniform_int_distribution<std::int64_t> microseconds(0, 8000);
  int kills = 0;
  constexpr int kKills = 8;
  for (bool done = false; !done;) {
    // So many steps after it began, and a moment more: in a step, in a checkpoint or, the first time, before either.
    const std::int64_t wanted = logged_steps(run) + (kills == 0 ? 0 : 1 + steps(random));
    const std::chrono::microseconds more(microseconds(random));
    done = TrainingProcess(arguments(run)).finished_unless([&] {
      if (kills == kKills || logged_steps(run) < wanted) return false;
      std::this_thread::sleep_for(more);
      return true;
    });
    kills += done ? 0 : 1;
  }
  EXPECT_GE(kills, 3);

  const auto expected = engine::read_newest_checkpoint(folder_ / "whole", true);
  const auto got = engine::read_newest_checkpoint(run, true);
  EXPECT_EQ(got.state.at("step"), 60);
  EXPECT_EQ(engine::tensor_hash(got.model), engine::tensor_hash(expected.model));
  EXPECT_EQ(engine::tensor_hash(got.optim), engine::tensor_hash(expected.optim));
  EXPECT_EQ(got.state.at("token_equivalents"), expected.state.at("token_equivalents"));
  EXPECT_EQ(engine::read_run(run).at("state"), "done");
  std::uint64_t offset = 0;
  const auto lines = engine::read_metrics(run, offset);
  ASSERT_EQ(lines.size(), 60U) << "each step once, however often it was taken";
  for (std::size_t i = 0; i < lines.size(); ++i) EXPECT_EQ(lines[i].at("step"), i + 1);
}

INSTANTIATE_TEST_SUITE_P(Optimizers, KillTest,
                         ::testing::Values(engine::OptimizerType::adamw, engine::OptimizerType::normuon),
                         [](const auto& type) { return to_string(type.param); });

}  // namespace
