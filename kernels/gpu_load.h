// How busy a GPU is, as NVIDIA's management library (NVML, part of the driver) says it. The library is looked up when
// the object is made; a machine without it has no answer.
#pragma once

#include <optional>
#include <string>

namespace kernels {

class GpuLoad {
 public:
  /// The first GPU of this product name. `library` is the file to ask.
  explicit GpuLoad(const std::string& gpu_name, const std::string& library = "libnvidia-ml.so.1");
  GpuLoad(const GpuLoad&) = delete;
  GpuLoad& operator=(const GpuLoad&) = delete;
  ~GpuLoad();

  /// Share of the driver's last sampling period in which a kernel ran, in percent; absent when unknown.
  [[nodiscard]] std::optional<int> percent() const;

 private:
  void find(const std::string& gpu_name);

  void* library_ = nullptr;
  void* device_ = nullptr;  ///< null when there is no such GPU
};

}  // namespace kernels
