// Medians and quantiles of the elements that are not NaN (statistics.h has those that let NaN through).
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"
#include "statistics.h"

namespace xgrad {

/// The median of all elements that are not NaN, of an even number the lower of the two in the middle. Equal elements
/// share the gradient evenly. Throws ValueError where there is none.
Tensor nanmedian(const Tensor& x);
/// The same along an axis, with its position; the whole gradient goes to that element. Throws ValueError, too, for an
/// axis out of range.
ValuesAndIndices nanmedian(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// quantile() of the elements that are not NaN. Throws as quantile, and ValueError where there is none.
Tensor nanquantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, double q, int axis, const QuantileAxisOptions& options = {});
/// For each of a list of shares, along a new first axis. No gradient flows to q.
Tensor nanquantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});
Tensor nanquantile(const Tensor& x, const Tensor& q, int axis, const QuantileAxisOptions& options = {});

}  // namespace xgrad
