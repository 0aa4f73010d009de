// Symbols: lambdas print as mathematics with few parentheses, and the formulas match their results.
#include <xgrad/core/base/text.h>
#include <xgrad/ops/elementwise/symbol.h>

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "support/equation.h"

namespace xgrad::testing {
namespace {

// What Symbols have and double does not.
using std::abs, std::cos, std::erf, std::exp, std::expm1, std::log, std::log1p, std::pow, std::sin, std::sqrt;
using std::tanh;
double where(bool mask, double a, double b) { return mask ? a : b; }
double sign(double a) { return a > 0 ? 1 : a < 0 ? -1 : a; }
double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }
double normal_cdf(double a) { return std::erfc(-a / std::numbers::sqrt2) / 2; }
double normal_pdf(double a) { return std::exp(-a * a / 2) / std::sqrt(2 * std::numbers::pi); }
double maximum(double a, double b) { return std::max(a, b); }
double minimum(double a, double b) { return std::min(a, b); }

// An expression by chance: the same numbers of `random` give the same one in every type.
template <class V>
class Grown {
 public:
  Grown(std::mt19937& random, std::vector<V> letters) : random_(random), known_(std::move(letters)) {}

  V operator()(int depth) {
    if (depth == 0 || chance(8) == 0) return leaf();
    V result = inner(depth - 1);
    if (chance(4) == 0) known_.push_back(result);  // to be used again
    return result;
  }

