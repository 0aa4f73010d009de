#include "check.h"

namespace xgrad::exercises {
namespace {

double value_of(double x) { return x / (1 + std::abs(x)); }

}  // namespace

void check::softsign(Tensor (*answer)(const Tensor&)) {
  const Tensor x = variable({-3, -0.5, 0.25, 2}, "x"), gy = tensor({1, -2, 3, 0.5});
  Tensor value = zeros({4}), slope = zeros({4});
  value = x / (1 + abs(x)), slope = 1 / square(1 + abs(x));
  Operations ran;
  const Tensor y = answer(x);
  written(y.defined(),
          "return record(\"softsign\", (x / (1 + abs(x))).value(), wrt(x, [](const Tensor& gy, const Tensor& y) { "
          "return ...; }));");
  not_this(y, x / (1 + x), "y at x = -3 is ", digits(y.value().at({0})), " instead of -0.75: the divisor is 1 + |x|");
  same("y", y, value);
  if (!ran.names.contains("softsign"))
    not_yet("no operation \"softsign\" was recorded: return record(\"softsign\", value, wrt(x, rule))");
  if (y.is_leaf()) not_yet("y has no rule: give record a part wrt(x, rule)");
  const Tensor gx = grad(y, {x}, {.seed = gy, .retain_graph = true})[0];
  has_shape("the gradient of x", gx.shape(), {4}, "that of x");
  const double difference = (value_of(0.25 + 1e-4) - value_of(0.25 - 1e-4)) / 2e-4;
  not_this(gx, slope.detach(),
           "the gradient is dy/dx without gy: the gradient of the result arrives, and is multiplied by dy/dx");
  not_this(gx, gy * square(1 - abs(x)), "the gradient at x = 0.25 is ", digits(gx.value().at({2})), " instead of ",
           digits(3 * difference), ": (1 - |x|)^2 has x where y belongs");
  not_this(gx, gy * square(1 - value), "the gradient at x = -3 is ", digits(gx.value().at({0})),
           " instead of 0.0625: 1 - |y| needs the absolute value");
  not_this(gx, gy * (1 - abs(value)), "the square is missing: dy/dx = (1 - |y|)^2");
  not_this(gx, value * square(1 - abs(gy)), "gy and y have changed places: a rule takes gy first, then y");
  not_this(gx, gy * (1 - square(value)), "1 - y^2 is the derivative of tanh: here it is (1 - |y|)^2");
  not_this(gx, gy / square(1 + abs(value)), "1 / (1 + |x|)^2 has y where x belongs");
  same("the gradient of x", gx, gy * slope, "finite differences agree with the second value");
  Tensor twice;
  try {
    twice = grad(sum(grad(sum(answer(x)), {x}, {.create_graph = true})[0]), {x})[0];
  } catch (const GraphError& error) {
    not_yet(
        "the gradient is right, but it cannot be differentiated again: the rule computes with values, not with "
        "operations (",
        error.what(), ")");
  }
  same("the second derivative", twice, -2 * sign(x) / pow(1 + abs(x), 3), "a rule made of operations gives it");
  right_because() = "one rule serves the gradients of all orders, since it is made of operations";
}

}  // namespace xgrad::exercises
