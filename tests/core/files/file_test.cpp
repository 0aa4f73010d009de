#include <xgrad/core/files/file.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <functional>
#include <thread>

#include <xgrad/core/base/error.h>
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/files/safetensors.h>
#include <xgrad/core/graph/tensor.h>

#include "support/check.h"
#include "support/files.h"

namespace xgrad::testing {
namespace {

std::size_t count_of_files(const TemporaryFolder& folder) {
  const std::filesystem::directory_iterator files(folder.path());
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

/// Runs `work` in a process of its own, which ends without an error if that returns true.
pid_t start(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    _exit(work() ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

bool succeeds(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool refuses_to_write(const std::filesystem::path& path, std::string_view content, std::string_view part) {
  try {
    write_file_atomically(path, content);
  } catch (const IoError& error) {
    return std::string_view(error.what()).find(part) != std::string_view::npos;
  }
  return false;
}

TEST_CASE("a path with a NUL byte is refused, instead of being cut there") {
  const TemporaryFolder folder;
  const std::string target = folder / "model";
  write_file_atomically(target, "old");
  const std::string path = target + std::string("\0.new", 5);
  const std::string refusal = str("a path holds a NUL byte: ", target, "\\0...");
  CHECK_REFUSED(ValueError, write_file_atomically(path, "new"), "write_file_atomically", refusal);
  CHECK_REFUSED(ValueError, read_file(path), "read_file", refusal);
  CHECK_REFUSED(ValueError, save_safetensors(path, {}), "save_safetensors", refusal);
  CHECK_REFUSED(ValueError, load_safetensors(path), "load_safetensors", refusal);
  CHECK_REFUSED(ValueError, save_graph(path + ".txt", {variable(1)}), "save_graph", refusal);
  CHECK(read_file(target) == "old");
  CHECK(count_of_files(folder) == 1);
}

TEST_CASE("a file holds what was written, also over an old one and in pieces") {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  write_file_atomically(path, "first");
  CHECK(read_file(path) == "first");
  const std::string_view pieces[] = {"sec", "", "ond"};
  write_file_atomically(path, pieces);
  CHECK(read_file(path) == "second");
  std::filesystem::permissions(path, std::filesystem::perms(0600));  // which it keeps
  write_file_atomically(path, "");
  CHECK(read_file(path) == "");
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0600));
  CHECK(count_of_files(folder) == 1);
}

TEST_CASE("a part of a file is read, and nothing behind its end, also where that has moved while it is open") {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_text(folder / "a", "0123456789");
  const InputFile file(path);
  CHECK(file.size() == 10);
  CHECK(file.read(3, 4) == "3456");
  CHECK(file.read(10, 0) == "");
  CHECK_REFUSED(IoError, file.read(8, 3), "read_file", "ends at byte 10");
  std::filesystem::resize_file(path, 5);
  CHECK_REFUSED(IoError, file.read(0, 10), "read_file", "became shorter");
}

TEST_CASE("only regular files are read") {
  const TemporaryFolder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_REFUSED(IoError, read_file(folder / "none"), "read_file", "No such file or directory");
  for (const std::filesystem::path& path : {folder.path(), folder / "pipe", std::filesystem::path("/dev/null")}) {
    CHECK_REFUSED(IoError, read_file(path), "read_file", path, "not a regular file");
  }
  std::filesystem::create_symlink(write_text(folder / "a", "text"), folder / "link");
  CHECK(read_file(folder / "link") == "text");
}

TEST_CASE("only regular files are replaced, and what stood there stays") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "folder");
  std::filesystem::create_symlink(write_text(folder / "a", "old"), folder / "link");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  using Row = std::pair<const char*, const char*>;
  for (const Row& row :
       {Row{"folder", "not a regular file"}, Row{"link", "symbolic link"}, Row{"pipe", "not a regular file"},
        Row{"folder/", "names no file"}, Row{"none/a", "No such file or directory"}, Row{"a/b", "Not a directory"}}) {
    CHECK_REFUSED(IoError, write_file_atomically(folder / row.first, "new"), "write_file_atomically", row.second);
  }
  CHECK(read_text(folder / "a") == "old");
  CHECK(count_of_files(folder) == 4);
}

TEST_CASE("without the right to write, the old file stays") {
  const TemporaryFolder folder;
  const std::filesystem::path path = write_text(folder / "a", "old");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  CHECK(succeeds(start([&] {
    if (geteuid() == 0 && setuid(65534) != 0) return false;  // root may write anywhere
    return refuses_to_write(path, "new", "Permission denied");
  })));
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  CHECK(read_text(path) == "old");
}

TEST_CASE("processes that write the same file and die at any moment leave one complete file") {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  write_file_atomically(path, std::string(10'000, 'a'));
  for (int round = 0; round < 10; ++round) {
    pid_t children[2];
    for (pid_t& child : children) {
      child = start([&] {
        for (char c = 'a';; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
          write_file_atomically(path, std::string(10'000, c));
        }
        return true;
      });
    }
    char last = 'a';
    int changes = 0;
    for (int reads = 0; changes < 10 && reads < 1'000'000; ++reads) {
      const std::string content = read_file(path);
      REQUIRE(content == std::string(10'000, content.at(0)));
      changes += content[0] != std::exchange(last, content[0]);
    }
    CHECK(changes == 10);  // unless both have ended
    for (const pid_t child : children) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }
  write_file_atomically(path, "last");
  CHECK(read_file(path) == "last");
  CHECK(count_of_files(folder) == 1);  // what the dead left behind is gone
}

TEST_CASE("a temporary file that a dead process left behind is written over") {
  const TemporaryFolder folder;
  const std::filesystem::path left = write_text(folder / ".a.tmp", std::string(1000, 'x'));
  write_text(folder / ".b.tmp", "of another target");
  write_file_atomically(folder / "a", "new");
  CHECK(read_file(folder / "a") == "new");
  CHECK(!std::filesystem::exists(left));
  CHECK(count_of_files(folder) == 2);
  std::filesystem::create_symlink(folder / "a", left);
  CHECK_REFUSED(IoError, write_file_atomically(folder / "a", "new"), "write_file_atomically", "cannot be created");
  CHECK(read_file(folder / "a") == "new");
}

TEST_CASE("threads write different files and the same file") {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 50; ++n) {
        write_file_atomically(folder / "same", std::string(100, char('a' + i)));
        write_file_atomically(folder / str("own", i), str(n));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(read_file(folder / "same").size() == 100);
  for (int i = 0; i < 4; ++i) CHECK(read_file(folder / str("own", i)) == "49");
  CHECK(count_of_files(folder) == 5);
}

}  // namespace
}  // namespace xgrad::testing
