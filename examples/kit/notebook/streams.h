// Standard output and standard error of a process, passed on while it runs. Private.
#pragma once

#include <cstddef>
#include <cstdio>
#include <functional>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace xgrad::notebook {

/// Takes what the process writes to its standard output and standard error from construction on, also what C functions,
/// threads and child processes write, and passes it on, as long as a cell is open. More than `most` bytes of a cell are
/// cut, with a word.
class Streams {
 public:
  /// `name` is "stdout" or "stderr"; the text is UTF-8 as far as what was written is.
  using Publish = std::function<void(const std::string& name, const std::string& text)>;

  explicit Streams(Publish publish, std::size_t most = 1 << 20) : publish_(std::move(publish)), most_(most) {
    for (Stream& stream : streams_) {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for the output of cells");
      stream.reads = ends[0];
      dup2(ends[1], stream.name == std::string_view("stdout") ? STDOUT_FILENO : STDERR_FILENO);
      ::close(ends[1]);
    }
    std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
    mutex_.lock();
    reader_ = std::thread([this] { pass_on(); });
    reader_.detach();
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Between the two, and only then, texts are passed on; `close` passes on all that was written before.
  void open() {
    // What was written while no cell ran belongs to none.
    char buffer[1 << 12];
    for (const Stream& stream : streams_)
      while (waiting(stream.reads) && read(stream.reads, buffer, sizeof buffer) > 0) {
      }
    taken_ = 0;
    mutex_.unlock();
  }
  void close() {
    std::cout.flush();
    std::fflush(nullptr);
    while (true) {
      mutex_.lock();
      if (!waiting(streams_[0].reads) && !waiting(streams_[1].reads)) break;
      mutex_.unlock();
      usleep(500);
    }
    if (taken_ > most_)
      publish_("stderr", "... the cell wrote " + std::to_string(taken_ / 1000) + " kB, of which these are the first\n");
  }

  /// To be held by those who publish something else while a cell is open.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Stream {
    const char* name;
    int reads = -1;
    std::string rest = {};  // the beginning of a character
  };

  static bool waiting(int file) {
    int bytes = 0;
    return ioctl(file, FIONREAD, &bytes) == 0 && bytes > 0;
  }

  // How many bytes at the end are the beginning of a character whose other bytes are to come.
  static std::size_t incomplete(std::string_view text) {
    for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
      const auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if ((byte & 0xc0) == 0x80) continue;
      const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
      return length > back ? back : 0;
    }
    return 0;
  }

  void pass_on() {
    pollfd sources[2] = {{.fd = streams_[0].reads, .events = POLLIN, .revents = 0},
                         {.fd = streams_[1].reads, .events = POLLIN, .revents = 0}};
    while (true) {
      if (poll(sources, 2, -1) <= 0) continue;
      const std::scoped_lock lock(mutex_);
      for (int i = 0; i < 2; ++i)
        if (waiting(sources[i].fd)) take(streams_[i]);  // open() may have emptied it
    }
  }

  void take(Stream& stream) {
    char buffer[1 << 16];
    const ssize_t count = read(stream.reads, buffer, sizeof buffer);
    if (count <= 0) return;
    const std::size_t before = taken_;
    taken_ += static_cast<std::size_t>(count);
    if (before > most_) return;
    std::string text = std::exchange(stream.rest, {}) + std::string(buffer, static_cast<std::size_t>(count));
    if (const std::size_t bytes = incomplete(text); bytes > 0) {
      stream.rest = text.substr(text.size() - bytes);
      text.resize(text.size() - bytes);
    }
    if (!text.empty()) publish_(stream.name, text);
  }

  Publish publish_;
  std::size_t most_, taken_ = 0;
  Stream streams_[2] = {{.name = "stdout"}, {.name = "stderr"}};
  std::mutex mutex_;  // held where no cell is open
  std::thread reader_;
};

}  // namespace xgrad::notebook
