// The largest and smallest integers, and what a function may do with them: give a right result or refuse.
#pragma once

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/runtime/memory.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/products/linalg.h>
#include <xgrad/ops/reduce/reduce.h>

namespace xgrad::testing {

// Sums and products of extremes, exactly.
__extension__ using Wide = __int128;

// Also defined where the build is for an emulator (tests/CMakeLists.txt).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define XGRAD_MEMORY_UNLIMITED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define XGRAD_MEMORY_UNLIMITED 1
#endif
#endif

inline const std::vector<std::int64_t> numbers = [] {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t one = 1;
  return std::vector<std::int64_t>{
      Limits::min(), Limits::min() + 1, -(one << 62), -(one << 40), -3, -2, -1, 0, 1, 2, 3, 4,
      one << 31,     one << 40,         one << 62,    Limits::max() - 1, Limits::max()};
}();

inline const std::vector<int> small_numbers{
    std::numeric_limits<int>::min(),     std::numeric_limits<int>::min() + 1, -9, -3, -2, -1, 0, 1, 2, 3, 8,
    std::numeric_limits<int>::max() - 1, std::numeric_limits<int>::max()};

/// The numbers for arguments with which memory grows. Sanitizers need the address space for themselves, so it cannot be
/// limited: then without those that could be had.
inline std::vector<std::int64_t> sizes() {
#ifdef XGRAD_MEMORY_UNLIMITED
  std::vector<std::int64_t> all = numbers;
  std::erase_if(all, [](std::int64_t n) { return n > 4 && n < std::int64_t{1} << 60; });
  return all;
#else
  return numbers;
#endif
}

/// While it lives, the process can get no more than `bytes` of memory beyond what it has.
class MemoryLimit {
 public:
  explicit MemoryLimit(std::int64_t bytes = std::int64_t{64} << 20) {
    // Threads, and the buffers of the BLAS, are to be there before; what the pool has kept of earlier cases is not.
    (void)linalg::inv(eye(64));
    parallel_for(1000, 1, [](std::int64_t, std::int64_t) {});
    xgrad::detail::pool_trim();
    getrlimit(RLIMIT_AS, &before_);
#ifndef XGRAD_MEMORY_UNLIMITED
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + bytes);
    if (pages > 0) setrlimit(RLIMIT_AS, &limit);
#else
    (void)bytes;
#endif
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

/// Calls f, which may throw an Error if `legal` does not hold, and has to then; want of memory is always an excuse.
template <class F>
void accepts(bool legal, const F& f) {
  try {
    f();
    CHECK_MESSAGE(legal, "was not refused");
  } catch (const Error& error) {
    const std::string why = error.what();
    CHECK_MESSAGE((!legal || why.find("no memory for ") != why.npos), "was refused: ", why);
    xgrad::detail::pool_trim();
  } catch (const std::bad_alloc&) {
    xgrad::detail::pool_trim();
  }
}

/// Calls f, which may throw an Error.
template <class F>
void survives(const F& f) {
  try {
    f();
  } catch (const Error& error) {
    CHECK(*error.what() != '\0');
  } catch (const std::bad_alloc&) {
    xgrad::detail::pool_trim();
  }
}

/// y, after going through its first and second gradient with respect to x.
inline Tensor with_gradients(const Tensor& y, const Tensor& x) {
  if (!y.requires_grad() || y.size() > 100'000) return y;
  const Tensor g = grad(sum(y * y), {x}, {.create_graph = true})[0];
  CHECK(g.shape() == x.shape());
  if (g.requires_grad()) CHECK(grad(sum(g * g), {x}, {.unused = Unused::zeros})[0].shape() == x.shape());
  return y;
}

}  // namespace xgrad::testing
