// Functions of one tensor: values against the C library, edges. (Gradients: elementwise_fixtures_test.cpp.)
#include <cmath>
#include <numbers>

#include <xgrad/ops/ops.h>

#include "support/check.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Unary {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*oracle)(double);
  Real low, high;  // where values are compared
};

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

const Unary unary_ops[] = {
    {"exp", exp, [](double x) { return std::exp(x); }, -3, 3},
    {"expm1", expm1, [](double x) { return std::expm1(x); }, -3, 3},
    {"log", log, [](double x) { return std::log(x); }, 0.1, 4},
    {"log1p", log1p, [](double x) { return std::log1p(x); }, -0.8, 4},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.1, 4},
    {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.2, 4},
    {"square", square, [](double x) { return x * x; }, -2, 2},
    {"abs", abs, [](double x) { return std::abs(x); }, -2, 2},
    {"sign", sign, [](double x) { return x > 0   ? 1.0
                                         : x < 0 ? -1.0
                                                 : 0.0; }, -2, 2},
    {"sin", sin, [](double x) { return std::sin(x); }, -4, 4},
    {"cos", cos, [](double x) { return std::cos(x); }, -4, 4},
    {"tanh", tanh, [](double x) { return std::tanh(x); }, -3, 3},
    {"erf", erf, [](double x) { return std::erf(x); }, -3, 3},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -4, 4},
    {"relu", relu, [](double x) { return std::max(x, 0.0); }, -2, 2},
    {"elu", [](const Tensor& x) { return elu(x, 1.5); }, [](double x) { return x > 0 ? x : 1.5 * std::expm1(x); }, -2,
     2},
    {"softplus", softplus, [](double x) { return std::log1p(std::exp(x)); }, -4, 4},
    {"silu", silu, [](double x) { return x / (1 + std::exp(-x)); }, -4, 4},
    {"gelu", [](const Tensor& x) { return gelu(x); }, [](double x) { return x * normal_cdf(x); }, -3, 3},
    {"gelu tanh", [](const Tensor& x) { return gelu(x, Gelu::tanh); },
     [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x))); },
     -3, 3},
    {"clamp", [](const Tensor& x) { return clamp(x, {.min = -0.5, .max = 0.75}); },
     [](double x) { return std::clamp(x, -0.5, 0.75); }, -2, 2},
    {"neg", neg, [](double x) { return -x; }, -2, 2},
    {"pow 3", [](const Tensor& x) { return pow(x, 3); }, [](double x) { return std::pow(x, 3); }, -2, 2},
    {"pow -1", [](const Tensor& x) { return pow(x, -1); }, [](double x) { return 1 / x; }, 0.3, 2},
    {"pow 2.5", [](const Tensor& x) { return pow(x, 2.5); }, [](double x) { return std::pow(x, 2.5); }, 0.2, 3},
};

Real slope_at(Tensor (*op)(const Tensor&), Real at) {
  const Tensor x = variable(at);
  return grad(op(x), {x})[0].item();
}

}  // namespace

TEST_CASE("functions of one tensor have the values of the C library, in every place of a register") {
  for (const Unary& op : unary_ops) {
    INFO(op.name);
    for (const Shape& shape : {Shape{}, {0}, {1}, {7}, {8}, {17}, {33}, {3, 5}, {2, 0, 3}, {2, 1, 3, 5}}) {
      const Array x = uniform(shape, op.low, op.high, 5);
      Array expected(shape);
      for (std::int64_t i = 0; i < x.size(); ++i) expected.mutable_data()[i] = op.oracle(x.data()[i]);
      check_close(op.op(x).value(), expected, 1e-14);  // the erf of xsimd has errors of 20 ulp
    }
  }
}

TEST_CASE("a third derivative comes from the same rule") {
  const Tensor x = variable(0.3);
  Tensor d = tanh(x);
  for (int order = 0; order < 3; ++order) d = grad(d, {x}, {.create_graph = true})[0];
  const double t = std::tanh(0.3), u = 1 - t * t;
  CHECK(d.item() == doctest::Approx(-2 * u * (u - 2 * t * t)).epsilon(1e-12));
}

