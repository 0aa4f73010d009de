// Keeping the state of a child process consistent: fork() copies all memory, but only the thread that calls it.
#pragma once

#include <mutex>

#include "config.h"

namespace xgrad::detail {

/// Makes fork() wait for a mutex, so that the data it guards is consistent in the child and no thread there waits for
/// one that only the parent has. For static objects beside the mutex, which live as long as the program. Threads: made
/// before main().
class WholeAtFork {
 public:
  /// The order in which fork() locks them: a holder of `engine` may go on to lock those after it, as all threads do.
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
