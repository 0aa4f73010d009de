// Numbers at the ends of the range and large numbers, in double and in float: values and
// derivatives of every elementwise operation and every reduction against long double, limits at infinities, and what
// rounding must not take. Elsewhere tests are of ordinary numbers.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <xgrad/ops/elementwise/fused.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

using Limits = std::numeric_limits<Real>;
using Exact = long double;

constexpr bool single = sizeof(Real) == sizeof(float);
// Not those of <numbers>, which have the digits of a double alone in libc++ 16.
const Exact sqrt2 = std::sqrt(Exact(2)), inv_sqrtpi = 1 / std::sqrt(std::acos(Exact(-1))), inv_sqrt_2pi = inv_sqrtpi / sqrt2;

// How far `got` is from `expected`, in units of the last place of the number nearest to `expected`.
double ulps(Real got, Exact expected) {
  const Real nearest = static_cast<Real>(expected);
  if (std::isnan(nearest)) return std::isnan(got) ? 0 : infinity;
  if (got == nearest) return std::isinf(got) ? 0 : static_cast<double>(std::abs(got - expected) / Limits::max());
  if (!std::isfinite(nearest) || !std::isfinite(got)) return infinity;
  const Real size = std::abs(nearest);
  const Exact unit = size == Limits::max() ? Exact(size) - std::nextafter(size, Real(0))
                                           : Exact(std::nextafter(size, infinity)) - size;
  return static_cast<double>(std::abs(got - expected) / unit);
}

void check_near(Real got, Exact expected, double most = 4) {
  CHECK_MESSAGE(ulps(got, expected) <= most, got, " is not ", static_cast<Real>(expected));
}

Exact cdf(Exact x) { return std::erfc(-x / sqrt2) / 2; }
Exact pdf(Exact x) { return std::exp(-x * x / 2) * inv_sqrt_2pi; }
Exact logistic(Exact x) { return 1 / (1 + std::exp(-x)); }

// x (1 + tanh(z))/2 = x logistic(2z)
const Exact gelu_scale = 4 * inv_sqrt_2pi, gelu_cubic = 0.044715L;
Exact gelu_gate(Exact x) { return logistic(gelu_scale * (x + gelu_cubic * x * x * x)); }
Exact gelu_gate_slope(Exact x) { return gelu_gate(x) * gelu_gate(-x) * gelu_scale * (1 + 3 * gelu_cubic * x * x); }

// x - tanh(x) = (x cosh(x) - sinh(x))/cosh(x): a series in which nothing cancels.
Exact shrunk(Exact x) {
  Exact sum = 0, power = x;
  for (int k = 1; k < 60; ++k) {
    power *= x / (2 * k) * x / (2 * k + 1);
    sum += 2 * k * power;
  }
  return sum / std::cosh(x);
}

Tensor gelu_exact(const Tensor& x) { return gelu(x); }
Tensor gelu_by_tanh(const Tensor& x) { return gelu(x, Gelu::tanh); }
Tensor elu_1(const Tensor& x) { return elu(x); }
template <int halves>
Tensor power(const Tensor& x) {
  return pow(x, Real(halves) / 2);
}

struct Elementwise {
  const char* name;
  Tensor (*op)(const Tensor&);
  Exact (*value)(Exact);
  Exact (*slope)(Exact);     // null where another test has it, and the values at special points
  bool rough_slope = false;  // a difference that comes to nothing where the function levels off
};

Exact sign_of(Exact x) { return x > 0 ? 1 : x < 0 ? -1 : x; }

// A limit at infinities, where the formula would give inf 0.
template <class F>
Exact with_limits(Exact x, Exact below, Exact above, const F& f) {
  return x < -1e4L ? below : x > 1e4L ? above : f();
}

// What a function of x is.
#define OF_X(...) []([[maybe_unused]] Exact x) { return Exact(__VA_ARGS__); }

