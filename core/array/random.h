// Random numbers that are equal on every machine: a counter-based generator, and functions that convert its words to
// numbers.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011) turns a key and a
// counter into four random words, without a state. So element i of a draw depends only on the seed, the number of the
// draw and i, and not on the shape, the order or the number of threads.
//
// The last argument of a draw is its key: randperm(n, {.seed = 1, .draw = epoch}). A call without a key, such as
// randperm(n), uses the key of the next draw of this thread's generator. Such calls are overloads: a default argument
// could take its key before draws in the other arguments take theirs.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "array.h"

namespace xgrad {

/// The Philox4x32-10 function: the four random words of a counter and a key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

namespace detail {
/// An unsigned 64-bit number, made from an integer of any type. Throws ValueError for a negative integer. The error
/// begins with Self::name.
template <class Self>
class NotNegative {
 public:
  constexpr NotNegative() = default;
  template <std::integral T>
  constexpr NotNegative(T number) : number_(static_cast<std::uint64_t>(number)) {
    if constexpr (std::signed_integral<T>) {
      if (number < 0) fail<ValueError>(Self::name, number, " is negative");
    }
  }
  constexpr operator std::uint64_t() const { return number_; }
  friend void append(std::string& out, const NotNegative& number) { xgrad::append(out, number.number_); }

 private:
  std::uint64_t number_ = 0;
};
}  // namespace detail

/// The seed of random numbers, 0 ... 2^64 - 1: equal seeds give equal numbers. Throws ValueError for a negative seed.
struct Seed : detail::NotNegative<Seed> {
  static constexpr const char* name = "seed";
  using NotNegative::NotNegative;
};
/// The number of a draw, 0 ... 2^64 - 1, which tells draws with the same seed apart. Throws ValueError if it is
/// negative.
struct DrawNumber : detail::NotNegative<DrawNumber> {
  static constexpr const char* name = "draw";
  using NotNegative::NotNegative;
};

/// The key of one draw of random numbers: the seed and the number of the draw.
struct RandomKey {
  Seed seed = 0;
  DrawNumber draw = 0;
};

/// The state of a generator, for checkpoints.
struct RandomState {
  Seed seed = 0;
  DrawNumber draws = 0;  ///< the number of draws made so far
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

/// A new seed: the hash of a seed and two integers. Two such seeds are equal with probability 2^-64.
Seed mixed_seed(Seed seed, std::int64_t a, std::int64_t b);

/// Restarts this thread's generator: the same seed gives the same numbers in every thread. Without a call the main
/// thread has the seed 0. Each other thread gets a seed of its own at its first draw, so no two threads draw the same
/// numbers. That seed depends on the order in which threads first draw. For equal numbers in every run, call this
/// function in each thread with a different seed.
void manual_seed(Seed seed);
RandomState random_state();
void set_random_state(const RandomState& state);
/// The key of the next draw; each call returns a new key. Threads: this function and the three above act on the
/// generator of the calling thread. Functions that take a key depend only on their arguments.
RandomKey next_random_key();

/// The random words 4 i ... 4 i + 3 of a draw.
std::array<std::uint32_t, 4> random_words(const RandomKey& key, std::uint64_t i);

/// Fills `words` with the random words first, first + 1, ... of a draw.
void random_words(const RandomKey& key, std::uint64_t first, std::span<std::uint32_t> words);

/// Uniformly distributed numbers in [0, 1).
Array random_uniform(const Shape& shape, const RandomKey& key);
/// Normally distributed numbers with mean 0 and standard deviation 1, computed by normal_quantile().
Array random_normal(const Shape& shape, const RandomKey& key);
/// Uniformly distributed integers in [low, high). Throws ValueError unless low < high.
Index randint(std::int64_t low, std::int64_t high, const Shape& shape, const RandomKey& key);
inline Index randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, next_random_key());
}
/// The numbers 0 ... n - 1 in random order (Fisher-Yates). Throws ValueError for a negative n.
Index randperm(std::int64_t n, const RandomKey& key);
inline Index randperm(std::int64_t n) { return randperm(n, next_random_key()); }

/// The quantile of the standard normal distribution at p in (0, 1), with relative error 1e-16 (Wichura, AS 241, 1988).
double normal_quantile(double p);

}  // namespace xgrad
