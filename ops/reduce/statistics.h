// Order statistics: medians, quantiles, the k-th smallest. NaN counts as larger than every number,
// unless stated otherwise. All throw ValueError for an axis out of range and where there is nothing to choose from; a
// scalar has axes 0 and -1 with its one element, as in PyTorch. Gradients flow to the elements that were chosen.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// The median of all elements, for an even number of them the lower of the two in the middle; NaN if there is one.
/// The gradient is spread evenly over equal elements.
Tensor median(const Tensor& x);
/// The median along an axis, and its position. The whole gradient goes to that element.
ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// The k-th smallest element along an axis, k from 1, and its position. Throws ValueError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, int axis = -1, const KeepdimOptions& options = {});

/// The value below which a fraction q of the elements lies: the element at position q (n - 1) in sorted order, from 0,
/// or a + t (b - a) a fraction t of the way from one element to the next; NaN if there is one. Of all elements if no
/// axis is given. Throws ValueError unless 0 <= q <= 1.
Tensor quantile(const Tensor& x, double q, std::optional<int> axis = {}, const KeepdimOptions& options = {});

}  // namespace xgrad
