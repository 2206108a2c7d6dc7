#include "app/cli/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace app::cli {
namespace {

/// Bytes of memory and swap that are free or can be freed; 0 when the system does not say.
rlim_t free_memory() {
  constexpr rlim_t kKibibyte = 1024;
  std::ifstream file("/proc/meminfo");
  rlim_t sum = 0;
  std::string name;
  rlim_t amount = 0;
  for (std::string rest; file >> name >> amount; std::getline(file, rest)) {
    if (name == "MemAvailable:" || name == "SwapFree:") sum += amount * kKibibyte;
  }
  return sum;
}

/// Bytes that the process may already write: a sanitizer's books alone are larger than any machine.
rlim_t writable_memory() {
  std::ifstream file("/proc/self/statm");
  rlim_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  file >> size >> resident >> shared >> text >> library >> data;
  return data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

void limit_memory() {
  const rlim_t free = free_memory();
  rlimit limit{};
  if (free == 0 || writable_memory() > free || getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur <= free) return;
  limit.rlim_cur = free;
  setrlimit(RLIMIT_DATA, &limit);
}

}  // namespace app::cli
