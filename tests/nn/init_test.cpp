// First numbers of parameters: bounds, moments, orthonormality.
#include "support/check.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include <xgrad/nn/base/init.h>
#include <xgrad/ops/products/matmul.h>

namespace xgrad::testing {
namespace {

using namespace nn;

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
};

Moments moments(const Array& x) {
  Moments m;
  const double n = static_cast<double>(x.size());
  for (const Real value : x) {
    m.mean += value / n;
    m.low = std::min<double>(m.low, value);
    m.high = std::max<double>(m.high, value);
  }
  for (const Real value : x) m.deviation += (value - m.mean) * (value - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

void check_uniform(const Init& init, double bound) {
  manual_seed(3);
  const Moments m = moments(init({200, 300}));
  CHECK(std::abs(m.mean) < 0.01 * bound);
  CHECK(m.deviation == doctest::Approx(bound / std::numbers::sqrt3).epsilon(0.01).scale(0));
  CHECK(m.high <= bound);
  CHECK(m.high == doctest::Approx(bound).epsilon(0.001).scale(0));
  CHECK(m.low == doctest::Approx(-bound).epsilon(0.001).scale(0));
}

void check_normal(const Init& init, double deviation) {
  manual_seed(3);
  const Moments m = moments(init({200, 300}));
  CHECK(std::abs(m.mean) < 0.02 * deviation);
  CHECK(m.deviation == doctest::Approx(deviation).epsilon(0.01).scale(0));
  CHECK(m.high > 3.5 * deviation);
}

TEST_CASE("Fans are counted as in PyTorch") {
  CHECK(init::fans({5, 3}).in == 3);
  CHECK(init::fans({5, 3}).out == 5);
  CHECK(init::fans({5, 3, 2, 2}).in == 12);
  CHECK(init::fans({5, 3, 2, 2}).out == 20);
  CHECK_REFUSED(ShapeError, init::fans({5}), "init", "fans need a weight of two axes or more, got [5]");
}

TEST_CASE("Xavier and Kaiming numbers have the spread that the fans ask for") {
  check_uniform(init::xavier_uniform(), std::sqrt(6.0 / 500));
  check_normal(init::xavier_normal({.gain = 2}), 2 * std::sqrt(2.0 / 500));
  check_uniform(init::kaiming_uniform(), std::sqrt(2.0) * std::sqrt(3.0 / 300));
  check_uniform(init::kaiming_uniform({.slope = std::sqrt(5.0)}), std::sqrt(1.0 / 300));
  check_normal(init::kaiming_normal({.nonlinearity = init::Nonlinearity::relu, .mode = init::FanMode::out}),
               std::sqrt(2.0 / 200));
  check_normal(init::kaiming_normal({.nonlinearity = init::Nonlinearity::tanh}), 5.0 / 3 / std::sqrt(300.0));
}

TEST_CASE("Uniform and normal numbers") {
  check_uniform(init::uniform({.low = -0.3, .high = 0.3}), 0.3);
  check_uniform(init::uniform_within_root(16), 0.25);
  check_normal(init::normal({.std = 0.02}), 0.02);
  manual_seed(1);
  CHECK(moments(init::normal({.mean = 5})({50000})).mean == doctest::Approx(5).epsilon(0.01));
  CHECK(equal(init::zeros()({2}), Array({2}, {0, 0})));
  CHECK(equal(init::ones()({2}), Array({2}, {1, 1})));
  CHECK(equal(init::constant(3)({}), Array({}, {3})));
  CHECK(equal(init::values(Array({2}, {4, 5}))({2}), Array({2}, {4, 5})));
}

TEST_CASE("Truncated normal numbers lie within the bounds and have the known deviation") {
  manual_seed(2);
  const Moments m = moments(init::truncated_normal({.std = 0.5, .low = -1, .high = 1})({60000}));
  CHECK(m.low >= -1);
  CHECK(m.high <= 1);
  CHECK(std::abs(m.mean) < 0.01);
  // Of a normal variable cut at +-2 deviations: sqrt(1 - 4 phi(2) / (2 Phi(2) - 1)) = 0.8796
  CHECK(m.deviation == doctest::Approx(0.5 * 0.8796).epsilon(0.01).scale(0));
  // The mean of what is drawn far from the mean of all is that of its tail, on both sides.
  for (const double side : {-1., 1.}) {
    const Moments tail = moments(
        init::truncated_normal({.mean = side, .std = 2, .low = side * 11 - 2, .high = side * 11 + 2})({200, 300}));
    CHECK(std::abs(tail.mean) == doctest::Approx(9.45109).epsilon(0.001));
  }
}

TEST_CASE("Orthogonal weights have orthonormal rows or columns") {
  for (const Shape& shape : {Shape{6, 6}, Shape{3, 7}, Shape{7, 3}, Shape{4, 3, 2}}) {
    manual_seed(4);
    const Array w = init::orthogonal({.gain = 2})(shape);
    const std::int64_t rows = shape[0], columns = w.size() / rows, count = std::min(rows, columns);
    for (std::int64_t a = 0; a < count; ++a) {
      for (std::int64_t b = 0; b < count; ++b) {
        double dot = 0;
        for (std::int64_t i = 0; i < std::max(rows, columns); ++i) {
          const auto entry = [&](std::int64_t k) {
            return w.data()[rows <= columns ? k * columns + i : i * columns + k];
          };
          dot += entry(a) * entry(b);
        }
        CHECK(dot == doctest::Approx(a == b ? 4 : 0).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("Initialisers without options have PyTorch's, and every gain its factor") {
  using init::Nonlinearity;
  const std::vector<std::pair<Nonlinearity, double>> gains{{Nonlinearity::linear, 1},
                                                           {Nonlinearity::sigmoid, 1},
                                                           {Nonlinearity::tanh, 5. / 3},
                                                           {Nonlinearity::relu, std::sqrt(2.)},
                                                           {Nonlinearity::leaky_relu, std::sqrt(2 / (1 + 0.01 * 0.01))},
                                                           {Nonlinearity::selu, 0.75}};
  for (const auto& [kind, factor] : gains) CHECK(init::gain(kind) == doctest::Approx(factor).epsilon(1e-12));
  CHECK(init::gain(Nonlinearity::leaky_relu, {.slope = 1}) == 1);
  manual_seed(3);
  const Moments uniform = moments(init::uniform()({200, 300}));
  CHECK(uniform.mean == doctest::Approx(0.5).epsilon(0.01));
  CHECK(uniform.deviation == doctest::Approx(1 / std::sqrt(12.)).epsilon(0.01));
  CHECK(uniform.low == 0);
  CHECK(uniform.high > 0.999);
  CHECK(uniform.high < 1);
  check_normal(init::normal(), 1);
  // A bound at the mean is drawn as one just below it, so that a seed gives the numbers that it has always given.
  const auto from = [](double low) {
    manual_seed(5);
    return init::truncated_normal({.low = low, .high = 2})({100});
  };
  check_close(from(0), from(-1e-9), 1e-6);
  const Moments truncated = moments(init::truncated_normal()({200, 300}));
  CHECK(std::abs(truncated.mean) < 0.02);
  CHECK(truncated.deviation == doctest::Approx(0.8796).epsilon(0.01));
  CHECK(truncated.low == doctest::Approx(-2).epsilon(0.001));
  CHECK(truncated.high == doctest::Approx(2).epsilon(0.001));
  check_normal(init::xavier_normal(), std::sqrt(2.0 / 500));
  check_normal(init::kaiming_normal(), std::sqrt(2.0 / 300));
  const Array q = init::orthogonal()({2, 3});
  check_close(matmul(q, q, {.transpose_b = true}).value(), Array({2, 2}, {1, 0, 0, 1}));
}

TEST_CASE("The seed decides") {
  const auto draw = [](std::uint64_t seed) {
    manual_seed(seed);
    return init::xavier_uniform()({3, 3});
  };
  CHECK(equal(draw(1), draw(1)));
  CHECK(!equal(draw(1), draw(2)));
  manual_seed(1);
  const Array first = init::normal()({3});
  CHECK(!equal(first, init::normal()({3})));
}

TEST_CASE("Initialisers refuse what makes no sense") {
  constexpr double most = std::numeric_limits<double>::max();
  const auto error = [](const auto& f) { return error_of<ValueError>(f); };
  using init::Nonlinearity;
  for (const double bad : {double(not_a_number), double(infinity), -double(infinity)}) {
    const std::string not_finite = str(" ", bad, " is not finite");
    CHECK(error([=] { init::gain(Nonlinearity::tanh, {.slope = bad}); }) == "gain: slope" + not_finite);
    CHECK(error([=] { init::uniform({.low = bad}); }) == "uniform: low" + not_finite);
    CHECK(error([=] { init::uniform({.high = bad}); }) == "uniform: high" + not_finite);
    CHECK(error([=] { init::normal({.mean = bad}); }) == "normal: mean" + not_finite);
    CHECK(error([=] { init::truncated_normal({.mean = bad}); }) == "truncated_normal: mean" + not_finite);
    CHECK(error([=] { init::xavier_uniform({.gain = bad}); }) == "xavier_uniform: gain" + not_finite);
    CHECK(error([=] { init::xavier_normal({.gain = bad}); }) == "xavier_normal: gain" + not_finite);
    CHECK(error([=] { init::kaiming_uniform({.slope = bad}); }) == "kaiming_uniform: slope" + not_finite);
    CHECK(error([=] { init::kaiming_normal({.slope = bad}); }) == "kaiming_normal: slope" + not_finite);
    CHECK(error([=] { init::orthogonal({.gain = bad}); }) == "orthogonal: gain" + not_finite);
    CHECK_THROWS_AS(init::truncated_normal({.std = bad}), ValueError);
    CHECK_THROWS_AS(init::truncated_normal({.low = bad}), ValueError);
    CHECK_THROWS_AS(init::truncated_normal({.high = bad}), ValueError);
  }
  CHECK(error([] { init::truncated_normal({.low = -infinity}); }) == "truncated_normal: low -inf is not finite");
  CHECK(error([] { init::truncated_normal({.high = infinity}); }) == "truncated_normal: high inf is not finite");
  CHECK(error([] { init::normal({.std = not_a_number}); }) == "normal: std nan is negative or NaN");
  CHECK(error([] { init::normal({.std = infinity}); }) == "normal: std inf is not finite");
  // Finite, but results of them would not be.
  CHECK(error([] { init::uniform({.low = -most, .high = most}); }) == "uniform: high - low inf is not finite");
  CHECK(error([] { init::normal({.std = most / 6}); }) == "normal: mean with its standard deviations inf is not finite");
  CHECK_NOTHROW(init::normal({.mean = most / 10, .std = most / 10}));
  CHECK(error([] { init::xavier_uniform({.gain = most})({2, 2}); }) == "xavier_uniform: high - low inf is not finite");
  CHECK(error([] {
          init::xavier_normal({.gain = most})({1, 1});
        }) == "xavier_normal: mean with its standard deviations inf is not finite");
  for (const double mean : {100., -100.}) {
    CHECK(error([=] { init::truncated_normal({.mean = mean}); }) ==
          str("truncated_normal: [-2, 2] is too many standard deviations 1 away from the mean ", mean));
  }
  CHECK_REFUSED(ValueError, init::normal({.std = -1}), "normal", "std -1 is negative or NaN");
  CHECK_REFUSED(ValueError, init::uniform({.low = 1, .high = 0}), "uniform", "no numbers in [1, 0)");
  CHECK_REFUSED(ValueError, init::uniform_within_root(0), "uniform_within_root", "n 0 is not positive");
  CHECK_REFUSED(ValueError, init::truncated_normal({.low = 2, .high = 2}), "truncated_normal", "no numbers in [2, 2]");
  CHECK_REFUSED(ValueError, init::truncated_normal({.std = 0}), "truncated_normal", "std 0 is not positive");
  CHECK_REFUSED(ShapeError, init::xavier_uniform()({5}), "init", "fans need a weight of two axes or more, got [5]");
  CHECK_REFUSED(ShapeError, init::orthogonal()({5}), "orthogonal", "needs a weight of two axes or more, got [5]");
  CHECK_REFUSED(ValueError, init::reset(variable({1, 2}), {}), "reset", "the function is empty");
  CHECK_REFUSED(LimitError, init::fans({std::int64_t{1} << 40, std::int64_t{1} << 40}), "shape", "overflows");
  CHECK_REFUSED(ShapeError, init::values(Array({2}, {1, 2}))({3}), "init", "values of shape [2] for [3]");
}

}  // namespace
}  // namespace xgrad::testing
