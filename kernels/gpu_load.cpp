#include "kernels/gpu_load.h"

#include <dlfcn.h>

#include <array>

namespace kernels {
namespace {

// Of nvml.h: 0 is success in every call.
struct Utilization {
  unsigned gpu;
  unsigned memory;
};
using Init = int (*)();
using Shutdown = int (*)();
using GetCount = int (*)(unsigned*);
using GetHandle = int (*)(unsigned, void**);
using GetName = int (*)(void*, char*, unsigned);
using GetUtilization = int (*)(void*, Utilization*);

template <typename Call>
Call find_call(void* library, const char* name) {
  return reinterpret_cast<Call>(dlsym(library, name));
}

}  // namespace

GpuLoad::GpuLoad(const std::string& gpu_name, const std::string& library)
    : library_(dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) return;
  const auto init = find_call<Init>(library_, "nvmlInit_v2");
  if (init != nullptr && init() == 0) find(gpu_name);
}

GpuLoad::~GpuLoad() {
  if (library_ == nullptr) return;
  if (const auto shutdown = find_call<Shutdown>(library_, "nvmlShutdown")) shutdown();
  dlclose(library_);
}

void GpuLoad::find(const std::string& gpu_name) {
  const auto get_count = find_call<GetCount>(library_, "nvmlDeviceGetCount_v2");
  const auto get_handle = find_call<GetHandle>(library_, "nvmlDeviceGetHandleByIndex_v2");
  const auto get_name = find_call<GetName>(library_, "nvmlDeviceGetName");
  unsigned count = 0;
  if (get_count == nullptr || get_handle == nullptr || get_name == nullptr || get_count(&count) != 0) return;
  for (unsigned i = 0; i < count && device_ == nullptr; ++i) {
    void* device = nullptr;
    std::array<char, 128> name{};
    if (get_handle(i, &device) != 0 || get_name(device, name.data(), name.size()) != 0) continue;
    if (gpu_name == name.data()) device_ = device;
  }
}

std::optional<int> GpuLoad::percent() const {
  if (device_ == nullptr) return std::nullopt;
  const auto get = find_call<GetUtilization>(library_, "nvmlDeviceGetUtilizationRates");
  Utilization utilization{};
  if (get == nullptr || get(device_, &utilization) != 0) return std::nullopt;
  return static_cast<int>(utilization.gpu);
}

}  // namespace kernels