TEST_CASE("gradients at kinks are what the comments say") {
  CHECK(slope_at(relu, 0) == 0);
  CHECK(slope_at(abs, 0) == 0);
  CHECK(slope_at([](const Tensor& x) { return clamp(x, {.min = 0, .max = 1}); }, 0) == 0);
  CHECK(slope_at([](const Tensor& x) { return clamp(x, {.min = 0, .max = 1}); }, 1) == 0);
  CHECK(slope_at(sqrt, 0) == infinity);
  CHECK(slope_at([](const Tensor& x) { return pow(x, 0); }, 0) == 0);
  CHECK(slope_at([](const Tensor& x) { return pow(x, 1); }, 0) == 1);
  CHECK(slope_at([](const Tensor& x) { return pow(x, 2); }, 0) == 0);
}

TEST_CASE("extreme numbers give limits, not NaN") {
  for (const Gelu form : {Gelu::erf, Gelu::tanh}) {
    for (const Real x : {Real(1e30), infinity}) {
      const Tensor up = variable(x), down = variable(-x);
      CHECK(gelu(up, form).item() == x);
      CHECK(gelu(down, form).item() == 0);
      CHECK(grad(gelu(up, form), {up})[0].item() == 1);
      CHECK(grad(gelu(down, form), {down})[0].item() == 0);
    }
  }
  for (Tensor (*op)(const Tensor&) : {silu, softplus}) {
    const Tensor up = variable(1e30), down = variable(-1e30);
    CHECK(op(up).item() == 1e30);
    CHECK(op(down).item() == 0);
    CHECK(grad(op(up), {up})[0].item() == 1);
    CHECK(grad(op(down), {down})[0].item() == 0);
  }
  CHECK(slope_at([](const Tensor& x) { return elu(x); }, 1e4) == 1);
  CHECK(sigmoid(Tensor(-1e4)).item() == 0);
  CHECK(sigmoid(Tensor(1e4)).item() == 1);
  CHECK(log(Tensor(0)).item() == -infinity);
  CHECK(std::isnan(log(Tensor(-1)).item()));
  CHECK(std::isnan(sqrt(Tensor(-1)).item()));
  CHECK((Tensor(1) / 0).item() == infinity);
}

TEST_CASE("NaN stays visible") {
  for (const Unary& op : unary_ops) {
    INFO(op.name);
    CHECK(std::isnan(op.op(Tensor(not_a_number)).item()));
  }
}

TEST_CASE("where takes from either side and sends the gradient there only") {
  const Mask mask(Shape{2, 3}, {true, false, true, false, false, true});
  const Tensor a = tensor({{1, 2, 3}, {4, 5, 6}}), b = tensor({-1, -2, -3});
  check_close(where(mask, a, b).value(), tensor({{1, -2, 3}, {-1, -2, 6}}).value());
  check_gradients([&](const Tensors& x) { return square(where(mask, x[0], x[0])); }, {normal({2, 3})});

  const Tensor x = variable(Array(Shape{2}, {0, 4}));
  const Tensor safe = where(x > 0, log(where(x > 0, x, 1)), 0);  // the usual way to keep NaN out of both branches
  check_close(grad(sum(safe), {x})[0].value(), tensor({0, 0.25}).value());
  CHECK_REFUSED(ShapeError, where(mask, 1, tensor({{1, 2}})), "where", "mask [2, 3]", "a []", "b [1, 2]",
                "mask has 3 and b has 2");
}

TEST_CASE("clamp refuses bounds in the wrong order") {
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = 2, .max = 1}), "clamp", "min 2", "max 1");
  CHECK_REFUSED(ValueError, clamp(Tensor(1), {.min = not_a_number, .max = 1}), "clamp", "min nan");
}
