#include "engine/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <functional>
#include <thread>
#include <vector>

#include "engine/error.h"
#include "tests/support/file_limits.h"
#include "tests/support/temporary_folder.h"

namespace {

using engine::FileError;
using engine::OutputFile;
using engine::read_file;
using engine::write_file_atomically;

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

TEST(AtomicFile, ReplacesAndLeavesNothingElse) {
  const support::TemporaryFolder folder;
  write_file_atomically(folder / "a", "one");
  write_file_atomically(folder / "a", std::string("t\0wo", 4));
  EXPECT_EQ(read_file(folder / "a"), std::string("t\0wo", 4));
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicFile, ALinkStaysAndItsTargetIsReplaced) {
  const support::TemporaryFolder folder;
  write_file_atomically(folder / "target", "one");
  std::filesystem::create_symlink("target", folder / "link");
  write_file_atomically(folder / "link", "two");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_file(folder / "target"), "two");
}

TEST(AtomicFile, WhatIsNoFileIsNotReplaced) {
  const support::TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_THROW(write_file_atomically(folder / "pipe", "x"), FileError);
  EXPECT_TRUE(std::filesystem::is_fifo(folder / "pipe"));
}

TEST(AtomicFile, AFullDiskKeepsTheOldContents) {
  const support::TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  {
    const support::FileSizeLimit limit(1000);
    EXPECT_THROW(write_file_atomically(folder / "a", std::string(5000, 'x')), FileError);
  }
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
  OutputFile full("/dev/full", OutputFile::Mode::append);
  EXPECT_THROW(full.write("x"), FileError);
}

TEST(AtomicFile, AReadOnlyFolderIsAFileError) {
  const support::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "r");
  write_file_atomically(folder / "r" / "a", "old");
  const support::ReadOnlyFolder read_only(folder / "r");
  EXPECT_THROW(write_file_atomically(folder / "r" / "a", "new"), FileError);
  EXPECT_THROW(write_file_atomically(folder / "r" / "b", "new"), FileError);
  EXPECT_EQ(read_file(folder / "r" / "a"), "old");
}

TEST(AtomicFile, ErrorsNameTheFile) {
  try {
    read_file("/no/such/file");
    FAIL();
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(), "/no/such/file: cannot be read: No such file or directory");
  }
  EXPECT_THROW(read_file(std::filesystem::temp_directory_path()), FileError);
}

std::string refusal_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const FileError& error) {
    return error.what();
  }
  return "";
}

TEST(AtomicFile, WritingNamesTheTargetAndNotTheTemporaryFile) {
  const support::TemporaryFolder folder;
  const std::string missing = (folder / "none" / "a").string();
  EXPECT_EQ(refusal_of([&] { write_file_atomically(missing, "x"); }),
            missing + ": cannot be written: there is no folder " + (folder / "none").string() + "; make it first");
  EXPECT_EQ(refusal_of([&] { write_file_atomically("/proc/a", "x"); }).substr(0, 37),
            "/proc/a: cannot be opened for writing");
  EXPECT_EQ(refusal_of([&] { write_file_atomically(folder.path(), "x"); }),
            folder.path().string() + ": is a folder; name a file");
}

TEST(AtomicFile, WhatIsNotWritableIsToldBeforehandAndNothingChanges) {
  const support::TemporaryFolder folder;
  write_file_atomically(folder / "a", "old");
  engine::require_writable(folder / "a");
  engine::require_writable(folder / "b");
  EXPECT_EQ(read_file(folder / "a"), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
  for (const std::filesystem::path& file : {folder / "none" / "a", folder.path(), std::filesystem::path("/proc/a")})
    EXPECT_THROW(engine::require_writable(file), FileError) << file;
}

TEST(AtomicFile, ReadersNeverSeeAHalf) {
  const support::TemporaryFolder folder;
  const std::string one(20'000, '1');
  const std::string two(30'000, '2');
  write_file_atomically(folder / "a", one);
  std::jthread writer([&](const std::stop_token& stop) {
    for (int i = 0; !stop.stop_requested(); ++i) {
      write_file_atomically(folder / "a", i % 2 == 0 ? two : one);
    }
  });
  for (int i = 0; i < 200; ++i) {
    const std::string seen = read_file(folder / "a");
    ASSERT_TRUE(seen == one || seen == two) << seen.size();
  }
}

TEST(OutputFile, AppendsWholeLinesOrNothing) {
  const support::TemporaryFolder folder;
  OutputFile file(folder / "a", OutputFile::Mode::append);
  file.append_whole("first\n");
  {
    const support::FileSizeLimit limit(10);
    EXPECT_THROW(file.append_whole("second\n"), FileError);
  }
  EXPECT_EQ(read_file(folder / "a"), "first\n");
  file.append_whole("third\n");
  EXPECT_EQ(read_file(folder / "a"), "first\nthird\n");
}

}  // namespace
