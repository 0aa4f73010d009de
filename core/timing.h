// Where the time goes: how long operations and their gradients take, kind by kind.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "scope.h"

namespace xgrad {

/// While it lives, the time of this thread is added up under what it was spent for. Scopes nest; the innermost counts.
///
///     OperationTimer timer;
///     for (int i = 0; i < 100; ++i) step();
///     for (const auto& line : timer.lines()) std::cout << line.what << " " << line.milliseconds << " ms\n";
///                                             // linear 3.1 ms, linear' 6.4 ms, ...
///
/// An operation's line holds the time since whatever came before it, so that what a program does in between counts for
/// the operation that follows. The gradients of an operation have a line with a ' behind its name, and the bookkeeping
/// of backward passes the line "graph". A line for which there is no memory is left out: measuring never fails.
///
/// Threads: a timer belongs to the thread that made it, and must die there; in any order with others.
class OperationTimer {
 public:
  struct Line {
    std::string what;
    std::int64_t calls = 0;
    double milliseconds = 0;
  };

  OperationTimer();
  ~OperationTimer();
  OperationTimer(const OperationTimer&) = delete;
  OperationTimer& operator=(const OperationTimer&) = delete;

  /// The longest first.
  std::vector<Line> lines() const;

  /// The timer of this thread, or nullptr.
  static OperationTimer* current() { return current_; }
  /// The time since the last call was spent for `what` (a literal), unless a gradient is being computed.
  void spent(const char* what) {
    if (depth_ == 0) add(what, Part::forward);
  }
  /// The gradients of an operation (a literal) are computed between the two.
  void begin_gradients() {
    if (depth_++ == 0) add("graph", Part::forward);
  }
  void end_gradients(const char* op) {
    if (--depth_ == 0) add(op, Part::backward);
  }

 private:
  using Clock = std::chrono::steady_clock;
  enum class Part { forward, backward };
  struct Sum {
    std::int64_t calls = 0;
    Clock::duration time{};
  };
  void add(const char* what, Part part) noexcept;

  std::unordered_map<const char*, Sum> sums_[2];
  Clock::time_point last_;
  int depth_ = 0;
  OperationTimer* outer_;
  static thread_local constinit OperationTimer* current_;
};

namespace detail {
/// Tells the timer, if there is one, that an operation is done.
inline void operation_done(const char* op) {
  if (OperationTimer* timer = OperationTimer::current()) [[unlikely]]
    timer->spent(op);
}
}  // namespace detail

}  // namespace xgrad
