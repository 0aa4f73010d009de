// Functions of tensors, where, clamp, activations, roundings and similarities: limits, errors.
// (Values: elementwise_fixtures_test.cpp, smooth_fixtures_test.cpp and numerics_test.cpp; gradients: the first two.)
#include <cmath>
#include <tuple>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

TEST_CASE("where keeps NaN of the other side out of a gradient, and refuses what does not fit") {
  const Mask mask(Shape{2, 3}, {true, false, true, false, false, true});
  const Tensor x = variable(Array(Shape{2}, {0, 4}));
  const Tensor safe = where(x > 0, log(where(x > 0, x, 1)), 0);  // the usual way to keep NaN out of both branches
  check_close(grad(sum(safe), {x})[0].value(), tensor({0, 0.25}).value());
  CHECK_REFUSED(ShapeError, where(mask, 1, tensor({{1, 2}})), "where", "mask [2, 3]", "a []", "b [1, 2]",
                "mask has 3 and b has 2");
}

TEST_CASE("activations have limits at infinities, in values and slopes, and NaN stays visible") {
  struct Limit {
    const char* name;
    Tensor (*f)(const Tensor&);
    Real below, slope_below, above, slope_above;
  };
  const Real scale = Real(1.0507009873554805), alpha = Real(1.6732632423543772);
  const Limit limits[] = {
      {"selu", selu, -scale * alpha, 0, infinity, scale},
      {"mish", mish, 0, 0, infinity, 1},
      {"softsign", softsign, -1, 0, 1, 0},
      {"logsigmoid", logsigmoid, -infinity, 1, 0, 0},
      {"tanhshrink", tanhshrink, -infinity, 1, infinity, 1},
      {"relu6", relu6, 0, 0, 6, 0},
      {"hardsigmoid", hardsigmoid, 0, 0, 1, 0},
      {"hardswish", hardswish, 0, 0, infinity, 1},
  };
  for (const Limit& limit : limits) {
    INFO(std::string(limit.name));
    for (const auto& [at, y, slope] : {std::tuple(-infinity, limit.below, limit.slope_below),
                                       std::tuple(infinity, limit.above, limit.slope_above)}) {
      const Tensor x = variable(at);
      const Real found = limit.f(x).item();
      CHECK((found == y || found == doctest::Approx(y)));
      CHECK(grad(limit.f(x), {x})[0].item() == doctest::Approx(slope));
    }
    CHECK(std::isnan(limit.f(Tensor(not_a_number)).item()));
  }
}

TEST_CASE("what has no slope gets 0, not NaN") {
  const auto slopes = [](const Function& f, const Tensors& xs) {
    std::vector<Real> all;
    for (const Tensor& g : grad(f(xs), xs)) all.push_back(g.item());
    return all;
  };
  const auto at = [](Real a, Real b) { return Tensors{variable(a), variable(b)}; };
  const Function arc = [](const Tensors& x) { return atan2(x[0], x[1]); };
  CHECK(slopes(arc, at(0, 0)) == std::vector<Real>{0, 0});
  CHECK(slopes(arc, at(0, 1e-300)) == std::vector<Real>{1 / Real(1e-300), 0});
  CHECK(slopes(arc, at(1e300, 1e300)) == std::vector<Real>{Real(5e-301), Real(-5e-301)});
  const Function sum_of_powers = [](const Tensors& x) { return logaddexp(x[0], x[1]); };
  CHECK(slopes(sum_of_powers, at(-infinity, -infinity)) == std::vector<Real>{0, 0});
  CHECK(slopes(sum_of_powers, at(infinity, infinity)) == std::vector<Real>{0.5, 0.5});
  CHECK(slopes(sum_of_powers, at(-infinity, 3)) == std::vector<Real>{0, 1});
  CHECK(logaddexp(Tensor(-infinity), Tensor(-infinity)).item() == -infinity);
  CHECK(logaddexp(Tensor(infinity), Tensor(-infinity)).item() == infinity);
}

TEST_CASE("rests are exact where quotients are not") {
  CHECK(fmod(Tensor(1e18), Tensor(7)).item() == std::fmod(1e18, 7));
  CHECK(remainder(Tensor(-1e18), Tensor(7)).item() == 7 - std::fmod(1e18, 7));
  CHECK(std::isnan(fmod(Tensor(1), Tensor(0)).item()));
  CHECK(remainder(Tensor(-1), Tensor(infinity)).item() == infinity);
  const Tensor b = variable(0.1);  // 1/0.1 is 10 after rounding, but 0.1 goes 9 times into 1
  CHECK(grad(fmod(Tensor(1), b), {b})[0].item() == -9);
}

TEST_CASE("the recipe for floor_divide gives what Python's // gives, where the quotient is rounded up, too") {
  const Tensor a = tensor({0.25, 1, -1, 0.3, -0.3, 7, -7, 7, 1e17, 0.9}),
               b = tensor({0.001, 0.1, 0.1, 0.1, 0.1, 2, 2, -2, 3, -0.1});
  CHECK(equal(round((a - remainder(a, b)) / b).value(),
              Array({10}, {249, 9, -10, 2, -3, 3, -4, -4, 33333333333333332.0, -9})));
}

TEST_CASE("a remainder of 0 has the sign of b") {
  for (const double a : {-6.0, -0.0, 0.0, 6.0}) {
    CHECK_FALSE(std::signbit(remainder(Tensor(a), Tensor(3)).item()));
    CHECK(std::signbit(remainder(Tensor(a), Tensor(-3)).item()));
  }
}

