// The one parallel loop. Work is cut into blocks that do not depend on the number of threads, so results are the same
// bit for bit with 1 thread or 16.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "../base/config.h"

namespace xgrad {

/// The number of threads that parallel loops use, the calling one included. Initially the environment variable
/// XGRAD_THREADS, else the number of processors that this process may run on. Where the system cannot start as many
/// threads, loops run with fewer, with the same results. The environment is read by the first loop of several blocks or
/// the first call of these functions, which throws ValueError if the variable is neither empty nor valid. A process may
/// fork() while none of its other threads uses the library; the child then starts helping threads of its own.
int threads();
/// Waits for the loop of another thread to end. Throws ValueError unless 1 <= count <= 1024, and inside a loop.
void set_threads(int count);

namespace detail {
/// Calls run(context, begin, end) for the blocks [0, grain), [grain, 2 grain), ... of [0, count).
void parallel_blocks(std::int64_t count, std::int64_t grain, void (*run)(const void*, std::int64_t, std::int64_t),
                     const void* context);
}  // namespace detail

/// Calls f(begin, end) for consecutive blocks of `grain` (the last may be shorter) that together cover [0, count), each
/// once, from several threads and in any order. f must touch only data that belongs to its block. An exception of f
/// reaches the caller: that of the lowest block if several throw. All threads record operations, and have a place in
/// the model and in a gradient rule, as the caller does. A loop inside a loop runs on the calling thread. Threads: any
/// may call this; one loop at a time has the helping threads, the others run where they were called.
template <class F>
void parallel_for(std::int64_t count, std::int64_t grain, const F& f) {
  if (count <= 0) return;
  if (count <= grain) {
    f(std::int64_t{0}, count);
    return;
  }
  detail::parallel_blocks(
      count, grain,
      [](const void* context, std::int64_t begin, std::int64_t end) { (*static_cast<const F*>(context))(begin, end); },
      std::addressof(f));
}

}  // namespace xgrad
