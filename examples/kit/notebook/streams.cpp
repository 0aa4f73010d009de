#include "streams.h"

#include <cstdio>
#include <iostream>
#include <stdexcept>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace xgrad::notebook {
namespace {

/// How many bytes at the end are the beginning of a character whose other bytes are to come.
std::size_t incomplete(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;
    const std::size_t length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

bool waiting(int file) {
  int bytes = 0;
  return ioctl(file, FIONREAD, &bytes) == 0 && bytes > 0;
}

}  // namespace

Streams::Streams(Publish publish, std::size_t most) : publish_(std::move(publish)), most_(most) {
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

void Streams::open() {
  // What was written while no cell ran belongs to none.
  char buffer[1 << 12];
  for (const Stream& stream : streams_)
    while (waiting(stream.reads) && read(stream.reads, buffer, sizeof buffer) > 0) {
    }
  taken_ = 0;
  mutex_.unlock();
}

void Streams::close() {
  std::cout.flush();
  std::fflush(nullptr);
  while (true) {
    mutex_.lock();
    if (empty()) break;
    mutex_.unlock();
    usleep(500);
  }
  if (taken_ > most_)
    publish_("stderr", "... the cell wrote " + std::to_string(taken_ / 1000) + " kB, of which these are the first\n");
}

bool Streams::empty() const { return !waiting(streams_[0].reads) && !waiting(streams_[1].reads); }

void Streams::pass_on() {
  pollfd sources[2] = {{.fd = streams_[0].reads, .events = POLLIN, .revents = 0},
                       {.fd = streams_[1].reads, .events = POLLIN, .revents = 0}};
  while (true) {
    if (poll(sources, 2, -1) <= 0) continue;
    const std::scoped_lock lock(mutex_);
    for (int i = 0; i < 2; ++i)
      if (waiting(sources[i].fd)) take(streams_[i]);  // open() may have emptied it
  }
}

void Streams::take(Stream& stream) {
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

}  // namespace xgrad::notebook
