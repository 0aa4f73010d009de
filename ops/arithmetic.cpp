// Arithmetic with broadcasting.
#include "arithmetic.h"

#include <cmath>

#include "fused.h"

namespace xgrad {
namespace {

// The gradient of an operand that was broadcast: summed to the operand's shape.
auto pass_to(const Tensor& x) {
  return [to = InputShape(x)](const Tensor& gy) { return sum_to(gy, to); };
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("add", a.shape(), b.shape());
  return record("add",
                map(
                    shape, [](auto p, auto q) { return p + q; }, a.value(), b.value()),
                wrt(a, pass_to(a)), wrt(b, pass_to(b)));
}

Tensor sub(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("sub", a.shape(), b.shape());
  return record("sub",
                map(
                    shape, [](auto p, auto q) { return p - q; }, a.value(), b.value()),
                wrt(a, pass_to(a)), wrt(b, [to = InputShape(b)](const Tensor& gy) { return sum_to(-gy, to); }));
}

Tensor mul(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("mul", a.shape(), b.shape());
  return record("mul",
                map(
                    shape, [](auto p, auto q) { return p * q; }, a.value(), b.value()),
                wrt(a, [b = kept(b), to = InputShape(a)](const Tensor& gy) { return sum_to(gy * b, to); }),
                wrt(b, [a = kept(a), to = InputShape(b)](const Tensor& gy) { return sum_to(gy * a, to); }));
}

Tensor div(const Tensor& a, const Tensor& b) {
  return elementwise(
      "div", a, b, [](auto p, auto q) { return p / q; },  //
      [](auto, auto q, auto) { return 1 / q; },           //
      [](auto, auto q, auto y) { return -y / q; });
}

Tensor neg(const Tensor& x) {
  return record("neg", map(x.value(), [](auto v) { return -v; }), wrt(x, [](const Tensor& gy) { return -gy; }));
}

namespace {

// Powers by the C library: xsimd's have errors of many ulps and NaN or 0 at the edges.
Real power(Real base, Real exponent) { return std::pow(base, exponent); }

Array power_of(const Array& x, Real exponent) {
  if (exponent == 2) return map(x, [](auto v) { return v * v; });
  if (exponent == 1) return x;
  if (exponent == 3) return map(x, [](auto v) { return v * v * v; });
  if (exponent == -1) return map(x, [](auto v) { return 1 / v; });
  return map_elements<Real>(x.shape(), power, x, Array({}, exponent));
}

}  // namespace

Tensor pow(const Tensor& x, Real exponent) {
  return record("pow", power_of(x.value(), exponent), wrt(x, [x, exponent](const Tensor& gy) {
                  if (exponent == 0) return gy * Tensor(Array(x.shape(), Real(0)));
                  return gy * (exponent * pow(x, exponent - 1));
                }));
}

Tensor pow(const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("pow", a.shape(), b.shape());
  return record("pow", map_elements<Real>(shape, power, a.value(), b.value()),
                wrt(a,
                    [a, b](const Tensor& gy) {
                      const Tensor slope = where(b == 0, 0, b * pow(a, where(b == 0, 1, b - 1)));
                      return sum_to(gy * slope, a.shape());
                    }),
                wrt(b, [a, b](const Tensor& gy, const Tensor& y) {
                  // a^b ln a tends to 0 with a if b >= 0, else to -a^b, which is infinite and has the sign of a; the
                  // logarithm of the 0 is kept out of both branches.
                  const Tensor slope = where(a == 0, where(b >= 0, 0, -y), y * log(where(a == 0, 1, a)));
                  return sum_to(gy * slope, b.shape());
                }));
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

namespace {

template <class Compare>
Mask compare(const char* op, const Tensor& a, const Tensor& b, const Compare& holds) {
  return map_elements<bool>(broadcast_shapes(op, a.shape(), b.shape()), holds, a.value(), b.value());
}

}  // namespace

Mask operator<(const Tensor& a, const Tensor& b) {
  return compare("less", a, b, [](Real p, Real q) { return p < q; });
}
Mask operator<=(const Tensor& a, const Tensor& b) {
  return compare("less_equal", a, b, [](Real p, Real q) { return p <= q; });
}
Mask operator>(const Tensor& a, const Tensor& b) {
  return compare("greater", a, b, [](Real p, Real q) { return p > q; });
}
Mask operator>=(const Tensor& a, const Tensor& b) {
  return compare("greater_equal", a, b, [](Real p, Real q) { return p >= q; });
}
Mask operator==(const Tensor& a, const Tensor& b) {
  return compare("equal", a, b, [](Real p, Real q) { return p == q; });
}
Mask operator!=(const Tensor& a, const Tensor& b) {
  return compare("not_equal", a, b, [](Real p, Real q) { return p != q; });
}

}  // namespace xgrad
