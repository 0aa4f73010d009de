// Running another program.
#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "../../base/assert.h"
#include "../../base/error.h"
#include "../../base/text.h"

extern char** environ;

namespace xgrad::detail {
namespace {

// A file without a name that is gone when it is closed, and that programs which other threads start do not get.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view caller) : caller_(caller) {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "xgrad-XXXXXX").string();
    if (!error) descriptor_ = mkostemp(path.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail<IoError>(caller_, "no temporary file: ", error ? error.message() : std::strerror(errno));
    unlink(path.c_str());
  }
  ~ScratchFile() { close(descriptor_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int descriptor() const { return descriptor_; }
  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written <= 0) fail<IoError>(caller_, "temporary file: ", std::strerror(errno));
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    lseek(descriptor_, 0, SEEK_SET);
  }
  std::string read() const {
    std::string text(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    ssize_t count = 1;
    for (std::size_t done = 0; done < text.size() && count > 0; done += static_cast<std::size_t>(count))
      count = pread(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    return text;
  }

 private:
  std::string_view caller_;
  int descriptor_ = -1;
};

// The status of the process when it has ended; nothing if it took longer than `seconds` and was killed.
std::optional<int> wait_for(pid_t process, int seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  for (auto pause = std::chrono::microseconds(200);; pause = std::min(pause * 2, std::chrono::microseconds(5000))) {
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) return status;
    if (ended < 0 && errno != EINTR) return 0;  // the calling program reaps its children itself; the output will tell
    if (Clock::now() >= end) break;
    std::this_thread::sleep_for(pause);
  }
  kill(process, SIGKILL);
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) continue;
  return {};
}

}  // namespace

std::string run_program(const std::vector<std::string>& arguments, std::string_view input, std::string_view caller,
                        std::string_view advice, int seconds) {
  XGRAD_ASSERT(!arguments.empty());
  ScratchFile given(caller), output(caller), complaints(caller);
  given.write(input);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const std::string& name = arguments.front();
  pid_t process = 0;
#ifdef __EMSCRIPTEN__
  const int error = ENOSYS;  // a page runs no programs
#else
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, given.descriptor(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, complaints.descriptor(), STDERR_FILENO);
  const int error = posix_spawnp(&process, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
#endif
  if (error != 0) {
    fail<IoError>(caller, "cannot run the program ", name, " (", std::strerror(error), ')', advice);
  }
  const std::optional<int> status = wait_for(process, seconds);
  if (!status) fail<IoError>(caller, name, " did not end within ", seconds, " s", advice);
  if (WIFSIGNALED(*status)) fail<IoError>(caller, name, " was ended by signal ", WTERMSIG(*status), advice);
  if (WEXITSTATUS(*status) != 0) {
    fail<IoError>(caller, name, " ended with ", WEXITSTATUS(*status), ": ", printable(complaints.read()), advice);
  }
  return output.read();
}

}  // namespace xgrad::detail
