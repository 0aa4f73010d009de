// What reading and writing a file asks of the operating system, and what becomes of the file when a call fails, is
// interrupted or does a part of its work. The calls below take the place of those of the C library, and go on to the
// kernel.
#include <xgrad/core/files/file.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include <xgrad/core/base/error.h>

#include "support/check.h"
#include "support/files.h"
#include "support/thorough.h"

namespace xgrad::testing {
namespace {

bool is_folder(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode);
}

/// While it lives, this thread's calls are noted, and refused where that is asked for.
struct Watch {
  std::string refused = {};  ///< the call that fails, each time
  int error = EIO;           ///< why
  /// Each third call is interrupted, but renameat, which never is; and reading and writing do half of what is asked.
  bool hindered = false;
  std::vector<std::string> calls = {};

  void begin() { current = this; }
  ~Watch() { current = nullptr; }
  static thread_local Watch* current;
};
thread_local Watch* Watch::current = nullptr;

/// The result of a call of this name: `call(size)`, which does no more than `size`.
template <class Call>
long watched(const char* name, std::size_t size, const Call& call) {
  Watch* const watch = Watch::current;
  if (!watch) return call(size);
  watch->calls.push_back(name);
  const bool refused = name == watch->refused, interrupted = watch->hindered && watch->calls.size() % 3 == 0;
  if (refused || (interrupted && watch->calls.back() != "renameat")) {
    errno = refused ? watch->error : EINTR;
    return -1;
  }
  return call(watch->hindered ? (size + 1) / 2 : size);
}

}  // namespace
}  // namespace xgrad::testing

extern "C" {
using xgrad::testing::watched;

ssize_t write(int file, const void* bytes, std::size_t size) {
  return watched("write", size, [&](std::size_t most) { return syscall(SYS_write, file, bytes, most); });
}
ssize_t pread(int file, void* bytes, std::size_t size, off_t begin) {
  return watched("pread", size, [&](std::size_t most) { return syscall(SYS_pread64, file, bytes, most, begin); });
}
int fsync(int file) {
  const char* const name = xgrad::testing::is_folder(file) ? "fsync of the folder" : "fsync";
  return static_cast<int>(watched(name, 0, [&](std::size_t) { return syscall(SYS_fsync, file); }));
}
int ftruncate(int file, off_t size) noexcept {
  return static_cast<int>(watched("ftruncate", 0, [&](std::size_t) { return syscall(SYS_ftruncate, file, size); }));
}
int renameat(int from, const char* name, int to, const char* target) noexcept {
  return static_cast<int>(
      watched("renameat", 0, [&](std::size_t) { return syscall(SYS_renameat2, from, name, to, target, 0); }));
}
}

namespace xgrad::testing {
namespace {

std::int64_t files_in(const TemporaryFolder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder.path()), std::filesystem::directory_iterator());
}

TEST_CASE("a file is written, synced, renamed into place, and then its folder is synced") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder / "a", "old");
  const std::string_view pieces[] = {"ne", "w"};
  Watch watch;
  watch.begin();
  write_file_atomically(path, pieces);
  CHECK(watch.calls ==
        std::vector<std::string>{"ftruncate", "write", "write", "fsync", "renameat", "fsync of the folder"});
}

TEST_CASE("when a call of the system fails, the old file is whole and nothing else is left") {
  const TemporaryFolder folder;
  const std::string path = write_text(folder / "a", "old");
  using Row = std::pair<const char*, const char*>;
  for (const Row& row : {Row{"ftruncate", "cannot be created"}, Row{"write", "cannot be written"},
                         Row{"fsync", "cannot be synced"}, Row{"renameat", "cannot be renamed"}}) {
    CAPTURE(row.first);
    Watch watch{.refused = row.first};
    watch.begin();
    CHECK_REFUSED(IoError, write_file_atomically(path, "new"), "write_file_atomically", row.second,
                  "Input/output error");
    CHECK(read_text(path) == "old");
    CHECK(files_in(folder) == 1);
  }
  Watch reading{.refused = "pread"};
  reading.begin();
  CHECK_REFUSED(IoError, read_file(path), "read_file", "cannot be read", "Input/output error");
}

TEST_CASE("a folder that cannot be synced is an error, but where no folder can be") {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  Watch watch{.refused = "fsync of the folder"};
  watch.begin();
  CHECK_REFUSED(IoError, write_file_atomically(path, "new"), "write_file_atomically", "folder cannot be synced");
  CHECK(read_text(path) == "new");
  watch.error = EINVAL;
  write_file_atomically(path, "newer");
  CHECK(read_text(path) == "newer");
}

TEST_CASE("calls that are interrupted, or do a part of their work, are made again") {
  const TemporaryFolder folder;
  const std::string path = folder / "a", first(1000, 'a'), second(77, 'b');
  // The first call counts as the first, second or third, so that each kind of call is interrupted.
  for (int before = 0; before < 3; ++before) {
    Watch watch{.hindered = true, .calls = std::vector<std::string>(static_cast<std::size_t>(before))};
    watch.begin();
    const std::string_view pieces[] = {first, second};
    write_file_atomically(path, pieces);
    CHECK(std::ranges::count(watch.calls, "write") > 10);
    CHECK(read_file(path) == first + second);
    CHECK(std::ranges::count(watch.calls, "pread") > 10);
  }
}

// With 2.2 GB of memory and of disk.
TEST_CASE("a file of more than a single call can write is written and read" * doctest::skip(!thorough())) {
  constexpr std::int64_t size = 2'200'000'000;  // one call of Linux does at most 2,147,479,552
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  {
    std::string content(static_cast<std::size_t>(size), 'a');
    content.back() = 'z';
    Watch watch;
    watch.begin();
    write_file_atomically(path, content);
    CHECK(std::ranges::count(watch.calls, "write") == 2);
  }
  Watch watch;
  watch.begin();
  const std::string content = read_file(path);
  CHECK(std::ranges::count(watch.calls, "pread") == 2);
  CHECK(std::ssize(content) == size);
  CHECK(content.back() == 'z');
  CHECK(std::ranges::count(content, 'a') == size - 1);
}

}  // namespace
}  // namespace xgrad::testing
