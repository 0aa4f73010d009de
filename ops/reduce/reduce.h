// Reductions: sums, means, extremes and the like over axes. All throw ValueError for an axis out of range or repeated;
// a scalar accepts the axes 0 and -1, as in PyTorch.
//
// A mean of no elements throws ValueError everywhere: mean and var, the mean of losses, pooling windows, quantiles.
// (PyTorch gives NaN.) If all elements are left out on purpose, such as ignored targets and masked keys, the result is
// 0. Empty sums are 0, empty products 1, and extremes of no elements throw ValueError.
//
// The axes come after x, by default all of them: sum(x), sum(x, 1), sum(x, {0, -1}), sum(x, 1, {.keepdim = true}).
// If an operation takes a further number, the number comes before the axis: topk(x, k, 1), quantile(x, q, 1). Options
// are set by name: sum(x, {0, true}) does not compile.
#pragma once

#include <string_view>

#include "../../core/graph/tensor.h"

namespace xgrad {

namespace detail {

// The first member of options. Nothing converts to it, so the other members can be set only by name.
struct ByName {
  explicit ByName() = default;
};

}  // namespace detail

/// The axes that a reduction goes over: `-1`, `{0, 2}`, or by default all axes. An empty `Axes{}` means no axis: the
/// result is then as large as the input.
class AxisSet {
 public:
  AxisSet() = default;
  template <detail::AxisNumber... Numbers>
  requires(sizeof...(Numbers) > 0) AxisSet(Numbers... axes) : all_(false), axes_(axes...) {}
  AxisSet(const Axes& axes) : all_(false), axes_(axes) {}

  /// The axes counted from 0, in ascending order. For a scalar, axes 0 and -1 are valid and the result is empty. Throws
  /// ValueError for an axis out of range or repeated.
  Axes resolve(std::string_view op, int rank) const;

 private:
  bool all_ = true;
  Axes axes_;
};

struct KeepdimOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool keepdim = false;  ///< whether to keep reduced axes, with size 1
};

/// y = sum x_i, added pairwise, so that rounding errors do not accumulate. An empty sum is 0.      dy/dx_i = 1
Tensor sum(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

/// y = (1/n) sum x_i. Throws ValueError when n is 0.      dy/dx_i = 1/n
Tensor mean(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The fraction of true elements, without a gradient: mean(argmax(scores, 1) == labels) is an accuracy.
Tensor mean(const Mask& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

struct VarOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool keepdim = false;
  double correction = 1;  ///< 1: unbiased estimate from a sample; 0: variance of the elements themselves
};

/// y = sum (x_i - mean)^2 / (n - correction), accurate even if the mean is large compared with the result.
/// Throws ValueError unless n > correction.      dy/dx_i = 2 (x_i - mean) / (n - correction)
Tensor var(const Tensor& x, const AxisSet& axis = {}, const VarOptions& options = {});

/// y = the square root of var: the standard deviation (PyTorch's std, a name that C++ reserves).
/// dy/dx_i = (x_i - mean) / ((n - correction) y), 0 where y = 0. Throws as var.
Tensor stddev(const Tensor& x, const AxisSet& axis = {}, const VarOptions& options = {});

/// The results of var_mean.
struct [[nodiscard]] VarMean {
  Tensor var;
  Tensor mean;
};
/// Both var and mean. Throws as var.
VarMean var_mean(const Tensor& x, const AxisSet& axis = {}, const VarOptions& options = {});

/// The largest element (PyTorch's amax) along axes `{0, 1}` or `Axes{1}`; NaN if an element is NaN. Equal elements get
/// equal parts of the gradient. Throws ValueError if there is no element. (max(x, 1) also gives the positions.)
Tensor max(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The smallest element (PyTorch's amin), with the rules of max.
Tensor min(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

/// The result of max, min and the like along an axis: values and their positions. Gradients flow through the values.
struct [[nodiscard]] ValuesAndIndices {
  Tensor values;
  Index indices;
};
/// The largest (smallest) element along an axis and its position: the first of equal ones, or the first NaN. The whole
/// gradient goes to that element. Throws ValueError when the axis is empty.
ValuesAndIndices max(const Tensor& x, int axis, const KeepdimOptions& options = {});
ValuesAndIndices min(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// y = product of x_i; an empty product is 1.      dy/dx_i = product of the other elements, even if some are 0
Tensor prod(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

/// y = ln sum e^(x_i), without overflow.      dy/dx_i = e^(x_i - y)
/// y is -inf with gradient 0 if all elements are -inf. The gradient of an element of +inf is NaN.
Tensor logsumexp(const Tensor& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

/// The position of the largest element along an axis: the first of equal elements, or the first NaN. No gradient. A
/// scalar gives 0. Throws ValueError for an axis that is empty or out of range. (For all elements: argmax(flatten(x),
/// 0).)
Index argmax(const Tensor& x, int axis, const KeepdimOptions& options = {});
/// The position of the smallest element, with the rules of argmax.
Index argmin(const Tensor& x, int axis, const KeepdimOptions& options = {});

}  // namespace xgrad