const Elementwise functions[] = {
    {"exp", exp, OF_X(std::exp(x)), OF_X(std::exp(x))},
    {"expm1", expm1, OF_X(std::expm1(x)), OF_X(std::exp(x))},
    {"log", log, OF_X(std::log(x)), OF_X(1 / x)},
    {"log1p", log1p, OF_X(std::log1p(x)), OF_X(1 / (1 + x))},
    {"sqrt", sqrt, OF_X(std::sqrt(x)), OF_X(0.5L / std::sqrt(x))},
    {"rsqrt", rsqrt, OF_X(1 / std::sqrt(x)), OF_X(-0.5L / (std::sqrt(x) * std::sqrt(x) * std::sqrt(x)))},
    {"square", square, OF_X(x * x), OF_X(2 * x)},
    {"abs", abs, OF_X(std::abs(x)), sign_of},
    {"sign", sign, sign_of, OF_X(0)},
    {"sin", sin, OF_X(std::sin(x)), OF_X(std::cos(x))},
    {"cos", cos, OF_X(std::cos(x)), OF_X(-std::sin(x))},
    {"tanh", tanh, OF_X(std::tanh(x)), OF_X(1 / (std::cosh(x) * std::cosh(x))), true},
    {"tan", tan, OF_X(std::tan(x)), OF_X(1 + std::tan(x) * std::tan(x))},
    {"asin", asin, OF_X(std::asin(x)), OF_X(1 / std::sqrt((1 - x) * (1 + x)))},
    {"acos", acos, OF_X(std::acos(x)), OF_X(-1 / std::sqrt((1 - x) * (1 + x)))},
    {"atan", atan, OF_X(std::atan(x)), OF_X(1 / (1 + x * x))},
    {"sinh", sinh, OF_X(std::sinh(x)), OF_X(std::cosh(x))},
    {"cosh", cosh, OF_X(std::cosh(x)), OF_X(std::sinh(x))},
    {"asinh", asinh, OF_X(std::asinh(x)), OF_X(1 / std::sqrt(1 + x * x))},
    {"acosh", acosh, OF_X(std::acosh(x)), OF_X(1 / (std::sqrt(x - 1) * std::sqrt(x + 1)))},
    {"atanh", atanh, OF_X(std::atanh(x)), OF_X(1 / ((1 - x) * (1 + x)))},
    {"exp2", exp2, OF_X(std::exp2(x)), OF_X(std::exp2(x) * std::log(Exact(2)))},
    {"log2", log2, OF_X(std::log2(x)), OF_X(1 / (x * std::log(Exact(2))))},
    {"log10", log10, OF_X(std::log10(x)), OF_X(1 / (x * std::log(Exact(10))))},
    {"erf", erf, OF_X(std::erf(x)), OF_X(2 * inv_sqrtpi * std::exp(-x * x))},
    {"sigmoid", sigmoid, logistic, OF_X(logistic(x) * logistic(-x)), true},
    {"relu", relu, OF_X(x < 0 ? 0 : x), OF_X(x <= 0 ? 0 : 1)},
    {"elu", elu_1, OF_X(x > 0 ? x : std::expm1(x)), OF_X(x > 0 ? 1 : std::exp(x))},
    {"softplus", softplus, OF_X((x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x)))), logistic},
    {"silu", silu, OF_X(with_limits(x, 0, x, [x] { return x * logistic(x); })),
     OF_X(with_limits(x, 0, 1, [x] { return logistic(x) * (1 + x * logistic(-x)); }))},
    {"gelu", gelu_exact, OF_X(with_limits(x, 0, x, [x] { return x * cdf(x); })),
     OF_X(with_limits(x, 0, 1, [x] { return cdf(x) + x * pdf(x); }))},
    {"gelu by tanh", gelu_by_tanh, OF_X(with_limits(x, 0, x, [x] { return x * gelu_gate(x); })),
     OF_X(with_limits(x, 0, 1, [x] { return gelu_gate(x) + x * gelu_gate_slope(x); }))},
    {"clamp", [](const Tensor& x) { return clamp(x, {.min = -2, .max = 3}); }, OF_X(x < -2 ? -2 : x > 3 ? 3 : x),
     OF_X(x > -2 && x < 3 ? 1 : 0)},
    {"clamp below", [](const Tensor& x) { return clamp(x, {.min = -2}); }, OF_X(x < -2 ? -2 : x), OF_X(x > -2 ? 1 : 0)},
    {"clamp above", [](const Tensor& x) { return clamp(x, {.max = 3}); }, OF_X(x > 3 ? 3 : x), OF_X(x < 3 ? 1 : 0)},
    {"neg", neg, OF_X(-x), OF_X(-1)},
    {"pow 0", power<0>, OF_X(1), OF_X(0)},
    {"pow 0.5", power<1>, OF_X(std::pow(x, 0.5L)), OF_X(std::pow(x, -0.5L) / 2)},
    {"pow 1", power<2>, OF_X(x), OF_X(1)},
    {"pow 2", power<4>, OF_X(x * x), OF_X(2 * x)},
    {"pow 2.5", power<5>, OF_X(std::pow(x, 2.5L)), OF_X(2.5L * std::pow(x, 1.5L))},
    {"pow 3", power<6>, OF_X(x * x * x), OF_X(3 * x * x)},
    {"pow -1", power<-2>, OF_X(1 / x), OF_X(-1 / (x * x))},
    {"pow -2", power<-4>, OF_X(1 / (x * x)), OF_X(-2 / (x * x * x))},
    {"logsigmoid", logsigmoid, OF_X(std::min<Exact>(x, 0) - std::log1p(std::exp(-std::abs(x)))), nullptr},
    {"mish", mish, OF_X(x * std::tanh(std::log1p(std::exp(x)))), nullptr},
    {"tanhshrink", tanhshrink, shrunk, nullptr},
};
#undef OF_X

const Elementwise& function(std::string_view name) {
  const auto* found = std::ranges::find(functions, name, &Elementwise::name);
  REQUIRE(found != std::end(functions));
  return *found;
}

// ---- Accuracy over a range --------------------------------------------------------------------------------------

enum class Of { value, slope };
struct Range {
  const char* name;
  double low, high, most;  // ulps
  Of of = Of::value;
};

// Where results of the exponential are largest, and where they are subnormal.
constexpr double top = single ? 88.72 : 709.78, normal_end = single ? -87.3 : -708.3, end = single ? -103.9 : -745.1;
// Where the normal distribution function becomes subnormal.
constexpr double tail_end = single ? -12.9 : -37.4;

