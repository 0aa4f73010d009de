// Reductions: sums, means, extremes and the like over axes. All throw ValueError for an axis out of range or repeated;
// of a scalar, axes 0 and -1 are its one element, as in PyTorch.
//
// The mean of nothing is refused with a ValueError, wherever one is taken: mean and var, the mean of losses, windows of
// a pool, quantiles. (PyTorch gives NaN.) What is there and was left out on purpose, ignored targets and masked keys,
// is a sum of zeros: 0. Sums of nothing are 0, products 1, and extremes of nothing are refused.
#pragma once

#include <initializer_list>
#include <string_view>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// The axes that a reduction goes over: `-1`, `{0, 2}`, or, if nothing is said, all of them. An empty `Axes{}` means
/// none: the result is then as large as the input.
class AxisSet {
 public:
  AxisSet() = default;
  AxisSet(int axis) : all_(false), axes_{axis} {}
  AxisSet(std::initializer_list<int> axes) : all_(false), axes_(axes) {}
  AxisSet(const Axes& axes) : all_(false), axes_(axes) {}

  /// The axes counted from 0, ascending. Axes 0 and -1 of a scalar are its one element, which is no axis: none are
  /// left. Throws ValueError.
  Axes resolve(std::string_view op, int rank) const;
  /// The same in the order in which they were given.
  Axes in_order(std::string_view op, int rank) const;

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

/// y = sum (x_i - mean)^2 / (n - correction), accurate also where the mean is large against the deviations, and where
/// these, squared, or sums leave the range.
/// Throws ValueError unless n > correction.      dy/dx_i = 2 (x_i - mean) / (n - correction)
Tensor var(const Tensor& x, const VarOptions& options = {});

/// y = sqrt of var: the standard deviation (PyTorch's std; that name is C++'s own).
/// dy/dx_i = (x_i - mean) / ((n - correction) y), 0 where y = 0. Throws as var.
Tensor stddev(const Tensor& x, const VarOptions& options = {});

/// What var_mean gives.
struct VarMean {
  Tensor var;
  Tensor mean;
};
/// var and mean, with these options. Throws as var.
VarMean var_mean(const Tensor& x, const VarOptions& options = {});

/// The largest element (PyTorch's amax); NaN if there is one. Equal ones share the gradient evenly. Throws ValueError
/// when there is none.
Tensor max(const Tensor& x, const ReduceOptions& options = {});
/// The smallest element (PyTorch's amin); NaN if there is one. Equal ones share the gradient evenly. Throws ValueError
/// when there is none.
Tensor min(const Tensor& x, const ReduceOptions& options = {});

/// What aminmax gives.
struct MinMax {
  Tensor min;
  Tensor max;
};
/// The smallest and the largest element. Throws as they do.
MinMax aminmax(const Tensor& x, const ReduceOptions& options = {});

/// Elements that were chosen along an axis, and where they stood; gradients flow through the values.
struct ValuesAndIndices {
  Tensor values;
  Index indices;
};
struct KeepdimOptions {
  bool keepdim = false;  ///< keep the axis, with size 1
};
/// The largest (smallest) element along an axis and its position: of equal ones the first, of NaN the first. The whole
/// gradient goes to that element. Throws ValueError when the axis is empty.
ValuesAndIndices max(const Tensor& x, int axis, const KeepdimOptions& options = {});
ValuesAndIndices min(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// The sum of the elements that are not NaN; of none 0.      dy/dx_i = 1, 0 at NaN
Tensor nansum(const Tensor& x, const ReduceOptions& options = {});
/// The mean of the elements that are not NaN. Throws ValueError where there is none.
/// dy/dx_i = 1/n, 0 at NaN, n the number of the others
Tensor nanmean(const Tensor& x, const ReduceOptions& options = {});

/// y = product of x_i; of nothing: 1.      dy/dx_i = product of the others, also where some are 0
Tensor prod(const Tensor& x, const ReduceOptions& options = {});

/// y = ln sum e^(x_i), without overflow; -inf when all are -inf, and then the gradient is 0; entries of +inf share it.
/// dy/dx_i = e^(x_i - y)
Tensor logsumexp(const Tensor& x, const ReduceOptions& options = {});

struct ArgOptions {
  int axis = -1;
  bool keepdim = false;
};
/// The position of the largest element along an axis, the first of equal ones (or of the first NaN). No gradient.
/// Of a scalar 0. Throws ValueError when the axis is empty or not there.
Index argmax(const Tensor& x, const ArgOptions& options = {});
/// The position of the smallest element, likewise.
Index argmin(const Tensor& x, const ArgOptions& options = {});

}  // namespace xgrad
