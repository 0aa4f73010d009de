// Results of xtensor, an independent implementation, to compare operations with. Concrete arrays only.
#pragma once

#include <xgrad/core/array/array.h>

namespace xgrad::testing::oracle {

/// 0, 1, 2, ...
Array counting(const Shape& shape);

/// Reductions over `axes` (ascending; none: over nothing, one element each), which keep their place with size 1.
Array sum(const Array& x, const Axes& axes);
Array mean(const Array& x, const Axes& axes);
Array max(const Array& x, const Axes& axes);
Array min(const Array& x, const Axes& axes);
Array prod(const Array& x, const Axes& axes);
/// Of the numbers themselves: divided by n.
Array var(const Array& x, const Axes& axes);
Array logsumexp(const Array& x, const Axes& axes);

/// x, repeated along the axes that `shape` has more of.
Array broadcast(const Array& x, const Shape& shape);

/// The sum over the last axis of a and the last but one of b, leading axes broadcast; factors have two axes or more.
Array matmul(const Array& a, const Array& b);

/// Axis i of the result is axis axes[i] of x; axes count from 0.
Array permute(const Array& x, const Axes& axes);

}  // namespace xgrad::testing::oracle
