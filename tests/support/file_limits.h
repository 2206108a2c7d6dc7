// A disk that is full, and a folder that cannot be written, for as long as the object lives.
#pragma once

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

namespace support {

/// Every write past this size of a file fails, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }

 private:
  void (*old_handler_)(int);
  rlimit old_{};
};

/// Takes the right to write away. Root may write everywhere, so that root works as nobody meanwhile.
class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(std::filesystem::path folder) : folder_(std::move(folder)), user_(geteuid()) {
    chmod(folder_.parent_path().c_str(), 0755);
    chmod(folder_.c_str(), 0555);
    if (user_ == 0) {
      constexpr uid_t kNobody = 65534;
      changed_ = seteuid(kNobody) == 0;
    }
  }
  ReadOnlyFolder(const ReadOnlyFolder&) = delete;
  ReadOnlyFolder& operator=(const ReadOnlyFolder&) = delete;
  ~ReadOnlyFolder() {
    if (changed_ && seteuid(user_) != 0) {
      std::abort();
    }
    chmod(folder_.c_str(), 0755);
  }

 private:
  std::filesystem::path folder_;
  uid_t user_;
  bool changed_ = false;
};

}  // namespace support
