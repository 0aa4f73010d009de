// Random numbers that are the same on every machine: a counter-based generator and our own conversions.
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011) turns a key and a
// counter into four random words; there is no state to carry from one number to the next. So element i of a draw
// depends only on the seed, the number of the draw and i, not on the shape, the order or the number of threads.
//
// The key of a draw is the last argument: randperm(n, {.seed = 1, .draw = epoch}). Without a key, randperm(n), the
// key is that of the next draw of this thread's generator. (An overload takes it: a default argument could be evaluated
// before draws in the other arguments.)
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "array.h"

namespace xgrad {

/// The Philox4x32-10 function.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

namespace detail {
/// A number of 64 bits that whole numbers of every type convert to. Throws ValueError for a negative one, under the
/// name Self::name. Threads: a plain value.
template <class Self>
class NotNegative {
 public:
  constexpr NotNegative() = default;
  template <std::integral I>
  constexpr NotNegative(I number) : number_(static_cast<std::uint64_t>(number)) {
    if constexpr (std::signed_integral<I>) {
      if (number < 0) fail<ValueError>(Self::name, number, " is negative");
    }
  }
  constexpr operator std::uint64_t() const { return number_; }
  friend void append(std::string& out, const NotNegative& number) { xgrad::append(out, number.number_); }

 private:
  std::uint64_t number_ = 0;
};
}  // namespace detail

/// The number that random numbers follow from, 0 ... 2^64 - 1. Throws ValueError for a negative one.
struct Seed : detail::NotNegative<Seed> {
  static constexpr const char* name = "seed";
  using NotNegative::NotNegative;
};
/// The number of a draw of random numbers with the same seed, likewise.
struct DrawNumber : detail::NotNegative<DrawNumber> {
  static constexpr const char* name = "draw";
  using NotNegative::NotNegative;
};

/// The key of one draw of random numbers: the seed and the number of the draw.
struct RandomKey {
  Seed seed = 0;
  DrawNumber draw = 0;
};

/// The state of the generator: everything that a checkpoint has to keep.
struct RandomState {
  Seed seed = 0;
  DrawNumber draws = 0;  ///< draws made so far
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

/// A seed that follows from a seed and two numbers: for others it is another, but for a chance of 2^-64.
Seed mixed_seed(Seed seed, std::int64_t a, std::int64_t b);

/// Restarts this thread's generator: the same seed gives the same numbers in every thread. A generator that was never
/// seeded starts with seed 0 in the main thread and in each other thread with a seed of its own, in the order in which
/// threads first draw. So no two threads draw the same numbers; threads that should draw the same ones in every run
/// must be seeded, each with a number of its own.
void manual_seed(Seed seed);
RandomState random_state();
void set_random_state(const RandomState& state);
/// The key of the next draw. Every draw takes one. Threads: this function and the three above act on the thread's own
/// generator; all others here depend only on their arguments.
RandomKey next_random_key();

/// Words 4 i ... 4 i + 3 of a draw.
std::array<std::uint32_t, 4> random_words(const RandomKey& key, std::uint64_t i);

/// Words first, first + 1, ... of a draw, as many as fit.
void random_words(const RandomKey& key, std::uint64_t first, std::span<std::uint32_t> words);

/// Uniform in [0, 1).
Array random_uniform(const Shape& shape, const RandomKey& key);
/// Normal with mean 0 and deviation 1, by Wichura's inverse of the distribution function (AS 241, 1988).
Array random_normal(const Shape& shape, const RandomKey& key);
/// Whole numbers in [low, high). Throws ValueError unless low < high.
Index randint(std::int64_t low, std::int64_t high, const Shape& shape, const RandomKey& key);
inline Index randint(std::int64_t low, std::int64_t high, const Shape& shape) {
  return randint(low, high, shape, next_random_key());
}
/// 0 ... n - 1 in random order (Fisher-Yates). Throws ValueError for a negative n.
Index randperm(std::int64_t n, const RandomKey& key);
inline Index randperm(std::int64_t n) { return randperm(n, next_random_key()); }

/// The quantile of the standard normal distribution at p in (0, 1): AS 241, relative error 1e-16.
double normal_quantile(double p);

}  // namespace xgrad
