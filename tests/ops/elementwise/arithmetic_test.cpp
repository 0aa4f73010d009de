// Arithmetic with broadcasting on either side.
#include <algorithm>
#include <cmath>
#include <limits>

#include <xgrad/ops/ops.h>

#include "support/check.h"
#include "support/oracle.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

struct Binary {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*oracle)(double, double);
  bool positive = false;
};

const Binary binary_ops[] = {
    {"add", add, [](double a, double b) { return a + b; }},
    {"sub", sub, [](double a, double b) { return a - b; }},
    {"mul", mul, [](double a, double b) { return a * b; }},
    {"div", div, [](double a, double b) { return a / b; }, true},
    {"pow", pow, [](double a, double b) { return std::pow(a, b); }, true},
    {"maximum", maximum, [](double a, double b) { return std::max(a, b); }},
    {"minimum", minimum, [](double a, double b) { return std::min(a, b); }},
};

const std::pair<Shape, Shape> shapes[] = {
    {{}, {}},
    {{1}, {1}},
    {{17}, {17}},
    {{3, 5}, {3, 5}},
    {{3, 5}, {}},
    {{}, {3, 5}},
    {{3, 5}, {5}},
    {{5}, {3, 5}},
    {{3, 5}, {3, 1}},
    {{3, 1}, {3, 5}},
    {{3, 1}, {1, 5}},
    {{2, 3, 4}, {3, 1}},
    {{2, 1, 4}, {3, 1}},
    {{2, 3, 1, 5}, {3, 2, 1}},
    {{0, 3}, {3}},
    {{2, 1, 3, 1, 5}, {1, 4, 1, 2, 1}},
    {{1, 1}, {2, 3}},
    {{4, 33}, {33}},
};

Array operand(const Binary& op, const Shape& shape, std::uint64_t seed) {
  return op.positive ? uniform(shape, 0.5, 2, seed) : normal(shape, seed);
}

}  // namespace

TEST_CASE("arithmetic broadcasts as numpy does") {
  for (const Binary& op : binary_ops) {
    for (const auto& operands : shapes) {
      const Shape &left = operands.first, &right = operands.second;
      INFO(op.name, " ", cat(left), " ", cat(right));
      const Array a = operand(op, left, 1), b = operand(op, right, 2);
      const Shape shape = broadcast_shapes("test", left, right);
      const Array x = oracle::broadcast(a, shape), y = oracle::broadcast(b, shape);
      Array expected(shape);
      std::transform(x.begin(), x.end(), y.begin(), expected.mutable_data(), op.oracle);
      check_close(op.op(a, b).value(), expected, 1e-15);
    }
  }
}

TEST_CASE("the same tensor may stand on both sides") {
  for (const Binary& op : binary_ops) {
    INFO(op.name);
    const std::string name = op.name;
    const bool cancels = name == "sub" || name == "div";
    check_gradients([&](const Tensors& x) { return op.op(x[0], x[0]); }, {uniform({3, 5}, 0.5, 2)}, {.zero = cancels});
  }
}

TEST_CASE("equal operands of maximum and minimum share the gradient evenly") {
  const Tensor a = variable(tensor({1, 2, 3}).value()), b = variable(tensor({1, 3, 2}).value());
  for (Tensor (*op)(const Tensor&, const Tensor&) : {maximum, minimum}) {
    const Tensors g = grad(sum(op(a, b)), {a, b});
    check_close((g[0] + g[1]).value(), ones({3}).value());
    CHECK(g[0].value().at({0}) == 0.5);
  }
}

TEST_CASE("powers at the edges") {
  CHECK(pow(Tensor(0), 0).item() == 1);
  CHECK(pow(Tensor(0), Tensor(0)).item() == 1);
  CHECK(std::isinf(pow(Tensor(0), -1).item()));
  CHECK(std::isnan(pow(Tensor(-2), 0.5).item()));
  CHECK(pow(Tensor(-2), 3).item() == -8);
  const Real infinity = std::numeric_limits<Real>::infinity(), least = std::numeric_limits<Real>::denorm_min();
  for (const double half : {0.5, -0.5}) {
    for (const Real x : {Real(0), Real(-0.0), least, Real(0.3), Real(2), infinity, -infinity, Real(-1), -least, Real(std::nan(""))}) {
      CAPTURE(x);
      // Of a row as long as the registers, too.
      const Array found = pow(full({19}, x), half).value();
      const Real expected = std::pow(x, static_cast<Real>(half));
      for (const Real y : found) {
        if (std::isnan(expected)) {
          CHECK(std::isnan(y));
        } else {
          CHECK((y == expected || y == doctest::Approx(expected).epsilon(1e-15)));
          CHECK(std::signbit(y) == std::signbit(expected));
        }
      }
    }
  }
  const Tensor a = variable(0.0), b = variable(0.0);
  const Tensors g = grad(pow(a, b), {a, b});
  CHECK(g[0].item() == 0);
  CHECK(g[1].item() == 0);
  const Tensor c = variable(0.0), d = variable(2.0);
  CHECK(grad(pow(c, d), {d})[0].item() == 0);
}

TEST_CASE("shapes that do not broadcast are refused with both shapes") {
  CHECK_REFUSED(ShapeError, ones({2, 3}) + ones({4, 3}), "add", "[2, 3]", "[4, 3]");
  CHECK_REFUSED(ShapeError, ones({2, 3}) * ones({2}), "mul", "[2, 3]", "[2]", "fit as [2, 1]");
}

TEST_CASE("comparisons give masks with broadcasting; NaN is equal to nothing") {
  const Tensor a = tensor({{1, 2, 3}, {3, 2, 1}}), b = tensor({2, 2, 2});
  CHECK(equal(a < b, Mask(Shape{2, 3}, {true, false, false, false, false, true})));
  CHECK(equal(a <= b, Mask(Shape{2, 3}, {true, true, false, false, true, true})));
  CHECK(equal(a > b, Mask(Shape{2, 3}, {false, false, true, true, false, false})));
  CHECK(equal(a >= b, Mask(Shape{2, 3}, {false, true, true, true, true, false})));
  CHECK(equal(a == b, Mask(Shape{2, 3}, {false, true, false, false, true, false})));
  CHECK(equal(a != b, Mask(Shape{2, 3}, {true, false, true, true, false, true})));
  const Tensor none(std::nan(""));
  CHECK((none != none).item());
  CHECK_FALSE((none == none).item());
}
