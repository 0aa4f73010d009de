// Tests of core/array/random.h: known answers, independence of shape, order and threads, and the distributions.
#include <xgrad/core/array/random.h>

#include <cmath>
#include <limits>
#include <thread>

#include "support/check.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

const RandomState at_start = random_state();  // before main() and before any seed

// Of four standard deviations, for n numbers: by chance once in 16,000 times.
double four_sigma(double variance, double n) { return 4 * std::sqrt(variance / n); }

// The largest distance between the empirical distribution and `cdf` (Kolmogorov and Smirnov).
template <class F>
double distance(const Array& x, const F& cdf) {
  std::vector<Real> sorted(x.begin(), x.end());
  std::ranges::sort(sorted);
  double worst = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto n = static_cast<double>(sorted.size());
    const double p = cdf(sorted[i]);
    worst = std::max({worst, std::abs(p - static_cast<double>(i) / n), std::abs(p - static_cast<double>(i + 1) / n)});
  }
  return worst;
}

}  // namespace

TEST_CASE("seeds and numbers of draws are integers of any type, and negative ones are refused by name") {
  const std::int64_t n = 7;
  const Array expected = random_uniform({3}, {.seed = std::uint64_t{7}, .draw = std::uint64_t{2}});
  CHECK(equal(random_uniform({3}, {.seed = n, .draw = 2}), expected));
  CHECK(equal(random_uniform({3}, {.seed = static_cast<unsigned char>(7), .draw = short{2}}), expected));
  CHECK(RandomKey{.seed = ~std::uint64_t{0}}.seed == ~std::uint64_t{0});
  const RandomState before = random_state();
  CHECK_REFUSED(ValueError, random_uniform({3}, {.seed = n - 8}), "seed", "-1 is negative");
  CHECK_REFUSED(ValueError, random_uniform({3}, {.draw = -2}), "draw", "-2 is negative");
  CHECK_REFUSED(ValueError, manual_seed(-3), "seed", "-3 is negative");
  CHECK(random_state() == before);
  CHECK(str(before.seed, Seed(5)) == str(std::uint64_t{before.seed}, 5));
}

