// The golden files with the GPU engine's kernels.
#include "engine/golden.h"

#include <gtest/gtest.h>

namespace {

class DeviceGoldenTest : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(DeviceGoldenTest, EveryTensorIsWithinItsTolerance) {
  const auto backend = kernels::make_backend("cuda:0");
  const auto checks = engine::check_golden_file(GetParam(), *backend);
  EXPECT_GT(checks.size(), 60U);
  for (const engine::GoldenCheck& c : checks) {
    EXPECT_TRUE(c.passed()) << c.tensor << " " << c.problem << ": error " << c.error << ", tolerance " << c.tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, DeviceGoldenTest,
                         ::testing::ValuesIn(engine::find_golden_files(FULLBAND_TEST_DIR "/golden")),
                         [](const auto& file) { return file.param.stem().string(); });

}  // namespace
