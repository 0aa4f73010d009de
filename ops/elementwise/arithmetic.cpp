// Arithmetic with broadcasting.
#include "arithmetic.h"

#include "../../core/base/formula.h"
#include "compare.h"
#include "lambda.h"

namespace xgrad {

using detail::Engine;

namespace {

// The gradient of an operand that was broadcast: summed to the operand's shape.
Tensor pass_to(const Tensor& gy, InputShape operand) { return sum_to(gy, operand); }

// The rule of a factor.
struct TimesOther {
  Tensor other;

  Tensor operator()(const Tensor& gy, InputShape to) const { return sum_to(gy * other, to); }
};

}  // namespace

XGRAD_FORMULA add_formula{"add", "y = a + b", "dy/da = 1; dy/db = 1", OperationKind::symmetric};
Tensor add(const Tensor& a, const Tensor& b) {
  const Array &x = Engine::value(a), &z = Engine::value(b);
  return record("add",
                map(
                    broadcast_shapes("add", x.shape(), z.shape()), [](auto p, auto q) { return p + q; }, x, z),
                wrt(a, pass_to), wrt(b, pass_to));
}

XGRAD_FORMULA sub_formula{"sub", "y = a - b", "dy/da = 1; dy/db = -1"};
Tensor sub(const Tensor& a, const Tensor& b) {
  const Array &x = Engine::value(a), &z = Engine::value(b);
  return record("sub",
                map(
                    broadcast_shapes("sub", x.shape(), z.shape()), [](auto p, auto q) { return p - q; }, x, z),
                wrt(a, pass_to), wrt(b, [](const Tensor& gy, InputShape to) { return sum_to(-gy, to); }));
}

XGRAD_FORMULA mul_formula{"mul", "y = a b", "dy/da = b; dy/db = a", OperationKind::symmetric};
Tensor mul(const Tensor& a, const Tensor& b) {
  const Array &x = Engine::value(a), &z = Engine::value(b);
  const Shape shape = broadcast_shapes("mul", x.shape(), z.shape(), "; the matrix product is matmul(a, b)");
  return record("mul",
                map(
                    shape, [](auto p, auto q) { return p * q; }, x, z),
                wrt(a, TimesOther{saved(b)}), wrt(b, TimesOther{saved(a)}));
}

Tensor div(const Tensor& a, const Tensor& b) {
  return elementwise(
      "div", a, b, [](auto p, auto q) { return p / q; },  //
      [](auto, auto q, auto) { return 1 / q; },           //
      [](auto, auto q, auto y) { return -y / q; });
}

XGRAD_FORMULA neg_formula{"neg", "y = -x", "dy/dx = -1"};
Tensor neg(const Tensor& x) {
  return record("neg", map(Engine::value(x), [](auto v) { return -v; }), wrt(x, [](const Tensor& gy) { return -gy; }));
}

Tensor maximum(const Tensor& a, const Tensor& b) {
  return elementwise(
      "maximum", a, b, [](auto p, auto q) { return maximum(p, q); },
      [](auto p, auto q, auto) { return where(p < q, 0, where(p == q, 0.5, 1)); },
      [](auto p, auto q, auto) { return where(q < p, 0, where(p == q, 0.5, 1)); });
}

Tensor minimum(const Tensor& a, const Tensor& b) {
  return elementwise(
      "minimum", a, b, [](auto p, auto q) { return minimum(p, q); },
      [](auto p, auto q, auto) { return where(p > q, 0, where(p == q, 0.5, 1)); },
      [](auto p, auto q, auto) { return where(q > p, 0, where(p == q, 0.5, 1)); });
}

}  // namespace xgrad
