// Medians and quantiles of the elements that are not NaN (those that propagate NaN are in statistics.h).
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"
#include "statistics.h"

namespace xgrad {

/// The median of all elements that are not NaN, for an even number of them the lower of the two in the middle. Equal
/// elements share the gradient evenly. Throws ValueError where there is none.
Tensor nanmedian(const Tensor& x);
/// The same along an axis, with its position; the whole gradient goes to that element. Throws ValueError, too, for an
/// axis out of range.
ValuesAndIndices nanmedian(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// quantile() of the elements that are not NaN. Throws as quantile, and ValueError where there is none.
Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, double q, int axis, const QuantileAxisOptions& options = {});
/// The quantile for each of a list of shares, along a new first axis. No gradient flows to q.
Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const Tensor& q, int axis, const QuantileAxisOptions& options = {});

}  // namespace xgrad
