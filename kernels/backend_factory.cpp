#include <algorithm>
#include <thread>

#include "kernels/backend.h"
#include "kernels/cpu/backend.h"
#include "kernels/error.h"
#if defined(FULLBAND_WITH_CUDA)
#include "kernels/cuda/make_cuda.h"
#endif

namespace kernels {
namespace {

#if defined(FULLBAND_WITH_CUDA)
bool has_gpu() { return cuda::is_usable(); }
std::unique_ptr<Backend> make_gpu(const std::string& device) { return cuda::make_cuda_backend(device); }
#else
bool has_gpu() { return false; }
std::unique_ptr<Backend> make_gpu(const std::string& device) {
  throw DeviceError("The device '" + device + "' is missing: this build has no CUDA support; use 'cpu' or 'auto'.");
}
#endif

/// "auto" or "auto:N"
bool is_auto(const std::string& device) {
  if (device.rfind("auto:", 0) != 0) return device == "auto";
  return device.size() > 5 && device.find_first_not_of("0123456789", 5) == std::string::npos;
}

int core_count() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

std::int64_t automatic_tokens_at_once() { return has_gpu() ? 0 : cpu::tokens_at_once(core_count()); }

std::unique_ptr<Backend> make_backend(const std::string& device, int threads) {
  if (threads < 0) throw DeviceError("The thread count is negative; give 0 for all cores.");
  if (device.rfind("cuda", 0) == 0) return make_gpu(device);
  const bool any = is_auto(device);
  if (any && has_gpu()) return make_gpu("cuda" + device.substr(4));
  if (any || device == "cpu") {
    return std::make_unique<cpu::CpuBackend>(threads == 0 ? core_count() : threads);
  }
  throw DeviceError("The device '" + device + "' is unknown; use 'cpu', 'cuda:N' or 'auto'.");
}

}  // namespace kernels