 private:
  int chance(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  V leaf() {
    static constexpr double numbers[]{0, 1, 2, 3, 0.5, -1, -2.5, 1e-5, 2 * std::numbers::inv_sqrtpi, std::numbers::pi};
    if (chance(3) == 0) return V(numbers[chance(10)]);
    return known_[static_cast<std::size_t>(chance(static_cast<int>(known_.size())))];
  }
  V inner(int depth) {
    using One = V (*)(const V&);
    using Two = V (*)(const V&, const V&);
    static constexpr One of_one[]{
        [](const V& a) { return exp(a); },        [](const V& a) { return expm1(a); },
        [](const V& a) { return log(a); },        [](const V& a) { return log1p(abs(a)); },
        [](const V& a) { return sqrt(a); },       [](const V& a) { return sin(a); },
        [](const V& a) { return cos(a); },        [](const V& a) { return tanh(a); },
        [](const V& a) { return erf(a); },        [](const V& a) { return sigmoid(a); },
        [](const V& a) { return normal_cdf(a); }, [](const V& a) { return normal_pdf(a); },
        [](const V& a) { return abs(a); },        [](const V& a) { return sign(a); },
        [](const V& a) { return -a; },            [](const V& a) { return -a; },
        [](const V& a) { return a * a; }};
    static constexpr Two of_two[]{
        [](const V& a, const V& b) { return a + b; },      [](const V& a, const V& b) { return a + b; },
        [](const V& a, const V& b) { return a - b; },      [](const V& a, const V& b) { return a - b; },
        [](const V& a, const V& b) { return a * b; },      [](const V& a, const V& b) { return a * b; },
        [](const V& a, const V& b) { return a / b; },      [](const V& a, const V& b) { return pow(abs(a), b); },
        [](const V& a, const V& b) { return maximum(a, b); }, [](const V& a, const V& b) { return minimum(a, b); }};
    const auto kind = static_cast<std::size_t>(chance(28));
    const V a = (*this)(depth);
    if (kind < std::size(of_one)) return of_one[kind](a);
    const V b = (*this)(depth);
    if (kind < 27) return of_two[kind - std::size(of_one)](a, b);
    const V& x = known_[0];
    const V& z = known_[1];
    switch (chance(4)) {
      case 0:
        return where(x < 0.3, a, b);
      case 1:
        return where(!(x >= -1) || z > 2, a, b);
      case 2:
        return where((x != 0 || z <= 1) && x < z + 0.125, a, b);
      default:
        return where(!(x > 1 && z < 0.5), a, b);
    }
  }

  std::mt19937& random_;
  std::vector<V> known_;
};

template <class F>
std::string printed(const F& f) {
  return f(Symbol("x")).text();
}

TEST_CASE("printed formulas calculate what was computed, for any expression") {
  int compared = 0, with_letters = 0;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    std::mt19937 for_symbols(seed), for_numbers(seed);
    const double x = std::remainder(0.37 * seed, 3), z = std::remainder(0.73 * seed, 2.5);
    const std::string text = Grown<Symbol>(for_symbols, {Symbol("x"), Symbol("z")})(5).text();
    const double expected = Grown<double>(for_numbers, {x, z})(5);
    CAPTURE(text);
    const double value = value_of(text, {{"x", x}, {"z", z}});
    with_letters += text.find(" with ") != text.npos;
    if (!std::isfinite(expected) || std::abs(expected) > 1e8 || !std::isfinite(value)) continue;
    ++compared;
    CHECK(std::abs(value - expected) <= 1e-7 * std::max(1.0, std::abs(expected)));
  }
  CHECK(compared > 2000);
  CHECK(with_letters > 100);
}

TEST_CASE("formulas are printed as textbooks print them") {
  CHECK(printed([](auto v) { return 1 - v * v; }) == "1 - x^2");
  CHECK(printed([](auto v) { return v / (1 + abs(v)); }) == "x/(1 + |x|)");
  CHECK(printed([](auto v) { return 1 / ((1 + abs(v)) * (1 + abs(v))); }) == "1/(1 + |x|)^2");
  CHECK(printed([](auto v) { return -0.5 * v * v * v; }) == "-0.5 x^3");
  CHECK(printed([](auto v) { return exp(-v) * (v + 1) * 2; }) == "2 e^-x (x + 1)");
  CHECK(printed([](auto v) { return exp(-(v * v) / 2); }) == "e^(-x^2/2)");
  CHECK(printed([](auto v) { return log(v) * v - tanh(v) / sqrt(v); }) == "ln(x) x - tanh(x)/sqrt x");
  CHECK(printed([](auto v) { return v - (v - 1) - (v + 2) + (v - 3); }) == "x - (x - 1) - (x + 2) + x - 3");
  CHECK(printed([](auto v) { return v / (v / 2) / v * (v / 3); }) == "((x/(x/2))/x) (x/3)");
  CHECK(printed([](auto v) { return pow(pow(v, 2), v) + pow(-v, -1.5); }) == "(x^2)^x + (-x)^-1.5");
  CHECK(printed([](auto v) { return pow(sin(v), 2) * abs(abs(v) - 1); }) == "sin(x)^2 abs(|x| - 1)");
  CHECK(printed([](auto v) { return where(v <= 0, 0, where(v == 3, 0.5, 1)) / 2; }) ==
        "(0 if x <= 0, 0.5 if x = 3, else 1)/2");
  CHECK(printed([](auto v) { return where(v > 0 && !(v < 3 || v > 4), v, -v); }) ==
        "x if x > 0 and not (x < 3 or x > 4), else -x");
  CHECK(printed([](auto v) { return 2 * (3 * pow(2, v)); }) == "2 * 3 * 2^x");
  CHECK(printed([](auto v) { return -(-v) + -(v + 1) * -2 - (-3); }) == "x + 2 (x + 1) - (-3)");
}

TEST_CASE("what is 0 or 1 for certain is left out of formulas") {
  CHECK(printed([](auto v) { return 0 + 1 * (v * 1) / 1 - 0; }) == "x");
  CHECK(printed([](auto v) { return v + -v; }) == "x - x");
}

TEST_CASE("what a formula uses several times gets a letter if it is long") {
  const auto slope = [](auto v) {
    const auto s = sigmoid(v);
    return s * (1 + v * (1 - s));
  };
  CHECK(printed(slope) == "s (1 + x (1 - s)) with s = sigmoid x");
  const auto nested = [](auto v) {
    const auto u = maximum(minimum(v, 1e2), -1e2);
    const auto s = sigmoid(u * u);
    const auto w = 2 * v;
    return s * u + s / w - w;
  };
  CHECK(printed(nested) == "t s + t/(2 x) - 2 x with s = max(min(x, 100), -100), t = sigmoid(s^2)");
}

// 1 + x (2 + x (3 + ...)), to the degree n.
template <int n, class V>
auto horner(const V& v) {
  if constexpr (n == 0) {
    return 1 + v;
  } else {
    return n + v * horner<n - 1>(v);
  }
}

TEST_CASE("a polynomial of degree 40, and powers of powers 40 times over, are printed at once") {
  std::string expected = "1 + x";
  for (int n = 1; n < 40; ++n) expected = str(n, " + x (", expected, ")");
  CHECK(printed([](auto v) { return horner<39>(v); }) == expected);
  CHECK(value_of(printed([](auto v) { return horner<39>(v); }), {{"x", 0.5}}) == doctest::Approx(horner<39>(0.5)));
  const auto towers = [](auto v) {
    auto u = 0.5 * v + 0.25;
    for (int i = 0; i < 40; ++i) u = u * u + 0.25 * u;
    return u;
  };
  CHECK(value_of(printed(towers), {{"x", 1.0}}) == doctest::Approx(towers(1.0)));
}

TEST_CASE("numbers that have names are printed by them, others as they are") {
  CHECK(printed([](auto v) { return 2 * std::numbers::inv_sqrtpi * exp(-(v * v)); }) == "(2/sqrt pi) e^(-x^2)");
  CHECK(printed([](auto v) { return v * std::numbers::pi; }) == "pi x");
  CHECK(printed([](auto v) { return v * 0.1f + 0.044715 - 1e-7 * v; }) == "0.1 x + 0.044715 - 1e-07 x");
}

}  // namespace
}  // namespace xgrad::testing
