// Comparisons, which give masks; logic on masks; selection by a mask. All are elementwise, with numpy's broadcasting,
// and throw ShapeError when the shapes do not broadcast.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Comparisons give masks; no gradient flows through them.
Mask operator<(const Tensor& a, const Tensor& b);
Mask operator<=(const Tensor& a, const Tensor& b);
Mask operator>(const Tensor& a, const Tensor& b);
Mask operator>=(const Tensor& a, const Tensor& b);
/// Equality of elements. (Use same(a, b) to ask whether two handles refer to the same tensor.)
Mask operator==(const Tensor& a, const Tensor& b);
Mask operator!=(const Tensor& a, const Tensor& b);

/// Masks that are true where x is NaN, where x is inf or -inf, and where x is neither.
Mask isnan(const Tensor& x);
Mask isinf(const Tensor& x);
Mask isfinite(const Tensor& x);

struct IsCloseOptions {
  double rtol = 1e-5;      ///< allowed difference relative to |b|
  double atol = 1e-8;      ///< allowed absolute difference, added to the relative one
  bool equal_nan = false;  ///< whether NaN is close to NaN
};
/// A mask that is true where |a - b| <= atol + rtol |b|, computed in double. Equal infinities are close; other
/// infinities are not. Throws ShapeError if the shapes do not broadcast, ValueError for a tolerance that is negative or
/// NaN.
Mask isclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options = {});
/// Whether all elements are close, as in isclose.
[[nodiscard]] bool allclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options = {});

/// Logic on masks: and, or, not. Both operands are always computed.
Mask operator&&(const Mask& a, const Mask& b);
Mask operator||(const Mask& a, const Mask& b);
Mask operator!(const Mask& mask);
/// The same operators as numpy and PyTorch spell them.
inline Mask operator&(const Mask& a, const Mask& b) { return a && b; }
inline Mask operator|(const Mask& a, const Mask& b) { return a || b; }
inline Mask operator~(const Mask& mask) { return !mask; }
/// True where exactly one of two masks is true.
Mask operator^(const Mask& a, const Mask& b);
/// Masks that are true where two masks are equal, and where they differ.
Mask operator==(const Mask& a, const Mask& b);
inline Mask operator!=(const Mask& a, const Mask& b) { return a ^ b; }
/// any: whether at least one element is true. all: whether every element is true, which holds for an empty mask.
[[nodiscard]] bool any(const Mask& mask);
[[nodiscard]] bool all(const Mask& mask);

/// Comparisons of integers.
Mask operator<(const Index& a, const Index& b);
Mask operator<=(const Index& a, const Index& b);
Mask operator>(const Index& a, const Index& b);
Mask operator>=(const Index& a, const Index& b);
Mask operator==(const Index& a, const Index& b);
Mask operator!=(const Index& a, const Index& b);
/// Comparisons with one integer.
inline Mask operator<(const Index& a, std::int64_t b) { return a < Index(Shape{}, b); }
inline Mask operator<=(const Index& a, std::int64_t b) { return a <= Index(Shape{}, b); }
inline Mask operator>(const Index& a, std::int64_t b) { return a > Index(Shape{}, b); }
inline Mask operator>=(const Index& a, std::int64_t b) { return a >= Index(Shape{}, b); }
inline Mask operator==(const Index& a, std::int64_t b) { return a == Index(Shape{}, b); }
inline Mask operator!=(const Index& a, std::int64_t b) { return a != Index(Shape{}, b); }

/// y = a where the mask is true, else b; all three broadcast. The gradient goes to the chosen operand only; the other
/// gets 0 even if the gradient of y is NaN. Throws ShapeError.
Tensor where(const Mask& mask, const Tensor& a, const Tensor& b);

}  // namespace xgrad
