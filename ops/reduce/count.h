// How many: of true elements, of numbers that are not 0, of equal numbers, of numbers in intervals. No gradients, but
// for weights. Axes as for reductions: ValueError for one out of range or repeated.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// Whether at least one element is true, over axes; of none, false. (Of all elements: any(mask), in
/// ops/elementwise/compare.h.)
Mask any(const Mask& mask, const ReduceOptions& options);
Mask any(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});
/// Whether all elements are true, over axes; of none, true.
Mask all(const Mask& mask, const ReduceOptions& options);
Mask all(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});
/// The number of elements that are not 0 (NaN is not), or true, over axes.
Index count_nonzero(const Tensor& x, const ReduceOptions& options = {});
Index count_nonzero(const Index& x, const ReduceOptions& options = {});
Index count_nonzero(const Mask& mask, const ReduceOptions& options = {});
Index count_nonzero(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options = {});
Index count_nonzero(const Index& x, const AxisSet& axis, const KeepdimOptions& options = {});
Index count_nonzero(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});

struct BincountOptions {
  std::int64_t minlength = 0;  ///< the result has at least so many numbers
};
/// y_i = how often i stands in the list x; max(x) + 1 numbers, or more. Throws ShapeError unless x has one axis,
/// ValueError for a negative number in it or a negative minlength, LimitError for a number whose count has no memory.
Index bincount(const Index& x, const BincountOptions& options = {});
/// y_i = sum of weights_j with x_j = i.      dL/dweights_j = gy_(x_j). Throws ShapeError, too, unless the weights have
/// the shape of x.
Tensor bincount(const Index& x, const Tensor& weights, const BincountOptions& options = {});

struct HistcOptions {
  std::int64_t bins = 100;
  double min = 0;  ///< equal: from the smallest element to the largest
  double max = 0;
};
/// How many elements lie in each of `bins` equal intervals from min to max; the last one has max, too. What lies
/// outside and NaN are not counted. If all elements are equal, the intervals go from 1 below them to 1 above. Throws
/// ValueError for bins < 1, min > max, and ends that are not finite.
Tensor histc(const Tensor& x, const HistcOptions& options = {});

/// What histogram gives.
struct Histogram {
  Tensor hist;       ///< for each bin how many elements, or what they weigh
  Tensor bin_edges;  ///< where the bins begin, and the last one ends
};
struct HistogramOptions {
  Tensor weight = {};    ///< of each element, of x's shape; undefined: 1
  bool density = false;  ///< divided by the total weight and the widths of the bins: an integral of 1
  double min = 0;        ///< of equal bins; as in histc
  double max = 0;
};
/// histc with the edges of its bins, and weights: gradients flow to them. Throws as histc, and ShapeError unless the
/// weights have the shape of x, ValueError for the density of nothing.
Histogram histogram(const Tensor& x, std::int64_t bins, const HistogramOptions& options = {});
/// The same with bins between these edges, an ascending list of two or more; an element on an edge belongs to the bin
/// behind it, on the last edge to the one before. Throws likewise; `min` and `max` count for nothing.
Histogram histogram(const Tensor& x, const Tensor& bin_edges, const HistogramOptions& options = {});

}  // namespace xgrad
