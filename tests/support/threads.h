// Utilities for tests of threads: a number of threads for a while, the same bits for every number, a thread with a small
// stack.
#pragma once

#include <doctest/doctest.h>
#include <pthread.h>

#include <exception>
#include <stdexcept>

#include <xgrad/core/graph/tensor.h>
#include <xgrad/core/runtime/parallel.h>

namespace xgrad::testing {

/// Sets the number of threads of the parallel loop, and sets it back at the end of the scope.
class ThreadCount {
 public:
  explicit ThreadCount(int count) : earlier_(threads()) { set_threads(count); }
  ~ThreadCount() { set_threads(earlier_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int earlier_;
};

/// Calls f with each number of threads and checks that every call gives the bits of the first.
template <class F>
void check_same_bits(const F& f) {
  const ThreadCount restore(1);
  const Tensor first = f();
  for (const int count : {1, 2, 3, 7}) {
    CAPTURE(count);
    set_threads(count);
    const Tensor again = f();
    CHECK(equal(again.value(), first.value()));
  }
}

/// The length of a chain of nodes that recursion would not survive on a small stack. ThreadSanitizer, which remembers
/// more about a node than the node is large, gets a shorter one.
#ifdef __SANITIZE_THREAD__
inline constexpr int long_chain = 20'000;
#else
inline constexpr int long_chain = 1'000'000;
#endif

/// Calls f on a thread with a stack of 256 KiB and waits for it; an exception of f reaches the caller.
template <class F>
void on_small_stack(const F& f) {
  struct Call {
    const F& f;
    std::exception_ptr failure;
  } call{f, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        Call& mine = *static_cast<Call*>(argument);
        try {
          mine.f();
        } catch (...) {
          mine.failure = std::current_exception();
        }
        return nullptr;
      },
      &call);
  pthread_attr_destroy(&attributes);
  if (error != 0) throw std::runtime_error("no thread");
  pthread_join(thread, nullptr);
  if (call.failure) std::rethrow_exception(call.failure);
}

}  // namespace xgrad::testing
