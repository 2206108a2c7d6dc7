#include "tests/support/cuda_host/device_memory.h"

#include <sys/mman.h>

#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace cuda_host {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kGuard = 256;
constexpr unsigned char kGuardByte = 0xA5;
constexpr unsigned char kPoisonByte = 0xFF;  // four of them are a NaN

bool is_filled(const char* data, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (static_cast<unsigned char>(data[i]) != kGuardByte) return false;
  }
  return true;
}

/// Under the address sanitizer a touched guard stops the program at the line that touches it.
void forbid(const char* data, std::size_t bytes, bool forbidden) {
#if defined(__SANITIZE_ADDRESS__)
  if (forbidden) {
    __asan_poison_memory_region(data, bytes);
  } else {
    __asan_unpoison_memory_region(data, bytes);
  }
#else
  static_cast<void>(data);
  static_cast<void>(bytes);
  static_cast<void>(forbidden);
#endif
}

}  // namespace

DeviceMemory::~DeviceMemory() {
  while (!regions_.empty()) release(regions_.begin()->first);
}

void* DeviceMemory::allocate(std::size_t bytes) {
  if (bytes > kTotal - used_) return nullptr;
  Region region;
  region.bytes = bytes;
  region.page_bytes = (bytes + 2 * kGuard + kPage - 1) / kPage * kPage;
  void* pages = mmap(nullptr, region.page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  region.pages = static_cast<char*>(pages);
  char* data = region.pages + kGuard;
  std::memset(region.pages, kGuardByte, region.page_bytes);
  std::memset(data, kPoisonByte, bytes);
  forbid(region.pages, kGuard, true);
  forbid(data + bytes, region.page_bytes - kGuard - bytes, true);
  if (!is_open_) mprotect(region.pages, region.page_bytes, PROT_NONE);
  used_ += bytes;
  regions_[data] = region;
  return data;
}

bool DeviceMemory::release(void* data) {
  const auto found = regions_.find(data);
  if (found == regions_.end()) return false;
  const Region& region = found->second;
  forbid(region.pages, region.page_bytes, false);
  munmap(region.pages, region.page_bytes);
  used_ -= region.bytes;
  regions_.erase(found);
  return true;
}

void DeviceMemory::protect(int protection) {
  for (const auto& [data, region] : regions_) mprotect(region.pages, region.page_bytes, protection);
}

void DeviceMemory::open() {
  if (!is_open_) protect(PROT_READ | PROT_WRITE);
  is_open_ = true;
}

void DeviceMemory::close() {
  constexpr std::size_t kMuch = std::size_t{6} << 20;
  constexpr int kClosings = 64;
  if (used_ > kMuch && ++closings_ % kClosings != 0) return;
  protect(PROT_NONE);
  is_open_ = false;
}

std::string DeviceMemory::damage() const {
#if !defined(__SANITIZE_ADDRESS__)
  for (const auto& [data, region] : regions_) {
    const char* begin = static_cast<const char*>(data);
    if (!is_filled(region.pages, kGuard)) return "a write before the start of an allocation";
    const std::size_t after = region.page_bytes - kGuard - region.bytes;
    if (!is_filled(begin + region.bytes, after)) return "a write past the end of an allocation";
  }
#endif
  return "";
}

}  // namespace cuda_host
