// Arithmetic on integers (Index), elementwise with numpy's broadcasting. It records no graph.
#pragma once

#include "../../core/array/array.h"

namespace xgrad {

/// Elementwise arithmetic. / rounds towards zero, and % has the sign of a, as in C++. All throw ShapeError when the
/// shapes do not broadcast, and LimitError when a result does not fit 64 bits; / and % throw ValueError for a zero in
/// b.
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

}  // namespace xgrad