const Range ranges[] = {
    {"exp", normal_end, top, 1.25},
    {"exp", end, normal_end, 1.25},
    {"expm1", -2, 2, 2.5},
    {"expm1", -1e-4, 1e-4, 1},
    {"expm1", -50, top, 2.5},
    {"log", 0, 4, 1},
    {"log", 0, Limits::min(), 1},
    {"log1p", -1, 4, 1},
    {"log1p", -1e-4, 1e-4, 1},
    {"sin", -10, 10, 3},
    {"cos", -10, 10, 3},
    {"tan", -10, 10, 3},
    {"asin", -1, 1, 3},
    {"acos", -1, 1, 3},
    {"atan", -10, 10, 3},
    {"sinh", -5, 5, 3},
    {"cosh", -5, 5, 3},
    {"asinh", -5, 5, 3},
    {"asinh", -0.01, 0.01, 3},
    {"acosh", 1, 5, 3},
    {"atanh", -1, 1, 3},
    {"exp2", Limits::min_exponent - Limits::digits, Limits::max_exponent, 1.5},
    {"log2", 0, 4, 2},
    {"log2", 0, Limits::min(), 2},
    {"log10", 0, 4, 2},
    {"log10", 0, Limits::min(), 2},
    {"logsigmoid", -30, 30, 3},
    {"mish", -20, 20, 5},
    {"mish", normal_end, -20, 4},
    {"tanhshrink", 1, 3, 10},  // nearer to 0 the terms cancel
    {"tanh", -20, 20, 2},
    {"tanh", -0.01, 0.01, 2},
    {"erf", -6, 6, 3},
    {"erf", -0.01, 0.01, 3},
    {"sigmoid", -30, 30, 3},
    {"sigmoid", end, -30, 3},
    {"softplus", normal_end, 50, 3},
    {"silu", -top, 50, 3},
    {"gelu", -5, 6, 5},
    {"gelu", tail_end, -5, 5},
    {"gelu by tanh", -2, 6, 10},
    {"gelu by tanh", -10, -2, 200},
    {"sqrt", 0, 4, 0.5},
    {"rsqrt", 0, 4, 2},
    {"pow 2.5", 0, 4, 1},
    {"erf", single ? -9 : -26, 6, 3, Of::slope},
    {"tan", -10, 10, 6, Of::slope},
    {"rsqrt", 0, 4, 6, Of::slope},
    {"gelu", tail_end, -3, 10, Of::slope},
    {"gelu", 0, 6, 10, Of::slope},
};

}  // namespace

TEST_CASE("functions and slopes are within a few units of the last place of long double") {
  for (const Range& at : ranges) {
    const Elementwise& f = function(at.name);
    const Tensor x = variable(uniform({20000}, static_cast<Real>(at.low), static_cast<Real>(at.high), 3));
    const Tensor y = f.op(x);
    const Array found = at.of == Of::value ? y.value() : grad(sum(y), {x})[0].value();
    double worst = 0;
    Real where = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const Real v = x.value().data()[i];
      const double off = ulps(found.data()[i], at.of == Of::value ? f.value(v) : f.slope(v));
      if (!(off <= worst)) worst = off, where = v;
    }
    CHECK_MESSAGE(worst <= at.most, std::string(at.name), " is ", worst, " units off at ", where);
  }
}

TEST_CASE("digits are preserved wherever an argument lies, large, small or subnormal") {
  struct Row {
    const char* name;
    double most = 3;           // ulps
    double least = -HUGE_VAL;  // below, factors are subnormal
    bool slope = false;        // is checked, too
  };
  Array numbers(Shape{40000});
  std::uint64_t bits = 1;
  for (Real& number : std::span(numbers.mutable_data(), static_cast<std::size_t>(numbers.size()))) {
    do {
      bits = bits * 6364136223846793005u + 1442695040888963407u;
      const std::uint64_t high = bits >> 32, low = (bits * 0x9e3779b97f4a7c15u) >> 32;
      if constexpr (single) {
        number = std::bit_cast<float>(static_cast<std::uint32_t>(high));
      } else {
        number = std::bit_cast<double>(high << 32 | low);
      }
    } while (!std::isfinite(number));
  }
  const Tensor x = variable(numbers);
  for (const Row& row : {Row{.name = "erf", .slope = true}, {"asinh"}, {"silu", 3, -top}, {"mish", 5, normal_end},
                         {"gelu", 5, tail_end}}) {
    const Elementwise& f = function(row.name);
    const Tensor y = f.op(x);
    const Array slopes = grad(sum(y), {x})[0].value();
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const Real at = numbers.data()[i];
      if (at < row.least) continue;
      const double off = ulps(y.value().data()[i], f.value(at));
      const double slope_off = row.slope ? ulps(slopes.data()[i], f.slope(at)) : 0;
      if (!(off <= row.most && slope_off <= row.most)) {
        FAIL_CHECK(std::string(f.name), " at ", at, " is ", off, " units off, its slope ", slope_off);
        break;
      }
    }
  }
}

