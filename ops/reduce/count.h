// Counting true elements, numbers that are not 0, equal numbers, numbers in intervals. No gradients, except to weights.
// Axes as for reductions: ValueError for one out of range or repeated.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// Whether at least one element is true, over axes; false if there are none. (Of all elements: any(mask), in
/// ops/elementwise/compare.h.)
Mask any(const Mask& mask, const ReduceOptions& options);
Mask any(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options = {});
/// Whether all elements are true, over axes; true if there are none.
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
  std::int64_t minlength = 0;  ///< the least length of the result
};
/// y_i = how often i occurs in the list x; max(x) + 1 numbers, or more. Throws ShapeError unless x has one axis,
/// ValueError for a negative number in it or a negative minlength, LimitError for a number too large for the memory.
Index bincount(const Index& x, const BincountOptions& options = {});
/// y_i = sum of weights_j with x_j = i.      dL/dweights_j = gy_(x_j). Throws ShapeError, too, unless the weights have
/// the shape of x.
Tensor bincount(const Index& x, const Tensor& weights, const BincountOptions& options = {});

struct HistcOptions {
  std::int64_t bins = 100;
  double min = 0;  ///< equal: from the smallest element to the largest
  double max = 0;
};
/// How many elements lie in each of `bins` equal intervals from min to max; the last one includes max. Elements
/// outside and NaN are not counted. If all elements are equal, the intervals go from 1 below them to 1 above. Throws
/// ValueError for bins < 1, min > max, and ends that are not finite.
Tensor histc(const Tensor& x, const HistcOptions& options = {});

/// The counts and edges of a histogram.
struct Histogram {
  Tensor hist;       ///< for each bin the number of elements, or their total weight
  Tensor bin_edges;  ///< the starts of the bins, and the end of the last one
};
struct HistogramOptions {
  Tensor weight = {};    ///< of each element, of x's shape; undefined: 1
  bool density = false;  ///< divided by the total weight and the widths of the bins: an integral of 1
  double min = 0;        ///< of equal bins; as in histc
  double max = 0;
};
/// histc with the edges of its bins, and weights: gradients flow to these. Throws as histc, and ShapeError unless the
/// weights have the shape of x, ValueError for a density of total weight 0.
Histogram histogram(const Tensor& x, std::int64_t bins, const HistogramOptions& options = {});
/// The same with bins between these edges, an ascending list of two or more; an element on an edge belongs to the bin
/// behind it, on the last edge to the one before. Throws likewise; `min` and `max` are ignored.
Histogram histogram(const Tensor& x, const Tensor& bin_edges, const HistogramOptions& options = {});

}  // namespace xgrad
