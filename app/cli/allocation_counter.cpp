#include "app/cli/allocation_counter.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::int64_t>& counter() {
  static std::atomic<std::int64_t> count{0};
  return count;
}

void* counted(void* data) {
  if (data == nullptr) throw std::bad_alloc();
  counter().fetch_add(1, std::memory_order_relaxed);
  return data;
}

}  // namespace

// The array forms and the ones that do not throw come down to these.
void* operator new(std::size_t bytes) { return counted(std::malloc(bytes > 0 ? bytes : 1)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto unit = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(unit, (bytes + unit) / unit * unit));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t /*bytes*/) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t /*alignment*/) noexcept { std::free(data); }
void operator delete(void* data, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept { std::free(data); }

namespace app::cli {

std::int64_t heap_allocations() { return counter().load(std::memory_order_relaxed); }

}  // namespace app::cli
