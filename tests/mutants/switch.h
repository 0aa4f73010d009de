// The switch before every mutant of tests/mutants/run.py, which includes it in the sources of its copy of the tree.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <type_traits>
#include <utility>

namespace xgrad_mutants {

inline constexpr int most = 10000;
using Reached = std::atomic<bool>[most];
/// The number of the mutant that is on, from $XGRAD_MUTANT; 0 before it is read; -1 if none is on and reached() is written.
inline std::atomic<int> active{0};
/// Shared with child processes, in which some test cases run a part of theirs.
inline Reached& reached() {
  static void* const memory = mmap(nullptr, sizeof(Reached), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return *static_cast<Reached*>(memory);
}

/// A mutant whose `at` is no symbol of a program is not part of the program.
template <int number>
[[gnu::noinline]] bool at() {
  int on = active.load(std::memory_order_relaxed);
  if (on == 0) {
    const char* given = std::getenv("XGRAD_MUTANT");
    active = on = given ? std::atoi(given) : -1;
  }
  if (on < 0) reached()[number].store(true, std::memory_order_relaxed);
  return on == number;
}

}  // namespace xgrad_mutants

template <int number>
inline bool xgrad_mutant() {
  const int on = xgrad_mutants::active.load(std::memory_order_relaxed);
  return on == number || (on <= 0 && xgrad_mutants::at<number>());
}

/// An argument of a call, or its neighbour in its place: where that fits, else there is no such mutant.
template <int number, class A, class B>
inline A&& xgrad_swapped(A&& a, [[maybe_unused]] B&& b) {
  using Value = std::remove_cvref_t<A>;
  if constexpr (std::is_same_v<Value, std::remove_cvref_t<B>>) {
    if (xgrad_mutant<number>()) return static_cast<A&&>(const_cast<Value&>(b));
  } else if constexpr (std::is_arithmetic_v<Value> && std::is_arithmetic_v<std::remove_cvref_t<B>>) {
    thread_local Value converted;
    if (xgrad_mutant<number>()) return static_cast<A&&>(converted = static_cast<Value>(b));
  }
  return static_cast<A&&>(a);
}
