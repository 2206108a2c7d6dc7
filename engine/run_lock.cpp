#include "engine/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <locale>
#include <sstream>
#include <string>

#include "engine/atomic_file.h"
#include "engine/error.h"

namespace engine {
namespace {

constexpr const char* kLockName = "lock";

/// Start time in clock ticks since boot, so that a process id used again is not taken for the old owner; nothing for
/// a process that is gone, or dead and only waiting for its parent.
std::optional<std::string> start_time(int process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // the name before it may hold spaces and brackets
  if (name_end == std::string::npos) {
    return std::nullopt;
  }
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  fields >> field;  // field 3 of the file: the state
  if (field == "Z" || field == "X") {
    return std::nullopt;
  }
  for (int i = 3; i < 22; ++i) {
    fields >> field;
  }
  return field;
}

/// The lock file's "process start-time", if that process still lives.
std::optional<int> living_owner(const std::filesystem::path& file) {
  std::ifstream stream(file);
  stream.imbue(std::locale::classic());
  int process = 0;
  std::string started;
  if (!(stream >> process >> started) || start_time(process) != started) {
    return std::nullopt;
  }
  return process;
}

[[noreturn]] void busy(const std::filesystem::path& file, std::optional<int> owner) {
  const std::string who = owner.has_value() ? "process " + std::to_string(*owner) : std::string("another program");
  throw FileError(file.parent_path().string(), who + " is training in this folder; stop it or choose another folder");
}

/// Whether the path still names the file that is open: its last owner may have removed it in between.
bool same_file(int descriptor, const std::filesystem::path& file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

/// Opens the lock file and takes the system's lock on it.
int open_locked(const std::filesystem::path& file) {
  while (true) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      throw FileError(file.string(), "cannot be written: " + system_reason(errno));
    }
    // A file system without such locks leaves the process id alone to decide.
    const bool taken = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && same_file(descriptor, file)) {
      return descriptor;
    }
    ::close(descriptor);
    if (taken) {
      busy(file, living_owner(file));
    }
  }
}

}  // namespace

RunLock::RunLock(const std::filesystem::path& folder) : file_(folder / kLockName), owner_(getpid()) {
  descriptor_ = open_locked(file_);
  const std::optional<int> owner = living_owner(file_);
  const std::string text = std::to_string(owner_) + " " + start_time(owner_).value_or("?") + "\n";
  const bool other = owner.has_value() && *owner != owner_;
  if (other || ::ftruncate(descriptor_, 0) != 0 ||
      ::write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    const int error = errno;
    ::close(descriptor_);
    if (other) {
      busy(file_, owner);
    }
    throw FileError(file_.string(), "cannot be written: " + system_reason(error));
  }
}

RunLock::~RunLock() {
  // A child process that inherited the lock must not release its parent's.
  if (owner_ == getpid()) {
    ::unlink(file_.c_str());
  }
  ::close(descriptor_);
}

std::optional<int> run_owner(const std::filesystem::path& folder) { return living_owner(folder / kLockName); }

}  // namespace engine