TEST_CASE("tanhshrink, whose terms cancel near 0, is off by units of its argument") {
  const Array x = uniform({20000}, -3, 3, 3), y = tanhshrink(x).value();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const Exact at = x.data()[i], off = std::abs(y.data()[i] - shrunk(at));
    CHECK(off <= 3 * Exact(Limits::epsilon()) * std::abs(at));
  }
}

TEST_CASE("at NaN the slope of a clamp is 0, that of what is held between bounds 1, as in PyTorch") {
  const auto slope = [](Tensor (*f)(const Tensor&)) {
    const Tensor x = variable(not_a_number);
    return grad(f(x), {x})[0].item();
  };
  CHECK(slope([](const Tensor& x) { return clamp(x, {.min = -1, .max = 1}); }) == 0);
  CHECK(slope([](const Tensor& x) { return clamp(x, {.min = -1}); }) == 0);
  CHECK(slope([](const Tensor& x) { return hardtanh(x); }) == 1);
  CHECK(slope(relu6) == 1);
}

TEST_CASE("a norm of 0 has derivatives of 0, of any order") {
  const Tensor x = variable({0, 0});
  const Tensor first = grad(vector_norm(x), {x}, {.create_graph = true})[0];
  CHECK(first.value().data()[0] == 0);
  const Tensor second = grad(sum(first * tensor({1, 2})), {x}, {.unused = Unused::zeros})[0];
  CHECK(second.value().data()[0] == 0);
  CHECK(second.value().data()[1] == 0);
}

TEST_CASE("an operation whose result exceeds any address space is called by its name") {
  const Tensor rows = zeros({std::int64_t{1} << 24, 1}), columns = zeros({1, std::int64_t{1} << 24});
  const auto refusal = [](const auto& f) { return error_of<LimitError>(f).substr(0, 40); };
  CHECK(refusal([&] { rows * columns; }).starts_with("mul: no memory"));
  CHECK(refusal([&] { fmod(rows, columns); }).starts_with("fmod: no memory"));
  CHECK(refusal([&] { (void)(rows < columns); }).starts_with("less: no memory"));
}

// ---- Elementwise operations at special points -------------------------------------------------------------------

namespace {

constexpr Real special[] = {
    0,
    Limits::denorm_min(),
    Limits::min() / 4,
    Limits::min(),
    Real(1e-30),
    Limits::epsilon() / 8,
    Real(0.25),
    1,
    Real(2.5),
    50,
    Real(1e10),
    Limits::max() / 2,
    Limits::max(),
    Limits::infinity(),
};

}  // namespace

TEST_CASE("values and slopes of elementwise operations at zeros, ends of the range, infinities and NaN") {
  for (const Elementwise& f : functions) {
    if (!f.slope) continue;
    for (const Real size : special) {
      for (const Real at : {size, -size}) {
        INFO(std::string(f.name), " at ", at);
        const Tensor x = variable(at);
        const Tensor y = f.op(x);
        check_near(y.item(), f.value(at));
        const Real slope = grad(y, {x})[0].item();
        if (f.rough_slope) {
          CHECK(std::abs(slope - static_cast<Real>(f.slope(at))) <= 2 * Limits::epsilon());
        } else {
          check_near(slope, f.slope(at), 8);
        }
      }
    }
    INFO(std::string(f.name), " at NaN");
    const Tensor x = variable(not_a_number);
    const Tensor y = f.op(x);
    check_near(y.item(), f.value(not_a_number));
    check_near(grad(y, {x})[0].item(), f.slope(not_a_number));
  }
}

TEST_CASE("the sign of 0 survives odd functions") {
  for (Tensor (*op)(const Tensor&) :
       {expm1, log1p, sqrt, sign, sin, tan, asin, atan, sinh, tanh, asinh, atanh, erf, gelu_exact, gelu_by_tanh, silu,
        elu_1, mish, softsign, round, trunc}) {
    CHECK(std::signbit(op(Tensor(Real(-0.0))).item()));
    CHECK_FALSE(std::signbit(op(Tensor(0)).item()));
  }
}

