// Training over two processes, as mpirun starts them: the same losses as one process, and nothing lost when one dies.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "engine/run_store.h"
#include "tests/engine/support/training_runs.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A program in a process group of its own, its output in a file.
class Started {
 public:
  Started(const std::vector<std::string>& arguments, const fs::path& output) {
    std::vector<char*> raw;
    for (const std::string& argument : arguments) raw.push_back(const_cast<char*>(argument.c_str()));
    raw.push_back(nullptr);
    id_ = fork();
    if (id_ != 0) return;
    const int file = open(output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    // Containers run tests as root, which Open MPI refuses unless told twice; two processes may share one core.
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    execvp(raw[0], raw.data());
    _exit(127);
  }
  /// The exit code, or -1 where a signal ended it.
  int wait() {
    int status = 0;
    waitpid(id_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t id_ = -1;
};

bool wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 60000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

/// The programs of this run: those whose command line holds `word`.
std::vector<pid_t> processes_with(const std::string& word) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string line = text_of(entry.path() / "cmdline");
    if (line.rfind(FULLBAND_CLI, 0) == 0 && line.find(word) != std::string::npos) found.push_back(std::stoi(name));
  }
  return found;
}

int rank_of(pid_t process) {
  const std::string environment = text_of(fs::path("/proc") / std::to_string(process) / "environ");
  const std::string key = std::string(1, '\0') + "OMPI_COMM_WORLD_RANK=";
  const std::size_t at = environment.find(key);
  return at == std::string::npos ? -1 : std::atoi(environment.c_str() + at + key.size());
}

class ProcessesTest : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef FULLBAND_HAS_MPI
    GTEST_SKIP() << "this build has no MPI";
#endif
    if (std::system("mpirun --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "there is no mpirun";
  }

  std::vector<std::string> together(std::vector<std::string> train) const {
    train.insert(train.begin(), {"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", FULLBAND_CLI, "train"});
    train.insert(train.end(), {"--device", "cpu", "--threads", "1"});
    return train;
  }
  void write_recipe(const engine::Recipe& recipe) const { std::ofstream(recipe_file_) << to_json(recipe).dump(); }

  support::TemporaryFolder folder_;
  fs::path recipe_file_ = folder_ / "recipe.json";
  fs::path output_ = folder_ / "output.txt";
};

TEST_F(ProcessesTest, TwoProcessesLearnWhatOneLearns) {
  const engine::Recipe recipe = support::tiny_recipe();
  write_recipe(recipe);
  Started both(together({"--recipe", recipe_file_, "--out", folder_ / "two", "--json"}), output_);
  ASSERT_EQ(both.wait(), 0) << text_of(output_);
  const auto two = nlohmann::json::parse(text_of(output_));  // one object: the second process is silent
  const auto job = engine::make_trainer(recipe, support::trainer_options(folder_ / "one"));
  const auto one = support::train_steps(*job, recipe.train.steps);
  ASSERT_EQ(two.at("step"), recipe.train.steps);
  ASSERT_EQ(two.at("loss").size(), one.back().pass_loss.size());
  for (std::size_t k = 0; k < one.back().pass_loss.size(); ++k) {
    EXPECT_NEAR(two.at("loss")[k].get<double>(), one.back().pass_loss[k], 2e-5);
  }
  EXPECT_EQ(engine::read_run(folder_ / "two").at("state"), "done");
}

TEST_F(ProcessesTest, WhenOneDiesTheRunEndsWithAMessageAndCanGoOn) {
  engine::Recipe recipe = support::tiny_recipe();
  recipe.train.steps = 100000;
  write_recipe(recipe);
  const fs::path run = folder_ / "run";
  Started both(together({"--recipe", recipe_file_, "--out", run}), output_);
  const fs::path metrics = run / "metrics.jsonl";
  ASSERT_TRUE(wait_until([&] { return fs::exists(metrics) && fs::file_size(metrics) > 2000; })) << text_of(output_);
  for (const pid_t process : processes_with(run.string())) {
    if (rank_of(process) == 1) kill(process, SIGKILL);
  }
  EXPECT_NE(both.wait(), 0);
  EXPECT_NE(text_of(output_).find("go on with --resume"), std::string::npos) << text_of(output_);
  EXPECT_EQ(engine::read_run(run).at("state"), "stopped");
  const auto reached = engine::read_newest_checkpoint(run, true).state.at("step").get<std::int64_t>();
  EXPECT_GT(reached, 0);
  const auto job = engine::resume_trainer(support::trainer_options(run));
  EXPECT_EQ(job->step(), reached);
  EXPECT_EQ(job->train_step().step, reached + 1);
}

TEST_F(ProcessesTest, AnErrorIsSaidAndEndsAll) {
  engine::Recipe recipe = support::tiny_recipe();
  recipe.train.rows = 1;
  write_recipe(recipe);
  Started both(together({"--recipe", recipe_file_, "--out", folder_ / "run"}), output_);
  EXPECT_NE(both.wait(), 0);
  EXPECT_NE(text_of(output_).find("train.rows: this must be at least the number of processes, 2"), std::string::npos)
      << text_of(output_);
}

}  // namespace