TEST_CASE("lerp meets infinite ends and ends that are far apart") {
  constexpr Real huge = std::numeric_limits<Real>::max();
  const auto at = [](Real start, Real end, Real weight) {
    return lerp(Tensor(start), Tensor(end), Tensor(weight)).item();
  };
  for (const auto& [start, end] :
       {std::pair(Real(1), infinity), {infinity, Real(-2)}, {-infinity, infinity}, {-huge, huge}}) {
    CHECK(at(start, end, 0) == start);
    CHECK(at(start, end, 1) == end);
  }
  CHECK(at(1, infinity, 0.75) == infinity);
  CHECK(at(-infinity, 1, 0.75) == -infinity);
  CHECK(at(infinity, infinity, 0.25) == infinity);
  CHECK(at(-huge, huge, 0.5) == 0);
  CHECK(at(huge, -huge, 0.25) == doctest::Approx(huge / 2));
  CHECK(std::isnan(at(-infinity, infinity, 0.5)));
}

TEST_CASE("slopes are finite where the value leaves the range and the slope does not") {
  const Real end = sizeof(Real) == 4 ? 128 : 1024;  // 2^end is infinite, 2^end ln 2 is not
  const double expected = 2 * std::numbers::ln2 * std::ldexp(1, static_cast<int>(end) - 1);
  const Tensor x = variable(end), two = variable(Real(2));
  CHECK(grad(exp2(x), {x})[0].item() == doctest::Approx(expected).epsilon(1e-14));
  CHECK(grad(pow(two, x), {x})[0].item() == doctest::Approx(expected).epsilon(1e-14));
  CHECK(grad(exp2(x + 1), {x})[0].item() == infinity);
}

TEST_CASE("lerp meets both ends exactly, and exp2 and log2 powers of two") {
  CHECK(lerp(Tensor(1e16), Tensor(1), Tensor(1)).item() == 1);
  CHECK(lerp(Tensor(1), Tensor(1e16), Tensor(0)).item() == 1);
  for (int k = -1074; k < 1024; ++k) {
    CHECK(exp2(Tensor(k)).item() == std::ldexp(1, k));
    CHECK(log2(Tensor(std::ldexp(1, k))).item() == k);
  }
  CHECK(exp2(Tensor(1024)).item() == infinity);
  CHECK(exp2(Tensor(-1076)).item() == 0);
}

TEST_CASE("nothing is close to nothing, and an infinity to itself alone") {
  CHECK(allclose(zeros({0}), ones({0})));
  CHECK(!isclose(Tensor(infinity), Tensor(1e300), {.rtol = 1}).data()[0]);
}

TEST_CASE("functions refuse what makes no sense, and say what") {
  const Tensor x = normal({2, 3});
  CHECK_REFUSED(ShapeError, prelu(x, ones({2})), "prelu", "weight [2]", "x [2, 3]");
  CHECK_REFUSED(ShapeError, prelu(ones({3}), ones({3})), "prelu", "weight [3]", "x [3]");
  CHECK_REFUSED(ValueError, celu(x, 0), "celu", "alpha 0");
  CHECK_REFUSED(ValueError, celu(x, not_a_number), "celu", "alpha nan");
  CHECK_REFUSED(ShapeError, glu(x), "glu", "axis 1 of [2, 3]");
  CHECK_REFUSED(ValueError, glu(x, 2), "glu", "axis 2");
  CHECK_REFUSED(ValueError, glu(Tensor(1)), "glu", "axis -1");
  CHECK_REFUSED(ValueError, hardtanh(x, {.min_val = 2, .max_val = 1}), "hardtanh", "min_val 2", "above max_val 1");
  CHECK_REFUSED(ShapeError, atan2(x, ones({2})), "atan2", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, logaddexp(x, ones({2})), "logaddexp", "[2, 3]", "[2]");
  CHECK_REFUSED(ShapeError, isclose(x, ones({2})), "isclose", "cannot broadcast");
  CHECK_REFUSED(ValueError, isclose(x, x, {.rtol = -1}), "isclose", "rtol -1", "atol 1e-08");
  CHECK_REFUSED(ValueError, allclose(x, x, {.atol = not_a_number}), "allclose", "a tolerance is negative or NaN");
  CHECK_REFUSED(ValueError, normalize(x, 2, 2), "normalize", "axis 2");
  CHECK_REFUSED(ValueError, normalize(x, 2, 1, {.eps = 0}), "normalize", "eps 0 is not positive");
  CHECK_REFUSED(ValueError, normalize(x, not_a_number), "normalize", "p is NaN");
  CHECK_REFUSED(ShapeError, cosine_similarity(x, ones({2})), "cosine_similarity", "cannot broadcast");
  CHECK_REFUSED(ValueError, cosine_similarity(x, x, 1, {.eps = -1}), "cosine_similarity", "eps -1");
  CHECK_REFUSED(ShapeError, pairwise_distance(x, ones({2})), "pairwise_distance", "cannot broadcast");
  CHECK_REFUSED(ShapeError, pairwise_distance(Tensor(1), Tensor(2)), "pairwise_distance", "[]", "[]");
  CHECK_REFUSED(ValueError, pairwise_distance(x, x, {.p = not_a_number}), "pairwise_distance", "p is NaN");
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = 2, .max = 1}), "clamp", "min 2", "max 1");
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = not_a_number, .max = 1}), "clamp", "min nan");
  CHECK_REFUSED(ValueError, hardshrink(x, -1), "hardshrink", "lambda -1");
  CHECK_REFUSED(ValueError, softshrink(x, not_a_number), "softshrink", "lambda nan");
}