TEST_CASE("values and slopes of operations on two tensors at special points") {
  struct Row {
    const char* name;
    Tensor (*op)(const Tensor&, const Tensor&);
    Real a, b, y, da, db;
  };
  Tensor (*const pow2)(const Tensor&, const Tensor&) = pow;
  const Real n = not_a_number, i = infinity, most = Limits::max(), tiny = Limits::denorm_min();
  const Row rows[] = {
      {"add", add, i, -i, n, 1, 1},
      {"add", add, most, most, i, 1, 1},
      {"add", add, i, 1, i, 1, 1},
      {"sub", sub, i, i, n, 1, -1},
      {"sub", sub, tiny, tiny, 0, 1, -1},
      {"mul", mul, i, 0, n, 0, i},
      {"mul", mul, most, 2, i, 2, most},
      {"mul", mul, tiny, Real(-0.0), Real(-0.0), 0, tiny},
      {"div", div, 1, 0, i, i, -i},
      {"div", div, 1, Real(-0.0), -i, -i, -i},
      {"div", div, 0, 0, n, i, n},
      {"div", div, 1, i, 0, 0, 0},
      {"div", div, i, 2, i, Real(0.5), -i},
      {"maximum", maximum, i, i, i, Real(0.5), Real(0.5)},
      {"maximum", maximum, -i, 1, 1, 0, 1},
      {"maximum", maximum, 0, Real(-0.0), 0, Real(0.5), Real(0.5)},
      {"maximum", maximum, n, 1, n, 1, 1},
      {"maximum", maximum, 1, n, n, 1, 1},
      {"minimum", minimum, -i, -i, -i, Real(0.5), Real(0.5)},
      {"minimum", minimum, i, 1, 1, 0, 1},
      {"minimum", minimum, n, 1, n, 1, 1},
      {"minimum", minimum, 1, n, n, 1, 1},
      {"pow", pow2, 0, 0, 1, 0, 0},
      {"pow", pow2, 0, 1, 0, 1, 0},
      {"pow", pow2, 0, 2, 0, 0, 0},
      {"pow", pow2, 0, Real(0.5), 0, i, 0},
      {"pow", pow2, 0, -1, i, -i, -i},
      {"pow", pow2, Real(-0.0), -1, -i, -i, i},
      {"pow", pow2, Real(-0.0), -2, i, i, -i},
      {"pow", pow2, Real(-0.0), 3, Real(-0.0), 0, 0},
      {"pow", pow2, i, 2, i, i, i},
      {"pow", pow2, i, -1, 0, 0, n},
      {"pow", pow2, -2, 3, -8, 12, n},
      {"pow", pow2, 1, 5, 1, 5, 0},
      {"pow", pow2, n, 0, 1, 0, n},
      {"pow", pow2, 0, n, n, n, n},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.name), " of ", row.a, " and ", row.b);
    const Tensor a = variable(row.a), b = variable(row.b);
    const Tensor y = row.op(a, b);
    const Tensors g = grad(y, {a, b});
    check_near(y.item(), row.y);
    check_near(g[0].item(), row.da);
    check_near(g[1].item(), row.db);
  }
}

// ---- Reductions -------------------------------------------------------------------------------------------------

TEST_CASE("values and slopes of reductions at special points") {
  using Triple = std::array<Real, 3>;
  struct Row {
    const char* name;
    Tensor (*op)(const Tensor&, const AxisSet&, const KeepdimOptions&);
    Triple x;
    Exact y;
    std::array<Exact, 3> slopes;
  };
  const auto variance = [](const Tensor& x, const AxisSet& axis, const KeepdimOptions&) {
    return var(x, axis, {.correction = 0});
  };
  const Real n = not_a_number, i = infinity, most = Limits::max();
  const Exact third = 1 / Exact(3), half = 0.5;
  const Row rows[] = {
      {"sum", sum, {i, 1, 2}, i, {1, 1, 1}},
      {"sum", sum, {i, -i, 2}, n, {1, 1, 1}},
      {"sum", sum, {n, 1, 2}, n, {1, 1, 1}},
      {"sum", sum, {most, -most, 1}, 1, {1, 1, 1}},
      {"mean", mean, {i, 1, 2}, i, {third, third, third}},
      {"mean", mean, {n, 1, 2}, n, {third, third, third}},
      {"max", max, {i, i, 1}, i, {half, half, 0}},
      {"max", max, {-i, -i, -i}, -i, {third, third, third}},
      {"max", max, {1, n, i}, n, {n, n, n}},
      {"max", max, {0, Real(-0.0), -1}, 0, {half, half, 0}},
      {"min", min, {-i, -i, 1}, -i, {half, half, 0}},
      {"min", min, {1, n, -i}, n, {n, n, n}},
      {"prod", prod, {i, 2, 3}, i, {6, i, i}},
      {"prod", prod, {n, 2, 3}, n, {6, n, n}},
      {"prod", prod, {most, most, 0}, n, {0, 0, i}},
      {"prod", prod, {0, 0, 3}, 0, {0, 0, 0}},
      {"prod", prod, {most, 4, 1}, i, {4, most, i}},
      {"prod", prod, {Limits::min(), Limits::min(), 1}, 0, {Limits::min(), Limits::min(), 0}},
      {"logsumexp", logsumexp, {i, 0, 1}, i, {n, 0, 0}},
      {"logsumexp", logsumexp, {i, i, -i}, i, {n, n, 0}},
      {"logsumexp", logsumexp, {-i, 0, -i}, 0, {0, 1, 0}},
      {"logsumexp", logsumexp, {-i, -i, -i}, -i, {0, 0, 0}},
      {"logsumexp", logsumexp, {n, 0, 1}, n, {n, n, n}},
      {"logsumexp", logsumexp, {n, i, 1}, n, {n, n, n}},
      {"logsumexp", logsumexp, {most, most, 0}, most, {half, half, 0}},
      {"logsumexp", logsumexp, {-most, -most, -most}, -most, {third, third, third}},
      {"var", variance, {n, 0, 1}, n, {n, n, n}},
      {"var", variance, {i, 0, 1}, n, {n, n, n}},
      {"var", variance, {most / 8, most / 8, most / 8}, 0, {0, 0, 0}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.name), " of ", row.x[0], ", ", row.x[1], ", ", row.x[2]);
    const Tensor x = variable(Array({3}, {row.x[0], row.x[1], row.x[2]}));
    const Tensor y = row.op(x, {}, {});
    const Array plain = grad(y, {x}, {.retain_graph = true})[0].value();
    const Array recorded = grad(y, {x}, {.create_graph = true})[0].value();
    check_near(y.item(), row.y);
    for (std::int64_t k = 0; k < 3; ++k) {
      CAPTURE(k);
      check_near(plain.data()[k], row.slopes[static_cast<std::size_t>(k)]);
      check_near(recorded.data()[k], row.slopes[static_cast<std::size_t>(k)]);
    }
  }
}

