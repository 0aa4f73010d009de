// The generator, and the conversions of its words to numbers.
#include "random.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>
#include <type_traits>

#include "../runtime/parallel.h"

namespace xgrad {
namespace {

// The thread that starts the program: the first call is made before main().
std::thread::id first_thread() {
  static const std::thread::id first = std::this_thread::get_id();
  return first;
}
[[maybe_unused]] const std::thread::id at_start = first_thread();

// The seed of a thread that was never seeded. The odd factor keeps the seeds of threads apart from each other and from
// the small numbers that people choose.
std::uint64_t seed_of_this_thread() {
  static std::atomic<std::uint64_t> others{0};
  if (std::this_thread::get_id() == first_thread()) return 0;
  return (others.fetch_add(1, std::memory_order_relaxed) + 1) * 0x9E3779B97F4A7C15;
}

thread_local RandomState generator{.seed = seed_of_this_thread(), .draws = 0};

constexpr std::int64_t block = 1 << 14;  // elements made by one thread at a time

// Element i of the result comes from word i through `convert`.
template <class T, class Convert>
BasicArray<T> from_words(const Shape& shape, const RandomKey& key, const Convert& convert) {
  BasicArray<T> result(shape);
  T* out = result.mutable_data();
  parallel_for(result.size(), block, [&](std::int64_t begin, std::int64_t end) {
    std::array<std::uint32_t, 1024> words;
    for (std::int64_t i = begin; i < end; i += std::ssize(words)) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(words.size(), end - i));
      random_words(key, static_cast<std::uint64_t>(i), std::span(words).first(count));
      for (std::size_t j = 0; j < count; ++j) out[i + static_cast<std::int64_t>(j)] = convert(words[j]);
    }
  });
  return result;
}

// In [0, 1), exact in float and double: float keeps 24 bits.
Real uniform(std::uint32_t word) {
  if constexpr (std::is_same_v<Real, float>) {
    return static_cast<Real>(word >> 8) * Real(0x1p-24);
  } else {
    return static_cast<Real>(word) * Real(0x1p-32);
  }
}

// Number i of a draw, below `range`: the high half of a product, which is uniform up to a bias of range / 2^64.
std::uint64_t number_below(std::uint64_t range, const RandomKey& key, std::int64_t i) {
  const auto words = random_words(key, static_cast<std::uint64_t>(i));
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{std::uint64_t{words[1]} << 32 | words[0]} * range) >> 64);
}

// A quotient of two polynomials of degree 7.
struct Quotient {
  std::array<double, 8> above;  // coefficients of 1, x, ..., x^7
  std::array<double, 7> below;  // of x, ..., x^7; that of 1 is 1

  // The quotient at x times a factor, by Horner's rule.
  double times(double factor, double x) const {
    double numerator = 0, denominator = 0;
    for (auto a = above.rbegin(); a != above.rend(); ++a) numerator = numerator * x + *a;
    for (auto b = below.rbegin(); b != below.rend(); ++b) denominator = denominator * x + *b;
    return factor * numerator / (denominator * x + 1);
  }
};

}  // namespace

Seed mixed_seed(Seed seed, std::int64_t a, std::int64_t b) {
  const auto low = [](std::uint64_t x) { return static_cast<std::uint32_t>(x); };
  const auto high = [](std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); };
  const auto first = static_cast<std::uint64_t>(a), second = static_cast<std::uint64_t>(b);
  const auto words = philox({low(first), high(first), low(second), high(second)}, {low(seed), high(seed)});
  return static_cast<std::uint64_t>(words[1]) << 32 | words[0];
}

void manual_seed(Seed seed) { generator = {.seed = seed, .draws = 0}; }
RandomState random_state() { return generator; }
void set_random_state(const RandomState& state) { generator = state; }
RandomKey next_random_key() {
  const RandomKey key{.seed = generator.seed, .draw = generator.draws};
  generator.draws = generator.draws + 1;
  return key;
}

Array random_uniform(const Shape& shape, const RandomKey& key) { return from_words<Real>(shape, key, uniform); }

Array random_normal(const Shape& shape, const RandomKey& key) {
  return from_words<Real>(shape, key, [](std::uint32_t word) {
    return static_cast<Real>(normal_quantile((static_cast<double>(word) + 0.5) * 0x1p-32));
  });
}

Index randint(std::int64_t low, std::int64_t high, const Shape& shape, const RandomKey& key) {
  if (low >= high) fail<ValueError>("randint", "low ", low, " is not below high ", high);
  const auto range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  Index result(shape);
  std::int64_t* out = result.mutable_data();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const std::uint64_t offset = number_below(range, key, i);
    out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }
  return result;
}

Index randperm(std::int64_t n, const RandomKey& key) {
  if (n < 0) fail<ValueError>("randperm", "negative count ", n);
  Index result(Shape{n});
  std::int64_t* order = result.mutable_data();
  std::iota(order, order + n, std::int64_t{0});
  for (std::int64_t i = n - 1; i > 0; --i) {
    std::swap(order[i], order[number_below(static_cast<std::uint64_t>(i + 1), key, i)]);
  }
  return result;
}

double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) fail<ValueError>("normal_quantile", "probability ", p, " is not in (0, 1)");
  static constexpr Quotient middle{
      {3.3871328727963666080, 1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
       4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3},
      {4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3, 2.1213794301586595867e+4,
       3.9307895800092710610e+4, 2.8729085735721942674e+4, 5.2264952788528545610e+3}};
  static constexpr Quotient tail{
      {1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
       1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
      {2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1, 1.48103976427480074590e-1,
       1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9}};
  static constexpr Quotient far_tail{
      {6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
       2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
      {5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2, 7.86869131145613259100e-4,
       1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15}};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) return middle.times(q, 0.180625 - q * q);
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p)), sign = q < 0 ? -1 : 1;
  return r <= 5 ? tail.times(sign, r - 1.6) : far_tail.times(sign, r - 5);
}

}  // namespace xgrad
