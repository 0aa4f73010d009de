// Reductions: sums, means, extremes and the like over axes. All throw ValueError for an axis out of range or repeated.
#pragma once

#include <initializer_list>
#include <string_view>

#include "../core/tensor.h"

namespace xgrad {

/// The axes that a reduction goes over: `-1`, `{0, 2}`, or, if nothing is said, all of them. An empty `Axes{}` means
/// none: the result is then as large as the input.
class AxisSet {
 public:
  AxisSet() = default;
  AxisSet(int axis) : all_(false), axes_{axis} {}
  AxisSet(std::initializer_list<int> axes) : all_(false), axes_(axes) {}
  AxisSet(const Axes& axes) : all_(false), axes_(axes) {}

  /// The axes counted from 0, ascending. Throws ValueError.
  Axes resolve(std::string_view op, int rank) const { return all_ ? all_axes(rank) : normalize_axes(op, axes_, rank); }

 private:
  bool all_ = true;
  Axes axes_;
};

struct ReduceOptions {
  AxisSet axis{};
  bool keepdim = false;  ///< keep reduced axes, with size 1
};

/// y = sum x_i. Pairwise, so that rounding errors do not pile up; the sum of nothing is 0.      dy/dx_i = 1
Tensor sum(const Tensor& x, const ReduceOptions& options = {});

/// y = (1/n) sum x_i. Throws ValueError when n is 0.      dy/dx_i = 1/n
Tensor mean(const Tensor& x, const ReduceOptions& options = {});

struct VarOptions {
  AxisSet axis{};
  bool keepdim = false;
  Real correction = 1;  ///< 1: unbiased estimate from a sample; 0: of the numbers themselves
};

/// y = sum (x_i - mean)^2 / (n - correction), accurate also where the mean is large against the deviations.
/// Throws ValueError unless n > correction.      dy/dx_i = 2 (x_i - mean) / (n - correction)
Tensor var(const Tensor& x, const VarOptions& options = {});

/// The largest element; NaN if there is one. Equal ones share the gradient evenly. Throws ValueError when there is
/// none.
Tensor max(const Tensor& x, const ReduceOptions& options = {});
/// The smallest element; NaN if there is one. Equal ones share the gradient evenly. Throws ValueError when there is
/// none.
Tensor min(const Tensor& x, const ReduceOptions& options = {});

/// y = product of x_i; of nothing: 1.      dy/dx_i = product of the others, also where some are 0
Tensor prod(const Tensor& x, const ReduceOptions& options = {});

/// y = ln sum e^(x_i), without overflow; -inf when all are -inf, and then the gradient is 0; entries of +inf share it.
/// dy/dx_i = e^(x_i - y)
Tensor logsumexp(const Tensor& x, const ReduceOptions& options = {});

/// y_i = x_0 + ... + x_i along `axis`, added up in double.      dL/dx_i = sum of gy_j over j >= i
Tensor cumsum(const Tensor& x, int axis);

struct ArgOptions {
  int axis = -1;
  bool keepdim = false;
};
/// The position of the largest element along an axis, the first of equal ones (or of the first NaN). No gradient.
/// Throws ValueError when the axis is empty.
Index argmax(const Tensor& x, const ArgOptions& options = {});
/// The position of the smallest element, likewise.
Index argmin(const Tensor& x, const ArgOptions& options = {});

}  // namespace xgrad
