// Milliseconds of processor time, which other programs on the machine do not lengthen.
#pragma once

#include <ctime>

class CpuTimer {
 public:
  [[nodiscard]] double elapsed() const { return 1000.0 * static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC; }
  void restart() { begin_ = std::clock(); }

 private:
  std::clock_t begin_ = std::clock();
};