TEST_CASE("a running sum of many terms keeps its digits, along any axis and in its gradient") {
  constexpr std::int64_t n = 100000;
  const Exact term = Real(0.1);
  for (const Shape& shape : {Shape{n}, {n, 3}, {2, n, 65}}) {
    if (shape.rank() == 3 && !single) continue;  // the same code, and slow unoptimised
    const int axis = shape.rank() == 3 ? 1 : 0;
    const Tensor x = variable(Array(shape, Real(0.1)));
    const Tensor y = cumsum(x, axis);
    const Tensor g = grad(y, {x}, {.seed = Array(shape, Real(0.1))})[0];
    const std::int64_t inner = shape.rank() == 1 ? 1 : shape.back();
    const double most = single ? 1 : 1e6;  // ulps; the sum of double itself is not exact
    for (const std::int64_t k : {std::int64_t(0), n / 2, n - 1}) {
      check_near(y.value().data()[k * inner + inner - 1], Exact(k + 1) * term, most);
      check_near(g.value().data()[k * inner], Exact(n - k) * term, most);
    }
  }
}

TEST_CASE("the variance of numbers far from 0 is that of their deviations, and so is its gradient") {
  const Real far = single ? Real(1e6) : Real(1e15);
  const Tensor x = variable((Tensor(normal({4, 1000})) * 2 + far).value());
  const Array y = var(x, 1).value();
  const Array g = grad(sum(var(x, 1)), {x})[0].value();
  for (std::int64_t row = 0; row < 4; ++row) {
    Exact mean = 0, squares = 0;
    const Real* v = x.value().data() + row * 1000;
    for (int i = 0; i < 1000; ++i) mean += (v[i] - Exact(far)) / 1000;
    mean += far;
    for (int i = 0; i < 1000; ++i) squares += (v[i] - mean) * (v[i] - mean);
    CHECK(y.data()[row] == doctest::Approx(static_cast<double>(squares / 999)).epsilon(1e-5));
    for (int i = 0; i < 1000; i += 37) {
      const auto expected = static_cast<double>(2 * (v[i] - mean) / 999);
      CHECK(std::abs(g.data()[row * 1000 + i] - expected) < 1e-6);
    }
  }
}

TEST_CASE("the mean of equal numbers is that number, however many there are, and its gradient is divided too") {
  for (std::int64_t n = 1; n < 1000; ++n) {
    CAPTURE(n);
    const Tensor x = variable(Array(Shape{n}, Real(1)));
    const Tensor y = mean(x);
    REQUIRE(y.item() == 1);
    REQUIRE(grad(y, {x}, {.seed = Tensor(3)})[0].value().data()[n - 1] == Real(3) / static_cast<Real>(n));
    REQUIRE(mean(ones({n, 17}), 0).value().data()[16] == 1);
    REQUIRE(var(ones({n + 1}) * Real(0.1)).item() == 0);
    REQUIRE(var(ones({n + 1, 17}) * Real(0.1), 0).value().data()[16] == 0);
  }
  for (std::int64_t n = 1; n < 300; ++n) {
    CAPTURE(n);
    const Tensor logits = Array({n, 2}, Real(0)) + tensor({0, 64});  // a loss of 64 each
    REQUIRE(cross_entropy(logits, Index({n}, 0)).item() == 64);
    REQUIRE(mse_loss(ones({n}), zeros({n})).item() == 1);
    const Tensor x = variable(Array({n, 2}, Real(0)));
    const Array g = grad(cross_entropy(x, Index({n}, 0)), {x}, {.seed = Tensor(3)})[0].value();
    REQUIRE(g.data()[1] == Real(3) / static_cast<Real>(n) / 2);
  }
}

TEST_CASE("equal numbers have a standard deviation of 0, with a gradient of 0; infinities and NaN have none") {
  const Tensor same = variable(Array({2}, Limits::max() / Real(4)));
  for (const Tensor& y : {var(same), stddev(same)}) {
    CHECK(y.item() == 0);
    CHECK(equal(grad(y, {same})[0].value(), Array({2}, Real(0))));
  }
  CHECK(stddev(Array({2}, {Limits::max() / 4, -Limits::max() / 4})).item() == infinity);  // the squares leave the range
  CHECK(std::isnan(stddev(Array({2}, {infinity, 1})).item()));
  CHECK(std::isnan(stddev(Array({2}, {not_a_number, 1})).item()));
}

