// Files that are whole or not there: temporary file, sync, rename, sync of the folder.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace engine {

/// Whole contents. FileError names the file and the system's reason.
std::string read_file(const std::filesystem::path& file);

/// Replaces `file` in one step: after a crash it holds the old contents or the new ones. FileError, with the old
/// contents untouched and no temporary file left, when the disk is full or the folder cannot be written.
void write_file_atomically(const std::filesystem::path& file, std::string_view contents);

/// Before long work whose result goes to `file`: FileError, as write_file_atomically() would say it, when that would
/// fail.
void require_writable(const std::filesystem::path& file);

/// Makes renames and new names in a folder survive a power cut.
void sync_folder(const std::filesystem::path& folder);

/// A file being written; owns its descriptor. All members throw FileError.
class OutputFile {
 public:
  enum class Mode { create, append };

  /// create: new or emptied; append: new or at the end.
  OutputFile(const std::filesystem::path& file, Mode mode);
  /// Errors name `shown_as` instead of the file.
  OutputFile(std::filesystem::path file, Mode mode, std::filesystem::path shown_as);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  ~OutputFile();

  void write(std::string_view bytes);
  /// Appends all of it or, on an error, nothing.
  void append_whole(std::string_view bytes);
  void sync();
  void close();
  [[nodiscard]] const std::filesystem::path& path() const { return file_; }

 private:
  [[noreturn]] void fail(const char* action) const;

  std::filesystem::path file_;
  std::filesystem::path shown_as_;
  int descriptor_ = -1;
};

/// A file being replaced: write to stream(), then commit(). Without commit the old file stays and the temporary one
/// is removed.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& file);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  OutputFile& stream() { return stream_; }
  void commit();

 private:
  std::filesystem::path file_;
  OutputFile stream_;
  bool committed_ = false;
};

/// "disk full" and the like for an errno value; the file and the action come before it.
std::string system_reason(int error_number);

}  // namespace engine
