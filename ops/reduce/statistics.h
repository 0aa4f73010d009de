// Order statistics: medians, quantiles, the k-th smallest element. NaN counts as larger than every number, unless a
// comment says otherwise. All throw ValueError for an axis out of range, and if there are no elements. A scalar accepts
// the axes 0 and -1, as in PyTorch. Gradients flow to the chosen elements.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// The median of all elements; for an even number of elements, the lower of the two in the middle. NaN if an element is
/// NaN. The gradient is spread evenly over equal elements.
Tensor median(const Tensor& x);
/// The median along an axis and its position. The whole gradient goes to the element at that position.
ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// The k-th smallest element along an axis, from k = 1, and its position. Throws ValueError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, int axis = -1, const KeepdimOptions& options = {});

/// The value below which a fraction q of the elements lies: the sorted element number q (n - 1), counted from 0. If q
/// (n - 1) has a fraction t, the quantile is a + t (b - a) with the sorted elements a and b on both sides. NaN if an
/// element is NaN. Without an axis it is the quantile of all elements. Throws ValueError unless 0 <= q <= 1.
Tensor quantile(const Tensor& x, double q, std::optional<int> axis = {}, const KeepdimOptions& options = {});

}  // namespace xgrad
