// Arithmetic: + - * / negation, maximum and minimum. All are elementwise, with numpy's broadcasting, and throw
// ShapeError when the shapes do not broadcast.
#pragma once

#include "../../core/graph/tensor.h"
#include "compare.h"

namespace xgrad {

/// y = a + b      dy/da = 1      dy/db = 1
Tensor add(const Tensor& a, const Tensor& b);
/// y = a - b      dy/da = 1      dy/db = -1
Tensor sub(const Tensor& a, const Tensor& b);
/// y = a b        dy/da = b      dy/db = a
Tensor mul(const Tensor& a, const Tensor& b);
/// y = a / b      dy/da = 1/b    dy/db = -a/b^2. By IEEE rules: 1/0 is inf, 0/0 is NaN.
Tensor div(const Tensor& a, const Tensor& b);
/// y = -x
Tensor neg(const Tensor& x);

/// The larger of a and b; NaN if either is NaN: then each gets the whole gradient. Where a = b, each gets half.
Tensor maximum(const Tensor& a, const Tensor& b);
/// The smaller of a and b; NaN if either is NaN: then each gets the whole gradient. Where a = b, each gets half.
Tensor minimum(const Tensor& a, const Tensor& b);

/// Operators for add, sub, mul, div and neg.
inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }

/// a += b means a = a + b: the variable a becomes a handle to the result. Other handles to the old value do not change.
inline Tensor& operator+=(Tensor& a, const Tensor& b) { return a = add(a, b); }
inline Tensor& operator-=(Tensor& a, const Tensor& b) { return a = sub(a, b); }
inline Tensor& operator*=(Tensor& a, const Tensor& b) { return a = mul(a, b); }
inline Tensor& operator/=(Tensor& a, const Tensor& b) { return a = div(a, b); }

}  // namespace xgrad
