#include "engine/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/error.h"

namespace engine {
namespace {

/// Unique among the threads of this process, and among processes by the id.
std::filesystem::path temporary_beside(const std::filesystem::path& file) {
  static std::atomic<unsigned> counter = 0;
  std::string name = ".tmp-" + file.filename().string();
  name.append(".").append(std::to_string(getpid())).append("-").append(std::to_string(counter++));
  return file.parent_path() / name;
}

/// What is to be replaced: a link's target, and only ever a file, because a rename puts a file in the place of a
/// device.
std::filesystem::path replaceable(const std::filesystem::path& file) {
  std::error_code error;
  const bool is_link = std::filesystem::is_symlink(file, error);
  std::filesystem::path target = is_link ? std::filesystem::weakly_canonical(file, error) : file;
  const auto kind = std::filesystem::status(target, error).type();
  using std::filesystem::file_type;
  if (kind == file_type::character || kind == file_type::block || kind == file_type::fifo ||
      kind == file_type::socket) {
    throw FileError(file.string(), "is not a file; name one that can be replaced");
  }
  if (kind == file_type::directory) throw FileError(file.string(), "is a folder; name a file");
  const std::filesystem::path folder = target.parent_path();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    throw FileError(file.string(), "cannot be written: there is no folder " + folder.string() + "; make it first");
  }
  return target;
}

int open_output(const std::filesystem::path& file, OutputFile::Mode mode) {
  const int how = mode == OutputFile::Mode::create ? O_TRUNC : O_APPEND;
  return ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
}

/// Closes a descriptor that is only read or synced, where an error on closing tells nothing.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

std::string system_reason(int error_number) { return std::error_code(error_number, std::generic_category()).message(); }

std::string read_file(const std::filesystem::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string contents;
  std::array<char, 1 << 16> buffer{};
  ssize_t got = descriptor.get() < 0 ? -1 : 1;
  while (got > 0) {
    got = ::read(descriptor.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) {
      got = 1;
    } else if (got > 0) {
      contents.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }
  if (got < 0) {
    throw FileError(file.string(), "cannot be read: " + system_reason(errno));
  }
  return contents;
}

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder.empty() ? "." : folder;
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder and say EINVAL; there is nothing more to do there.
  if (descriptor.get() < 0 || (::fsync(descriptor.get()) != 0 && errno != EINVAL)) {
    throw FileError(folder.string(), "cannot be synced to disk: " + system_reason(errno));
  }
}

void write_file_atomically(const std::filesystem::path& file, std::string_view contents) {
  AtomicFile output(file);
  output.stream().write(contents);
  output.commit();
}

void require_writable(const std::filesystem::path& file) { const AtomicFile never_committed(file); }

OutputFile::OutputFile(const std::filesystem::path& file, Mode mode) : OutputFile(file, mode, file) {}

OutputFile::OutputFile(std::filesystem::path file, Mode mode, std::filesystem::path shown_as)
    : file_(std::move(file)), shown_as_(std::move(shown_as)), descriptor_(open_output(file_, mode)) {
  if (descriptor_ < 0) {
    fail("opened for writing");
  }
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : file_(std::move(other.file_)),
      shown_as_(std::move(other.shown_as_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(shown_as_, other.shown_as_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) {
    ::close(descriptor_);
  }
}

void OutputFile::fail(const char* action) const {
  throw FileError(shown_as_.string(), std::string("cannot be ") + action + ": " + system_reason(errno));
}

void OutputFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) {
      fail("written");
    }
    bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
}

void OutputFile::append_whole(std::string_view bytes) {
  struct stat before {};
  if (::fstat(descriptor_, &before) != 0) {
    fail("read");
  }
  try {
    write(bytes);
  } catch (const FileError&) {
    // The half that went in would spoil the line after it; that this fails too is no reason to hide the first error.
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, before.st_size);
    throw;
  }
}

void OutputFile::sync() {
  if (::fsync(descriptor_) != 0) {
    fail("synced to disk");
  }
}

void OutputFile::close() {
  if (::close(std::exchange(descriptor_, -1)) != 0) {
    fail("closed");
  }
}

AtomicFile::AtomicFile(const std::filesystem::path& file)
    : file_(replaceable(file)), stream_(temporary_beside(file_), OutputFile::Mode::create, file_) {}

AtomicFile::~AtomicFile() {
  if (!committed_) {
    ::unlink(stream_.path().c_str());
  }
}

void AtomicFile::commit() {
  stream_.sync();
  stream_.close();
  if (::rename(stream_.path().c_str(), file_.c_str()) != 0) {
    throw FileError(file_.string(), "cannot be replaced: " + system_reason(errno));
  }
  committed_ = true;
  sync_folder(file_.parent_path());
}

}  // namespace engine
