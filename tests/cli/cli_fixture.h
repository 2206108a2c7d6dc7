// Runs fullband-cli inside the test and keeps what it printed.
#pragma once

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/cli.h"

namespace app::cli {

struct Printed {
  int code = 0;
  std::string out;
  std::string err;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

class CliTest : public testing::Test {
 protected:
  CliTest() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              ("fullband-cli-" + std::string(info->name()) + "-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  ~CliTest() override { std::filesystem::remove_all(folder_); }

  static Printed call(std::vector<std::string> arguments) {
    std::vector<const char*> argv = {"fullband-cli"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    std::ostringstream out;
    std::ostringstream err;
    const int code = run(static_cast<int>(argv.size()), argv.data(), {out, err});
    return {code, out.str(), err.str()};
  }

  /// Trains a tiny model for `steps` steps and returns its run folder.
  std::string tiny_run(const std::string& name, int steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"train", "--recipe", "demo", "--out", path(name), "--threads", "1", "--json"};
    for (const std::string& setting :
         {std::string("model.dim=16"), std::string("model.layers=2"), std::string("model.heads=2"),
          std::string("model.kv_heads=2"), std::string("model.ffn=24"), std::string("train.rows=4"),
          std::string("train.validate_every=0"), std::string("train.validation_rows=4"),
          "train.steps=" + std::to_string(steps)}) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Printed printed = call(arguments);
    EXPECT_EQ(printed.code, 0) << printed.err;
    return path(name);
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A failure says one sentence on standard error and nothing on standard output.
  static void expect_refused(const Printed& printed, int code, const std::string& part) {
    EXPECT_EQ(printed.code, code) << printed.err;
    EXPECT_EQ(printed.out, "");
    EXPECT_NE(printed.err.find(part), std::string::npos) << printed.err;
    EXPECT_EQ(std::count(printed.err.begin(), printed.err.end(), '\n'), 1) << printed.err;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace app::cli
