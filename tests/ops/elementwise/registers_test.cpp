// What the kernels and their rules need of a register, operation by operation, against the scalar language: the same bits,
// also for NaN, infinity, -0 and subnormal numbers, with whichever xsimd and on whichever processor this is compiled.
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <xgrad/ops/kernels/registers/simd.h>

namespace xgrad {
namespace {

using Limits = std::numeric_limits<Real>;
constexpr std::size_t width = Pack::width;
using Lanes = std::array<Real, width>;

std::vector<Real> numbers() {
  std::vector<Real> all = {0, 1, 3, 7, Real(0.1), Real(0.5), Real(1.5), Real(2.5), Real(1e-3), Limits::denorm_min(), Limits::min(),
                           Limits::epsilon(), 1 / Limits::epsilon(), Real(0.5) / Limits::epsilon(),
                           Real(0.5) / Limits::epsilon() - Real(0.5), 1 + Limits::epsilon(), Real(0x1p31), Real(0x1p63),
                           Limits::max(), Limits::infinity(), Limits::quiet_NaN()};
  std::mt19937 random(1);
  std::normal_distribution<Real> normal(0, 100);
  for (int i = 0; i < 12; ++i) all.push_back(std::abs(normal(random)));
  for (std::size_t i = 0, count = all.size(); i < count; ++i) all.push_back(-all[i]);
  return all;
}

// NaN has one meaning whatever its bits are.
bool same(Real a, Real b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

Pack pack_of(const Lanes& lanes) { return Pack::load(lanes.data()); }

Lanes lanes_of(const Pack& pack) {
  Lanes lanes;
  pack.store(lanes.data());
  return lanes;
}

// All pairs of numbers, with other pairs in the places beside them.
template <class F>
void for_each_pair(const F& f) {
  const std::vector<Real> all = numbers();
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count * count; ++i) {
    Lanes a, b;
    for (std::size_t lane = 0; lane < width; ++lane) {
      const std::size_t pair = (i + lane * (count + 1)) % (count * count);
      a[lane] = all[pair / count], b[lane] = all[pair % count];
    }
    f(a, b);
  }
}

// One CHECK for an operation, with the first pair that differs.
template <class Packs, class Numbers>
void check(const std::string& name, const Packs& of_packs, const Numbers& of_numbers) {
  CAPTURE(name);
  std::size_t wrong = 0;
  for_each_pair([&](const Lanes& a, const Lanes& b) {
    const Lanes y = lanes_of(of_packs(pack_of(a), pack_of(b)));
    for (std::size_t lane = 0; lane < width; ++lane) {
      const Real right = of_numbers(a[lane], b[lane]);
      if (same(y[lane], right)) continue;
      if (wrong++ == 0) MESSAGE(name << " of " << a[lane] << " and " << b[lane] << " is " << y[lane] << ", not " << right);
    }
  });
  CHECK(wrong == 0);
}

Pack chosen(const Pack::Mask& mask) { return where(mask, Pack(1), Pack(0)); }

}  // namespace

TEST_CASE("each place of a register computes as the scalar language") {
  check("+", [](Pack a, Pack b) { return a + b; }, [](Real a, Real b) { return a + b; });
  check("-", [](Pack a, Pack b) { return a - b; }, [](Real a, Real b) { return a - b; });
  check("*", [](Pack a, Pack b) { return a * b; }, [](Real a, Real b) { return a * b; });
  check("/", [](Pack a, Pack b) { return a / b; }, [](Real a, Real b) { return a / b; });
  check("1 / (a b)", [](Pack a, Pack b) { return 1 / (a * b); }, [](Real a, Real b) { return 1 / (a * b); });
  check("negative", [](Pack a, Pack) { return -a; }, [](Real a, Real) { return -a; });
  check("abs", [](Pack a, Pack) { return abs(a); }, [](Real a, Real) { return std::abs(a); });
  check("sign", [](Pack a, Pack) { return sign(a); }, [](Real a, Real) { return a > 0 ? 1 : a < 0 ? -1 : a; });
  check("sqrt", [](Pack a, Pack) { return sqrt(a); }, [](Real a, Real) { return std::sqrt(a); });
  check("1 / sqrt", [](Pack a, Pack) { return 1 / sqrt(a); }, [](Real a, Real) { return 1 / std::sqrt(a); });
  check("floor", [](Pack a, Pack) { return floor(a); }, [](Real a, Real) { return std::floor(a); });
  check("ceil", [](Pack a, Pack) { return ceil(a); }, [](Real a, Real) { return std::ceil(a); });
  check("trunc", [](Pack a, Pack) { return trunc(a); }, [](Real a, Real) { return std::trunc(a); });
  check("round", [](Pack a, Pack) { return round(a); }, [](Real a, Real) { return std::nearbyint(a); });
}

TEST_CASE("comparisons of registers are those of the scalar language, and NaN is unequal to itself") {
  check("<", [](Pack a, Pack b) { return chosen(a < b); }, [](Real a, Real b) { return Real(a < b); });
  check("<=", [](Pack a, Pack b) { return chosen(a <= b); }, [](Real a, Real b) { return Real(a <= b); });
  check(">", [](Pack a, Pack b) { return chosen(a > b); }, [](Real a, Real b) { return Real(a > b); });
  check(">=", [](Pack a, Pack b) { return chosen(a >= b); }, [](Real a, Real b) { return Real(a >= b); });
  check("==", [](Pack a, Pack b) { return chosen(a == b); }, [](Real a, Real b) { return Real(a == b); });
  check("!=", [](Pack a, Pack b) { return chosen(a != b); }, [](Real a, Real b) { return Real(a != b); });
  check("a itself is NaN", [](Pack a, Pack) { return chosen(a != a); }, [](Real a, Real) { return Real(std::isnan(a)); });
  check("&&", [](Pack a, Pack b) { return chosen(a < 1 && b < 1); }, [](Real a, Real b) { return Real(a < 1 && b < 1); });
  check("||", [](Pack a, Pack b) { return chosen(a < 1 || b < 1); }, [](Real a, Real b) { return Real(a < 1 || b < 1); });
  check("!", [](Pack a, Pack b) { return chosen(!(a < b)); }, [](Real a, Real b) { return Real(!(a < b)); });
  check("where", [](Pack a, Pack b) { return where(a < b, a, b); }, [](Real a, Real b) { return a < b ? a : b; });
  std::size_t wrong = 0;
  for_each_pair([&](const Lanes& a, const Lanes& b) {
    bool right = true;
    for (std::size_t lane = 0; lane < width; ++lane) right &= a[lane] <= b[lane];
    wrong += all(pack_of(a) <= pack_of(b)) != right;
  });
  CHECK(wrong == 0);
}

TEST_CASE("maximum and minimum of registers are NaN if either number is, bounds only where they say so") {
  const auto either = [](Real a, Real b, Real other) { return std::isnan(a) || std::isnan(b) ? Limits::quiet_NaN() : other; };
  // Which of 0 and -0 comes out is open.
  const auto unsigned_zero = [](Pack a) { return where(a == 0, Pack(0), a); };
  const auto plus_zero = [](Real a) { return a == 0 ? Real(0) : a; };
  check("maximum", [&](Pack a, Pack b) { return unsigned_zero(maximum(a, b)); },
        [&](Real a, Real b) { return either(a, b, plus_zero(a > b ? a : b)); });
  check("minimum", [&](Pack a, Pack b) { return unsigned_zero(minimum(a, b)); },
        [&](Real a, Real b) { return either(a, b, plus_zero(a < b ? a : b)); });
  check("larger", [&](Pack a, Pack b) { return where(a == a && b == b, unsigned_zero(larger(a, b)), Pack(0)); },
        [&](Real a, Real b) { return std::isnan(a) || std::isnan(b) ? 0 : plus_zero(a > b ? a : b); });
  check("bounded_above", [&](Pack a, Pack b) { return where(b == b || a != a, unsigned_zero(bounded_above(a, b)), Pack(0)); },
        [&](Real a, Real b) { return std::isnan(a) ? a : std::isnan(b) ? 0 : plus_zero(a < b ? a : b); });
}

TEST_CASE("a register multiplies and adds with one rounding or two, and scales by powers of two with one") {
  std::size_t wrong = 0;
  for (const Real c : {Real(0), Real(1), Real(-3), Limits::infinity(), Limits::quiet_NaN()}) {
    for_each_pair([&](const Lanes& a, const Lanes& b) {
      const Lanes y = lanes_of(multiply_add(pack_of(a), pack_of(b), Pack(c)));
      for (std::size_t lane = 0; lane < width; ++lane) {
        const Real product = a[lane] * b[lane], two = product + c;
        wrong += !same(y[lane], std::fma(a[lane], b[lane], c)) && !same(y[lane], two);
      }
    });
  }
  CHECK(wrong == 0);
  for (const Real a : numbers()) {
    for (int k = 2 * (Limits::min_exponent - 1); k <= 2 * (Limits::max_exponent - 1); k += 17) {
      const Real y = first_of(scaled(Pack(a), Pack(k)));
      CHECK_MESSAGE(same(y, std::ldexp(a, k)), a << " 2^" << k << " is " << y << ", not " << std::ldexp(a, k));
    }
  }
}

TEST_CASE("a register reads and writes its first numbers, and sums and compares all of them") {
  std::vector<Real> memory(width + 1);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<Real>(i + 1);
  for (std::size_t count = 0; count <= width; ++count) {
    CAPTURE(count);
    const Lanes lanes = lanes_of(Pack::load_first(memory.data() + 1, count, -5));
    std::vector<Real> written(width, 9);
    pack_of(lanes).store_first(written.data(), count);
    for (std::size_t i = 0; i < width; ++i) {
      CHECK(lanes[i] == (i < count ? memory[i + 1] : -5));
      CHECK(written[i] == (i < count ? memory[i + 1] : 9));
    }
  }
  const Pack numbers = Pack::load(memory.data());
  CHECK(first_of(numbers) == 1);
  CHECK(sum_of(numbers) == static_cast<Real>(width * (width + 1) / 2));
  CHECK(max_of(numbers) == static_cast<Real>(width));
  CHECK(max_of(-numbers) == -1);
}

}  // namespace xgrad
