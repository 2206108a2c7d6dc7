// One writer a run: a lock file with process id and start time, held through the system's file lock.
#pragma once

#include <filesystem>
#include <optional>

namespace engine {

/// Holds the lock of a run folder until it is destroyed. The lock of a process that has died is taken over.
class RunLock {
 public:
  /// FileError naming the process that holds it.
  explicit RunLock(const std::filesystem::path& folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  int owner_ = 0;
};

/// Id of the living process that writes to this run; nothing when none does.
std::optional<int> run_owner(const std::filesystem::path& folder);

}  // namespace engine
