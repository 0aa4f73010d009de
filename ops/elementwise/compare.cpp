// Comparisons, logic on masks, and selection by a mask.
#include "compare.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../kernels/registers/loops.h"
#include "../shape/broadcast.h"

namespace xgrad {
namespace {

template <class T, class F>
Mask compare(const char* op, const BasicArray<T>& a, const BasicArray<T>& b, const F& holds) {
  return map_elements<bool>({broadcast_shapes(op, a.shape(), b.shape()), {op}}, holds, a, b);
}

Mask compare(const char* op, const Tensor& a, const Tensor& b, const auto& holds) {
  return compare(op, a.value(), b.value(), holds);
}

Mask where_each(const char* op, const Tensor& x, const auto& holds) {
  return map_elements<bool>({x.shape(), {op}}, holds, x.value());
}

Mask close(const char* op, const Tensor& a, const Tensor& b, const IsCloseOptions& options) {
  const double rtol = options.rtol, atol = options.atol;
  if (!(rtol >= 0 && atol >= 0)) fail<ValueError>(op, "a tolerance is negative or NaN: rtol ", rtol, ", atol ", atol);
  const bool equal_nan = options.equal_nan;
  return compare(op, a, b, [rtol, atol, equal_nan](Real p, Real q) {
    const double distance = std::abs(static_cast<double>(p) - static_cast<double>(q));
    const bool near = std::isfinite(distance) && distance <= atol + rtol * std::abs(static_cast<double>(q));
    return near || p == q || (equal_nan && std::isnan(p) && std::isnan(q));
  });
}

}  // namespace

Mask operator<(const Tensor& a, const Tensor& b) { return compare("less", a, b, std::less()); }
Mask operator<=(const Tensor& a, const Tensor& b) { return compare("less_equal", a, b, std::less_equal()); }
Mask operator>(const Tensor& a, const Tensor& b) { return compare("greater", a, b, std::greater()); }
Mask operator>=(const Tensor& a, const Tensor& b) { return compare("greater_equal", a, b, std::greater_equal()); }
Mask operator==(const Tensor& a, const Tensor& b) { return compare("equal", a, b, std::equal_to()); }
Mask operator!=(const Tensor& a, const Tensor& b) { return compare("not_equal", a, b, std::not_equal_to()); }

Mask isnan(const Tensor& x) {
  return where_each("isnan", x, [](Real v) { return v != v; });
}
Mask isinf(const Tensor& x) {
  return where_each("isinf", x, [](Real v) { return std::abs(v) == std::numeric_limits<Real>::infinity(); });
}
Mask isfinite(const Tensor& x) {
  return where_each("isfinite", x, [](Real v) { return std::abs(v) <= std::numeric_limits<Real>::max(); });
}

Mask isclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options) {
  return close("isclose", a, b, options);
}
bool allclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options) {
  return all(close("allclose", a, b, options));
}

Mask operator&&(const Mask& a, const Mask& b) { return compare("logical_and", a, b, std::bit_and()); }
Mask operator||(const Mask& a, const Mask& b) { return compare("logical_or", a, b, std::bit_or()); }
Mask operator!(const Mask& mask) {
  return map_elements<bool>({mask.shape(), {"logical_not"}}, std::logical_not(), mask);
}
Mask operator^(const Mask& a, const Mask& b) { return compare("logical_xor", a, b, std::not_equal_to()); }
Mask operator==(const Mask& a, const Mask& b) { return compare("equal", a, b, std::equal_to()); }
bool any(const Mask& mask) { return std::ranges::find(mask, true) != mask.end(); }
bool all(const Mask& mask) { return std::ranges::find(mask, false) == mask.end(); }

Mask operator<(const Index& a, const Index& b) { return compare("less", a, b, std::less()); }
Mask operator<=(const Index& a, const Index& b) { return compare("less_equal", a, b, std::less_equal()); }
Mask operator>(const Index& a, const Index& b) { return compare("greater", a, b, std::greater()); }
Mask operator>=(const Index& a, const Index& b) { return compare("greater_equal", a, b, std::greater_equal()); }
Mask operator==(const Index& a, const Index& b) { return compare("equal", a, b, std::equal_to()); }
Mask operator!=(const Index& a, const Index& b) { return compare("not_equal", a, b, std::not_equal_to()); }

XGRAD_FORMULA where_formula{"where", "y = a where the mask is true, else b",
                            "dL/da = gy where it is true, else 0; dL/db = 0 where it is true, else gy"};
Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  const Shape shape = broadcast_shapes("where", {{"mask", mask.shape()}, {"a", a.shape()}, {"b", b.shape()}});
  const auto choose = [](bool m, Real p, Real q) { return m ? p : q; };
  return record("where", map_elements<Real>({shape, {"where"}}, choose, mask, a.value(), b.value()),
                wrt(a, [mask](const Tensor& gy, InputShape to) { return sum_to(where(mask, gy, 0), to); }),
                wrt(b, [mask](const Tensor& gy, InputShape to) { return sum_to(where(mask, 0, gy), to); }),
                attribute("mask", mask));
}

}  // namespace xgrad
