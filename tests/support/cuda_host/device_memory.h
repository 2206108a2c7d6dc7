// Memory of the host's CUDA device: pages that the host cannot touch unless a kernel or a copy runs, with guard bytes
// round every allocation.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace cuda_host {

class DeviceMemory {
 public:
  static constexpr std::size_t kTotal = std::size_t{256} << 20;  ///< bytes that the device pretends to have

  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  /// NaN-filled bytes, 256-byte aligned, or null when there are not enough.
  void* allocate(std::size_t bytes);
  /// Says whether `data` came from allocate.
  bool release(void* data);
  [[nodiscard]] std::size_t used() const { return used_; }

  /// Opens the memory to the running code, or closes it: much memory only now and then, as every page costs time.
  void open();
  void close();
  /// Whether the memory is open and every guard byte is as it was. Empty, or what is wrong.
  [[nodiscard]] std::string damage() const;

 private:
  struct Region {
    char* pages = nullptr;
    std::size_t page_bytes = 0;
    std::size_t bytes = 0;  ///< what was asked for
  };

  void protect(int protection);

  std::map<void*, Region> regions_;
  std::size_t used_ = 0;
  bool is_open_ = false;
  int closings_ = 0;
};

}  // namespace cuda_host
