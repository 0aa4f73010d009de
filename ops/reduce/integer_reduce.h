// Reductions of integers (Index) and of masks over axes. They record no graph.
#pragma once

#include "../../core/array/array.h"
#include "reduce.h"

namespace xgrad {

/// Sums over axes; an empty sum is 0. Throws ValueError for an axis out of range or repeated, LimitError when a sum
/// does not fit 64 bits.
Index sum(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The largest (smallest) element along the axes. Throws as sum, and ValueError if there is no element.
Index max(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
Index min(const Index& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});
/// The number of true elements along the axes.
Index sum(const Mask& x, const AxisSet& axis = {}, const KeepdimOptions& options = {});

}  // namespace xgrad
