// parallel_for, the only parallel loop. Its blocks do not depend on the number of threads, so results are equal bit for
// bit with 1 thread or 16.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "../base/config.h"

namespace xgrad {

/// The number of threads that parallel loops use, the calling one included. By default it is the value of the
/// environment variable XGRAD_THREADS, or without it the number of processors that this process may run on. If the
/// system cannot start as many threads, loops run with fewer and give the same results. The first loop of several
/// blocks, or the first call of these functions, reads the environment and throws ValueError if the variable is neither
/// empty nor valid. A process may fork() while none of its other threads uses the library; the child then starts worker
/// threads of its own.
int threads();
/// Sets the number of threads. Waits until a loop of another thread has ended. Throws ValueError inside a loop, and
/// unless 1 <= count <= 1024.
void set_threads(int count);

namespace detail {
/// Calls run(context, begin, end) for the blocks [0, grain), [grain, 2 grain), ... of [0, count).
void parallel_blocks(std::int64_t count, std::int64_t grain, void (*run)(const void*, std::int64_t, std::int64_t),
                     const void* context);
}  // namespace detail

/// Splits [0, count) into blocks of `grain` (the last may be shorter) and calls f(begin, end) once for each block, from
/// several threads and in any order. f must touch only data that belongs to its block. If f throws, the caller gets the
/// exception of the lowest block. All threads have the recording mode, the place in the model and the gradient rule of
/// the caller. A loop inside a loop runs on the calling thread. Thread-safe: one loop at a time uses the worker
/// threads, and other loops run on their calling threads.
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