TEST_CASE("Philox4x32-10 gives the known answers of its authors, and uniform numbers are its words by 2^32") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  // The counter is position and draw, the key is the seed, all 64 bits of each.
  const RandomKey key{.seed = 0x299f31d0a4093822, .draw = 0x0370734413198a2e};
  CHECK(random_words(key, 0x85a308d3243f6a88) ==
        philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}));
  const Array x = random_uniform({20'000}, key);
  int wrong = 0;
  for (std::size_t i = 0; i < 20'000; ++i) wrong += x.data()[i] != random_words(key, i / 4)[i % 4] * 0x1p-32;
  CHECK(wrong == 0);
}

TEST_CASE("an element depends on the key and its place alone, not on shape, size or threads") {
  const RandomKey key{.seed = 5, .draw = 3};
  const Array whole = random_normal({100'000}, key);
  CHECK(equal(random_normal({100, 1000}, key).reshaped({-1}), whole));
  for (const std::int64_t size : {1, 2, 3, 5, 4099, 16384, 16385, 99'999}) {
    CHECK(std::ranges::equal(random_normal({size}, key), std::span(whole.begin(), static_cast<std::size_t>(size))));
  }
  for (const int count : {1, 2, 5}) {
    const ThreadCount restore(count);
    CHECK(equal(random_normal({100'000}, key), whole));
  }
}

TEST_CASE("the generator counts its draws; its state goes back and forth") {
  const RandomState before = random_state();
  manual_seed(42);
  CHECK(random_state() == RandomState{.seed = 42, .draws = 0});
  const RandomKey first = next_random_key();
  const RandomKey second = next_random_key();
  CHECK(first.seed == 42);
  CHECK(first.draw == 0);
  CHECK(second.draw == 1);
  const RandomState middle = random_state();
  const Array x = random_uniform({3}, next_random_key());
  set_random_state(middle);
  CHECK(equal(random_uniform({3}, next_random_key()), x));
  std::uint64_t elsewhere = 1;
  std::thread([&] { elsewhere = random_state().draws; }).join();
  CHECK(elsewhere == 0);  // every thread has a generator of its own
  set_random_state(before);
}

TEST_CASE("threads that nobody has seeded draw numbers of their own, with the same seed the same") {
  CHECK(at_start == RandomState{.seed = 0, .draws = 0});
  const auto draw = [](bool seeded) {
    Array x;
    std::thread([&] {
      if (seeded) manual_seed(7);
      x = random_uniform({100}, next_random_key());
    }).join();
    return x;
  };
  const Array first = draw(false), second = draw(false), of_main = random_uniform({100}, {.seed = 0, .draw = 0});
  CHECK_FALSE(equal(first, second));
  CHECK_FALSE(equal(first, of_main));
  CHECK_FALSE(equal(second, of_main));
  CHECK(equal(draw(true), random_uniform({100}, {.seed = 7, .draw = 0})));
}

TEST_CASE("uniform numbers are spread evenly over [0, 1), and normal ones as the normal") {
  constexpr int n = 200'000;
  constexpr double most = 1.95;  // of the distance by the square root of n: 0.1 % by chance
  const Array x = random_uniform({n}, {.seed = 9});
  CHECK(*std::ranges::min_element(x) >= 0);
  CHECK(*std::ranges::max_element(x) < 1);
  CHECK(distance(x, [](double v) { return v; }) < most / std::sqrt(n));
  const auto cdf = [](double v) { return 0.5 * std::erfc(-v / std::sqrt(2.0)); };
  CHECK(distance(random_normal({n}, {.seed = 10}), cdf) < most / std::sqrt(n));
}

TEST_CASE("the quantile of the normal agrees with tables, and turns back what erfc gives") {
  using Row = std::pair<double, double>;
  for (const auto& [p, quantile] :
       {Row{0.5, 0}, Row{0.975, 1.959963984540054}, Row{0.25, -0.6744897501960817}, Row{0.001, -3.090232306167813},
        Row{1e-20, -9.262340089798408}}) {
    CHECK(normal_quantile(p) == doctest::Approx(quantile).epsilon(1e-15));
  }
  for (double x = -8; x <= 0; x += 0.01) {
    CHECK(normal_quantile(0.5 * std::erfc(-x / std::sqrt(2.0))) == doctest::Approx(x).epsilon(1e-13).scale(1));
  }
  for (const double p : {0.0, 1.0, -0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK_THROWS_AS(normal_quantile(p), ValueError);
  }
}

TEST_CASE("integers are spread evenly over their range, which may be all that fits") {
  const Index x = randint(-3, 4, {70'000}, {.seed = 4});
  std::array<int, 7> counts{};
  for (const std::int64_t value : x) ++counts[static_cast<std::size_t>(value + 3)];
  for (const int count : counts) CHECK(std::abs(count - 10'000) < 70'000 * four_sigma(6. / 49, 70'000));
  CHECK(equal(randint(5, 6, {3}, {}), Index(Shape{3}, {5, 5, 5})));
  using Limits = std::numeric_limits<std::int64_t>;
  const Index wide = randint(Limits::min(), Limits::max(), {1000}, {.seed = 4});
  CHECK(std::ranges::count_if(wide, [](std::int64_t value) { return value < 0; }) == doctest::Approx(500).epsilon(0.2));
  CHECK_REFUSED(ValueError, randint(3, 3, {2}, {}), "randint", "low 3 is not below high 3");
}

TEST_CASE("a permutation holds every number once, and every order comes up") {
  const Index order = randperm(1000, {.seed = 1});
  std::vector<std::int64_t> sorted(order.begin(), order.end());
  CHECK_FALSE(std::ranges::is_sorted(sorted));
  std::ranges::sort(sorted);
  for (std::int64_t i = 0; i < 1000; ++i) CHECK(sorted[static_cast<std::size_t>(i)] == i);
  std::array<int, 27> counts{};
  for (std::uint64_t draw = 0; draw < 6000; ++draw) {
    const Index three = randperm(3, {.seed = 1, .draw = draw});
    ++counts[static_cast<std::size_t>(9 * three.at({0}) + 3 * three.at({1}) + three.at({2}))];
  }
  CHECK(std::ranges::count(counts, 0) == 21);
  for (const int count : counts) {
    if (count > 0) CHECK(std::abs(count - 1000) < 6000 * four_sigma(5. / 36, 6000));
  }
  CHECK(randperm(0, {}).size() == 0);
  CHECK(randperm(1, {}).at({0}) == 0);
  CHECK_REFUSED(ValueError, randperm(-1), "randperm", "negative count -1");
}
