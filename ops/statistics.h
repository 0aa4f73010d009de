// Statistics by order: medians, quantiles, the k-th smallest, the most frequent. NaN counts as larger than every
// number, unless another thing is said. All throw ValueError for an axis out of range and where there is nothing to
// choose from; of a scalar, axes 0 and -1 are its one element, as in PyTorch. Gradients flow to the elements that were
// chosen.
#pragma once

#include <optional>

#include "../core/tensor.h"
#include "reduce.h"

namespace xgrad {

/// The median of all elements, of an even number the lower of the two in the middle; NaN if there is one. Equal
/// elements share the gradient evenly.
Tensor median(const Tensor& x);
/// The same along an axis, with its position. The whole gradient goes to that element.
ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// The k-th smallest element along an axis, k from 1, and its position. Throws ValueError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, const ArgOptions& options = {});

/// The most frequent element along an axis, the smallest of equally frequent ones, and the last position where it
/// stands.
ValuesAndIndices mode(const Tensor& x, const ArgOptions& options = {});

/// What quantile does where the place q (n - 1) lies between two elements a and b, a share t of the way.
enum class QuantileInterpolation {
  linear,    ///< a + t (b - a)
  lower,     ///< a
  higher,    ///< b
  midpoint,  ///< (a + b) / 2
  nearest    ///< the nearer one; in the middle that at the even place
};
struct QuantileOptions {
  std::optional<int> axis = {};  ///< of all elements, if nothing is said
  bool keepdim = false;
  QuantileInterpolation interpolation = QuantileInterpolation::linear;
};
/// The number below which a share q of the elements lies: that at place q (n - 1) of the sorted ones, counted from 0;
/// NaN if there is one. Throws ValueError unless 0 <= q <= 1.
Tensor quantile(const Tensor& x, double q, const QuantileOptions& options = {});
/// For each of a list of shares, along a new first axis; q (n - 1) is rounded to the precision of the list, as in
/// PyTorch. No gradient flows to q. Throws ShapeError, too, unless q has one axis.
Tensor quantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});

}  // namespace xgrad
