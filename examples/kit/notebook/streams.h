// Standard output and standard error of a process, passed on while it runs. Private.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace xgrad::notebook {

/// Takes what the process writes to its standard output and standard error from construction on, also what C functions,
/// threads and child processes write, and passes it on, as long as a cell is open. More than `most` bytes of a cell are
/// cut, with a word.
class Streams {
 public:
  /// `name` is "stdout" or "stderr"; the text is UTF-8 as far as what was written is.
  using Publish = std::function<void(const std::string& name, const std::string& text)>;

  explicit Streams(Publish publish, std::size_t most = 1 << 20);
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;

  /// Between the two, and only then, texts are passed on; `close` passes on all that was written before.
  void open();
  void close();

  /// To be held by those who publish something else while a cell is open.
  std::mutex& mutex() { return mutex_; }

 private:
  struct Stream {
    const char* name;
    int reads = -1;
    std::string rest = {};  // the beginning of a character
  };
  void pass_on();
  void take(Stream& stream);
  bool empty() const;

  Publish publish_;
  std::size_t most_, taken_ = 0;
  Stream streams_[2] = {{.name = "stdout"}, {.name = "stderr"}};
  std::mutex mutex_;  // held where no cell is open
  std::thread reader_;
};

}  // namespace xgrad::notebook
