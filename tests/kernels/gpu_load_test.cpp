#include "kernels/gpu_load.h"

#include <gtest/gtest.h>

namespace {

using kernels::GpuLoad;

TEST(GpuLoad, IsThatOfTheGpuOfThatName) {
  EXPECT_EQ(GpuLoad("First GPU", FULLBAND_FAKE_NVML).percent(), 5);
  EXPECT_EQ(GpuLoad("Second GPU", FULLBAND_FAKE_NVML).percent(), 64);
}

TEST(GpuLoad, IsUnknownWithoutSuchAGpuOrTheLibrary) {
  EXPECT_FALSE(GpuLoad("CPU", FULLBAND_FAKE_NVML).percent().has_value());
  EXPECT_FALSE(GpuLoad("First GPU", "libno-such-library.so.1").percent().has_value());
}

}  // namespace