TEST_CASE("a quantile's place is found in double") {
  for (const std::int64_t last : {10, 100, 1000}) {
    const Tensor x = to_real(arange(last + 1));
    for (std::int64_t k = 0; k <= last; ++k) {
      CAPTURE(k);
      const double place = static_cast<double>(k) / static_cast<double>(last) * static_cast<double>(last);
      REQUIRE(std::abs(static_cast<double>(quantile(x, static_cast<double>(k) / static_cast<double>(last)).item()) - place) <=
              place * std::numeric_limits<Real>::epsilon());
    }
  }
  CHECK(quantile(to_real(arange(11)), 0.9).item() == 9);
}

TEST_CASE("sums of many numbers in one place keep their digits") {
  constexpr std::int64_t n = 1'000'000;
  const Exact term = Real(0.1);
  const Tensor terms = variable(Array({n}, Real(0.1)));
  const Index nowhere(Shape{n}, 1);
  const double most = single ? 1 : 1e6;  // ulps; the sum of double itself is not exact
  const auto check = [&](const Array& sums) { check_near(sums.data()[1], n * term, most); };
  check(bincount(nowhere, terms).value());
  check(scatter_add(zeros({3}), 0, nowhere, terms).value());
  check(index_add(zeros({3}), 0, nowhere, terms).value());
  const Tensor column = reshape(terms, {n, 1});
  check(scatter_add(zeros({3, 1}), 0, nowhere.reshaped({n, 1}), column).value());
  const Tensor table = variable(Array({3, 2}, Real(0)));
  const Array g = grad(embedding(table, nowhere), {table}, {.seed = Tensor(Array({n, 2}, Real(0.1)))})[0].value();
  check_near(g.data()[2], n * term, most);
  check_near(g.data()[3], n * term, most);
}

TEST_CASE("the gradient of logsumexp is that of the logits' differences, however large they are") {
  const Real far = single ? Real(1e6) : Real(1e14);
  const Tensor near = variable(Array({3}, {0, 1, 2})), moved = variable(Array({3}, {far, far + 1, far + 2}));
  check_close(grad(logsumexp(moved), {moved})[0].value(), grad(logsumexp(near), {near})[0].value(), 1e-6);
}

// ---- Normalising and losses -------------------------------------------------------------------------------------

TEST_CASE("norms of rows whose squares leave the range are 0, as in PyTorch") {
  const Real huge = std::sqrt(Limits::max()) * 32;
  const Tensor x = Array({1, 3}, {huge, -huge, 1});
  for (const Tensor& y : {layer_norm(x), rms_norm(x), transpose(batch_norm(transpose(x)).y)}) {
    check_close(y.value(), Array({1, 3}, Real(0)));
  }
}

TEST_CASE("cross-entropy does not depend on what is added to all logits") {
  const auto loss = [](const Tensor& x, int form) {
    if (form == 0) return cross_entropy(x, Index({1}, {2}));
    if (form == 1) return cross_entropy(x, Index({1}, {2}), {.label_smoothing = 0.3});
    return cross_entropy(x, Tensor(Array({1, 3}, {Real(0.25), 0, Real(0.75)})));
  };
  for (const int form : {0, 1, 2}) {
    const Tensor x = variable(Array({1, 3}, {0, 1, 2}));
    const Tensor y = loss(x, form), g = grad(y, {x}, {.create_graph = true})[0];
    const Tensor seed = Array({1, 3}, {1, -2, 4});
    const Tensor second = grad(g, {x}, {.seed = seed})[0];
    if (form == 0) CHECK(y.item() == doctest::Approx(std::log(1 + std::exp(-1.) + std::exp(-2.))).epsilon(1e-6));
    for (const double by : {1e4, 1e6, 1e7, -1e7, single ? 0 : 1e15}) {
      INFO("form ", form, ", ", by, " added");
      const auto shift = static_cast<Real>(by);
      const Tensor far = variable(Array({1, 3}, {shift, shift + 1, shift + 2}));
      const Tensor z = loss(far, form);
      CHECK(z.item() == doctest::Approx(y.item()).epsilon(1e-6));
      check_close(grad(z, {far}, {.retain_graph = true})[0].value(), g.value(), 1e-6);
      const Tensor recorded = grad(z, {far}, {.create_graph = true})[0];
      check_close(recorded.value(), g.value(), 1e-6);
      check_close(grad(recorded, {far}, {.seed = seed})[0].value(), second.value(), 1e-6);
    }
  }
}

