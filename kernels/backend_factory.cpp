#include <algorithm>
#include <thread>

#include "kernels/backend.h"
#include "kernels/cpu/backend.h"
#include "kernels/error.h"

namespace kernels {

std::unique_ptr<Backend> make_backend(const std::string& device, int threads) {
  if (threads < 0) throw DeviceError("The thread count is negative; give 0 for all cores.");
  if (device == "cpu" || device == "auto") {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    return std::make_unique<cpu::CpuBackend>(threads == 0 ? cores : threads);
  }
  if (device.rfind("cuda", 0) == 0) {
    throw DeviceError("The device '" + device + "' is missing: this build has no CUDA support; use 'cpu' or 'auto'.");
  }
  throw DeviceError("The device '" + device + "' is unknown; use 'cpu', 'cuda:N' or 'auto'.");
}

}  // namespace kernels
