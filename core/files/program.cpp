// Another program, run under limits.
#include "program.h"

#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "../base/error.h"
#include "../base/text.h"

extern char** environ;

namespace xgrad::detail {
namespace {

// A file without a name that is gone when it is closed, and that programs which other threads start do not get.
class ScratchFile {
 public:
  explicit ScratchFile(std::string_view caller) : caller_(caller), file_(opened(memfd_create("xgrad", MFD_CLOEXEC))) {
    if (!file_) fail<IoError>(caller_, "no temporary file: ", std::strerror(errno));
  }
  ~ScratchFile() { std::fclose(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  int descriptor() const { return fileno(file_); }
  void write(std::string_view text) {
    const bool good = std::fwrite(text.data(), 1, text.size(), file_) == text.size() && std::fflush(file_) == 0;
    if (!good) fail<IoError>(caller_, "temporary file: ", std::strerror(errno));
    std::rewind(file_);
  }
  std::string read() {
    std::string text;
    std::array<char, 1 << 14> block;
    std::rewind(file_);
    while (const std::size_t count = std::fread(block.data(), 1, block.size(), file_)) text.append(block.data(), count);
    return text;
  }

 private:
  static std::FILE* opened(int descriptor) {
    std::FILE* file = descriptor < 0 ? nullptr : fdopen(descriptor, "w+");
    if (!file && descriptor >= 0) close(descriptor);
    return file;
  }

  std::string_view caller_;
  std::FILE* file_;
};

// The start of the new process: with these files, in a process group of its own, and with no signal blocked or ignored.
class Beginning {
 public:
  Beginning(const ScratchFile& input, const ScratchFile& output, const ScratchFile& complaints) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, input.descriptor(), STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files_, output.descriptor(), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files_, complaints.descriptor(), STDERR_FILENO);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Beginning() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  Beginning(const Beginning&) = delete;
  Beginning& operator=(const Beginning&) = delete;

  const posix_spawn_file_actions_t* files() const { return &files_; }
  const posix_spawnattr_t* attributes() const { return &attributes_; }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

// Lowers a limit; one that is lower already stays.
void limit_resource(pid_t process, __rlimit_resource resource, rlim_t soft, rlim_t hard) {
  rlimit limit{};
  if (prlimit(process, resource, nullptr, &limit) != 0) return;
  limit = {std::min(limit.rlim_cur, soft), std::min(limit.rlim_max, hard)};
  prlimit(process, resource, &limit, nullptr);
}

// The status of the process when it has ended; it is killed if that takes longer than `seconds`.
struct Ending {
  int status = 0;
  bool in_time = true;
};
Ending wait_for(pid_t process, int seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  Ending ending;
  for (auto pause = std::chrono::microseconds(200);; pause = std::min(pause * 2, std::chrono::microseconds(5000))) {
    const pid_t ended = waitpid(process, &ending.status, ending.in_time ? WNOHANG : 0);
    if (ended == process) return ending;
    if (ended < 0 && errno != EINTR) return {};  // the calling program reaps its children itself; the output will tell
    if (ended == 0 && Clock::now() >= end) {
      kill(-process, SIGKILL);
      ending.in_time = false;
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, std::string_view input,
                          const DrawingLimits& limits, std::string_view caller) {
  ScratchFile given(caller), output(caller), complaints(caller);
  given.write(input);
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  const Beginning beginning(given, output, complaints);
  const std::string& name = arguments.front();
  ProgramResult result;
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, name.c_str(), beginning.files(), beginning.attributes(), words.data(), environ);
  if (error != 0) {
    result.is_there = false;
    result.failure = cat("cannot run the program ", name, " (", std::strerror(error), ')');
    return result;
  }
  const auto seconds = static_cast<rlim_t>(limits.processor_seconds), bytes = static_cast<rlim_t>(limits.memory);
  limit_resource(process, RLIMIT_CPU, seconds, seconds + 1);  // a signal that tells why, then one that kills
  limit_resource(process, RLIMIT_AS, bytes, bytes);
  limit_resource(process, RLIMIT_CORE, 0, 0);
  const Ending ending = wait_for(process, limits.seconds);
  result.output = output.read();
  result.failure = !ending.in_time ? cat(name, " did not end within ", limits.seconds, " s")
                   : WIFSIGNALED(ending.status) && WTERMSIG(ending.status) == SIGXCPU
                       ? cat(name, " did not end within ", limits.processor_seconds, " s of processor time")
                   : WIFSIGNALED(ending.status) ? cat(name, " was ended by signal ", WTERMSIG(ending.status), ", with ",
                                                      limits.memory >> 20, " MiB of memory allowed")
                   : WEXITSTATUS(ending.status) != 0
                       ? cat(name, " ended with ", WEXITSTATUS(ending.status), ": ", printable(complaints.read()))
                       : std::string();
  return result;
}

}  // namespace xgrad::detail
