// The processor time of the calling thread: what its work costs, however busy the machine is with other things.
#pragma once

#include <ctime>

namespace app {

/// Milliseconds since the thread began; only differences mean something.
inline double thread_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

}  // namespace app
