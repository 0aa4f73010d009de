// Comparisons, which give masks; logic on masks; and the choice between two by a mask. All elementwise, with numpy's
// broadcasting; all throw ShapeError when the shapes do not broadcast.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Comparisons give masks; no gradient flows through them.
Mask operator<(const Tensor& a, const Tensor& b);
Mask operator<=(const Tensor& a, const Tensor& b);
Mask operator>(const Tensor& a, const Tensor& b);
Mask operator>=(const Tensor& a, const Tensor& b);
/// Elementwise, as the other comparisons. (Whether two handles mean the same tensor is same(a, b).)
Mask operator==(const Tensor& a, const Tensor& b);
Mask operator!=(const Tensor& a, const Tensor& b);

/// Where x is no number; where it is inf or -inf; where it is neither.
Mask isnan(const Tensor& x);
Mask isinf(const Tensor& x);
Mask isfinite(const Tensor& x);

struct IsCloseOptions {
  double rtol = 1e-5;      ///< how far a may be from b, as a share of |b|
  double atol = 1e-8;      ///< and besides
  bool equal_nan = false;  ///< NaN is close to NaN
};
/// Where |a - b| <= atol + rtol |b|, computed in double; equal infinities are close, others far. With broadcasting.
/// Throws ShapeError, ValueError for a tolerance that is negative or NaN.
Mask isclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options = {});
/// Whether that is so everywhere.
bool allclose(const Tensor& a, const Tensor& b, const IsCloseOptions& options = {});

/// Logic on masks.
Mask operator&&(const Mask& a, const Mask& b);
Mask operator||(const Mask& a, const Mask& b);
Mask operator!(const Mask& mask);
/// Whether at least one element is true; whether all are (of none, they are).
bool any(const Mask& mask);
bool all(const Mask& mask);

/// Comparisons of whole numbers.
Mask operator<(const Index& a, const Index& b);
Mask operator<=(const Index& a, const Index& b);
Mask operator>(const Index& a, const Index& b);
Mask operator>=(const Index& a, const Index& b);
Mask operator==(const Index& a, const Index& b);
Mask operator!=(const Index& a, const Index& b);
/// The same with one number.
Mask operator<(const Index& a, std::int64_t b);
Mask operator<=(const Index& a, std::int64_t b);
Mask operator>(const Index& a, std::int64_t b);
Mask operator>=(const Index& a, std::int64_t b);
Mask operator==(const Index& a, std::int64_t b);
Mask operator!=(const Index& a, std::int64_t b);

/// y = a where the mask is true, else b; all three broadcast. The gradient goes to the chosen one only: what was not
/// chosen gets 0 even if the upstream gradient is NaN. Throws ShapeError.
Tensor where(const Mask& mask, const Tensor& a, const Tensor& b);

}  // namespace xgrad