TEST_CASE("cross-entropy of infinite logits is -log_softmax, with its gradient") {
  const Real n = not_a_number, i = infinity;
  const std::array<Real, 3> rows[] = {{i, 0, 1}, {i, i, 0}, {-i, 0, 1}, {-i, -i, -i}, {i, -i, 0}, {n, 0, 1}, {i, n, 0}};
  for (const auto& row : rows) {
    for (std::int64_t target = 0; target < 3; ++target) {
      INFO(row[0], ", ", row[1], ", ", row[2], " with target ", target);
      const Array logits({1, 3}, {row[0], row[1], row[2]});
      Array hot({1, 3}, Real(0));
      hot.mutable_data()[target] = 1;
      const Tensor x = variable(logits), u = variable(logits), v = variable(logits);
      const Tensor expected = -sum(where(Tensor(hot) > 0, log_softmax(x), 0));
      const Tensor hard = cross_entropy(u, Index({1}, {target}), {.reduction = Reduction::sum});
      const Tensor soft = cross_entropy(v, Tensor(hot), {.reduction = Reduction::sum});
      const Array gx = grad(expected, {x})[0].value();
      const Array gu = grad(hard, {u}, {.retain_graph = true})[0].value();
      const Array recorded = grad(hard, {u}, {.create_graph = true})[0].value();
      const Array gv = grad(soft, {v})[0].value();
      check_near(hard.item(), expected.item());
      check_near(soft.item(), expected.item());
      for (std::int64_t k = 0; k < 3; ++k) {
        if (row[0] == i || std::isnan(row[0])) CHECK(std::isnan(gu.data()[k]));
        check_near(gu.data()[k], gx.data()[k]);
        check_near(recorded.data()[k], gx.data()[k]);
        check_near(gv.data()[k], gx.data()[k]);
      }
    }
  }
}

TEST_CASE("one NaN among scores makes every weight NaN, wherever it stands") {
  for (const std::int64_t n : {2, 17, 48, 100}) {
    for (std::int64_t place = 0; place < n; ++place) {
      for (const Real first : {Real(5), infinity, -infinity}) {
        Array row(Shape{n}, -infinity);
        row.mutable_data()[0] = first;
        row.mutable_data()[place] = not_a_number;
        for (const Tensor& y : {softmax(row), log_softmax(row), logsumexp(row), cross_entropy(row, Index(Shape{}, 0)),
                                max(row), min(row)}) {
          REQUIRE(std::ranges::all_of(y.value(), [](Real v) { return std::isnan(v); }));
        }
      }
    }
  }
}

TEST_CASE("a class that smoothing leaves nothing of costs nothing, also with an infinite logit") {
  const Array logits({2, 3}, {-infinity, 0, 1, -infinity, -infinity, 3});
  for (const bool weighted : {false, true}) {
    const Tensor x = variable(logits);
    const Tensor y =
        cross_entropy(x, Index({2}, 0),
                      {.weight = weighted ? ones({3}) : Tensor(), .label_smoothing = 1, .reduction = Reduction::none});
    const Exact total = std::log(1 + std::exp(Exact(1)));
    check_near(y.value().data()[0], (2 * total - 1) / 3);
    check_near(y.value().data()[1], 0);
    for (const bool twice : {false, true}) {
      const Array g = grad(sum(y), {x}, {.create_graph = twice, .retain_graph = true})[0].value();
      check_near(g.data()[0], 0);
      check_near(g.data()[1], 2 * std::exp(-total) / 3 - 1 / Exact(3), 16);
      check_near(g.data()[3], 0);
      check_near(g.data()[5], 0);
    }
  }
}

TEST_CASE("a class with target 0 has the gradient -ln p for its probability") {
  const Tensor logits = Array({1, 3}, {0, 1, 2}), q = variable(Array({1, 3}, {0, 0, 1}));
  const Tensor g = grad(cross_entropy(logits, q), {q})[0];
  check_close(g.value(), (-log_softmax(logits)).value(), 1e-6);
}

TEST_CASE("a yes-or-no question with an infinite logit costs 0 or inf, and has the limits' gradients") {
  struct Row {
    Real x, t;
    Exact y, slope;
  };
  const Real i = infinity, half = Real(0.5), x = single ? Real(20) : Real(40);
  const Exact e = std::exp(-Exact(x));
  const Row rows[] = {
      {i, 1, 0, 0},
      {i, 0, i, 1},
      {-i, 0, 0, 0},
      {-i, 1, i, -1},
      {i, half, i, half},
      {-i, half, i, -half},
      {x, 1, std::log1p(e), 0},
      {-x, 0, std::log1p(e), e},
      {0, 1, std::log(Exact(2)), -half},
  };
  for (const Row& row : rows) {
    INFO("logit ", row.x, ", target ", row.t);
    const Tensor logit = variable(row.x);
    const Tensor y = binary_cross_entropy_with_logits(logit, Tensor(row.t));
    check_near(y.item(), row.y);
    const double off = std::abs(static_cast<double>(grad(y, {logit})[0].item() - row.slope));
    CHECK(off < 1e-8);
  }
  CHECK(std::isnan(binary_cross_entropy_with_logits(Tensor(not_a_number), Tensor(1)).item()));
  CHECK(std::isnan(binary_cross_entropy_with_logits(Tensor(1), Tensor(not_a_number)).item()));
}

TEST_CASE("a divergence counts nothing where the target is 0, also if it is given as a logarithm") {
  const Tensor log_p = variable(Array({3}, {-infinity, std::log(Real(0.5)), std::log(Real(0.5))}));
  for (const bool log_target : {false, true}) {
    const Tensor q = Array({3}, {0, Real(0.25), Real(0.75)});
    const Tensor y = kl_div(log_p, log_target ? log(q) : q, {.reduction = Reduction::sum, .log_target = log_target});
    CHECK(y.item() == doctest::Approx(0.25 * std::log(0.5) + 0.75 * std::log(1.5)).epsilon(1e-6));
    check_close(grad(y, {log_p})[0].value(), (-q).value(), 1e-6);
  }
}
