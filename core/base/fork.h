// What a child process must find whole: fork() copies memory, but of all threads only the one that calls it.
#pragma once

#include <mutex>

#include "config.h"

namespace xgrad::detail {

/// Makes fork() wait for a mutex, so that what it guards is whole in the child and nobody there waits for a thread that
/// only the parent has. For static objects beside the mutex, which live as long as the program. Threads: made before
/// main().
class WholeAtFork {
 public:
  /// In which order fork() locks them: who holds one of `engine` may go on to those behind it, as all threads do.
  enum Order { engine, pools, shared_lists, large_blocks };

  WholeAtFork(std::mutex& (*mutex)(), Order order);

 private:
  static void lock();
  static void unlock();

  std::mutex& (*mutex_)();
  Order order_;
  WholeAtFork* next_;
  inline static constinit WholeAtFork* first_ = nullptr;
};

}  // namespace xgrad::detail
