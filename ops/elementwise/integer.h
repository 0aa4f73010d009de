// Arithmetic on integers (Index): elementwise with numpy's broadcasting, and sums. No graph.
#pragma once

#include "../../core/array/array.h"
#include "../reduce/reduce.h"

namespace xgrad {

/// a + b and so on; / rounds towards zero and % has the sign of a, as in C++. All throw ShapeError when the shapes do
/// not broadcast, LimitError when a result does not fit 64 bits; / and % throw ValueError for a zero in b.
Index operator+(const Index& a, const Index& b);
Index operator-(const Index& a, const Index& b);
Index operator*(const Index& a, const Index& b);
Index operator/(const Index& a, const Index& b);
Index operator%(const Index& a, const Index& b);
Index operator-(const Index& x);

/// Arithmetic with one integer.
inline Index operator+(const Index& a, std::int64_t b) { return a + Index(Shape{}, b); }
inline Index operator-(const Index& a, std::int64_t b) { return a - Index(Shape{}, b); }
inline Index operator*(const Index& a, std::int64_t b) { return a * Index(Shape{}, b); }
inline Index operator/(const Index& a, std::int64_t b) { return a / Index(Shape{}, b); }
inline Index operator%(const Index& a, std::int64_t b) { return a % Index(Shape{}, b); }
inline Index operator+(std::int64_t a, const Index& b) { return Index(Shape{}, a) + b; }
inline Index operator-(std::int64_t a, const Index& b) { return Index(Shape{}, a) - b; }
inline Index operator*(std::int64_t a, const Index& b) { return Index(Shape{}, a) * b; }

/// a += b means a = a + b; other copies of a keep their elements.
template <class B>
Index& operator+=(Index& a, const B& b) {
  return a = a + b;
}
template <class B>
Index& operator-=(Index& a, const B& b) {
  return a = a - b;
}
template <class B>
Index& operator*=(Index& a, const B& b) {
  return a = a * b;
}

/// Sums over axes; an empty sum is 0. Throws ValueError for an axis out of range or repeated, LimitError when a
/// sum does not fit 64 bits.
Index sum(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The largest (smallest) element over axes. Throws as sum, and ValueError when there is no element.
Index max(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
Index min(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The number of true elements, over axes.
Index sum(const Mask& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

}  // namespace xgrad
