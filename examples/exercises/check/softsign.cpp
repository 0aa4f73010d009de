#include "mistake.h"

namespace xgrad::exercises {

void check::softsign(Tensor (*answer)(const Tensor&)) {
  const Tensor x = variable({-3, -0.5, 0.25, 2}, "x"), gy = tensor({1, -2, 3, 0.5});
  Tensor value = zeros({4}), slope = zeros({4});
  value = x / (1 + abs(x)), slope = 1 / square(1 + abs(x));
  Operations ran;
  const Tensor y = answer(x);
  written(y.defined(),
          "return record(\"softsign\", (x / (1 + abs(x))).value(), wrt(x, [](const Tensor& gy, const Tensor& y) { "
          "return ...; }));");
  agree(
      {.what = "y",
       .known = {{x / (1 + x), "the divisor is 1 + |x|: at x = -3 it is 4, not -2"},
                 {x / (1 + square(x)), "the divisor is 1 + |x|, not 1 + x^2"}}},
      [&](const Tensor& x) { return answer(x).detach(); }, [](const Tensor& x) { return x / (1 + abs(x)); },
      {{"x", x.detach()}});
  if (!ran.names.contains("softsign"))
    not_yet("no operation \"softsign\" was recorded: return record(\"softsign\", value, wrt(x, rule))");
  if (y.is_leaf()) not_yet("y has no rule: give record a part wrt(x, rule)");
  using T = const Tensor&;
  const auto part = [](const char* name, const auto& f) {
    return term(name, [f](T gy, T x) { return gy * f(x / (1 + abs(x))); });
  };
  agree(
      {.what = "the gradient of x",
       .meaning = "that of x",
       .known = {{slope.detach(),
                  "the gradient is dy/dx without gy: the gradient of the result arrives, and is multiplied by dy/dx"},
                 {gy * square(1 - abs(x)), "(1 - |x|)^2 has x where y belongs"},
                 {gy * square(1 - value), "1 - |y| needs the absolute value"},
                 {gy * (1 - abs(value)), "the square is missing: dy/dx = (1 - |y|)^2"},
                 {value * square(1 - abs(gy)), "gy and y have changed places: a rule takes gy first, then y"},
                 {gy * (1 - square(value)), "1 - y^2 is the derivative of tanh: here it is (1 - |y|)^2"},
                 {gy / square(1 + abs(value)), "1 / (1 + |x|)^2 has y where x belongs"}},
       .terms = {part("gy", [](T y) { return ones_like(y); }), part("gy |y|", [](T y) { return abs(y); }),
                 part("gy y^2", [](T y) { return square(y); }),
                 part("gy |y|^3", [](T y) { return square(y) * abs(y); })},
       .why = "finite differences agree with the second value"},
      [&](T gy, T x) {
        const Tensor leaf = variable(x.value(), "x");
        return grad(answer(leaf), {leaf}, {.seed = gy})[0];
      },
      [](T gy, T x) { return gy / square(1 + abs(x)); }, {{"gy", gy}, {"x", x.detach()}});
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
