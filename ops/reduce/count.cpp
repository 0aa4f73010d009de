// Counting.
#include "count.h"

#include <algorithm>
#include <cmath>

#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../arrange/integer.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"

namespace xgrad {

Mask any(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("any", mask.rank());
  return sum(mask, options) > 0;
}
Mask all(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("all", mask.rank());
  return sum(!mask, options) == 0;
}
Mask any(const Mask& mask, const AxisSet& axes, const KeepdimOptions& options) {
  return any(mask, {.axis = axes, .keepdim = options.keepdim});
}
Mask all(const Mask& mask, const AxisSet& axes, const KeepdimOptions& options) {
  return all(mask, {.axis = axes, .keepdim = options.keepdim});
}

Index count_nonzero(const Tensor& x, const ReduceOptions& options) { return count_nonzero(x != 0, options); }
Index count_nonzero(const Index& x, const ReduceOptions& options) { return count_nonzero(x != 0, options); }
Index count_nonzero(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("count_nonzero", mask.rank());
  return sum(mask, options);
}
Index count_nonzero(const Tensor& x, const AxisSet& axes, const KeepdimOptions& options) {
  return count_nonzero(x != 0, axes, options);
}
Index count_nonzero(const Index& x, const AxisSet& axes, const KeepdimOptions& options) {
  return count_nonzero(x != 0, axes, options);
}
Index count_nonzero(const Mask& mask, const AxisSet& axes, const KeepdimOptions& options) {
  return count_nonzero(mask, {.axis = axes, .keepdim = options.keepdim});
}

namespace {

// The length of the result.
std::int64_t bins_for(const Index& x, const BincountOptions& options) {
  if (x.rank() != 1) fail<ShapeError>("bincount", "the list needs one axis, its shape is ", x.shape());
  if (options.minlength < 0) fail<ValueError>("bincount", "minlength is ", options.minlength);
  if (x.size() == 0) return options.minlength;
  const auto [least, most] = std::ranges::minmax(x);
  if (least < 0) fail<ValueError>("bincount", "negative number ", least);
  return std::max(options.minlength, Shape{most}.numel() + 1);
}

}  // namespace

Index bincount(const Index& x, const BincountOptions& options) {
  Index counts(Shape{bins_for(x, options)}, 0);
  std::int64_t* out = counts.mutable_data();
  for (const std::int64_t i : x) ++out[i];
  return counts;
}

Tensor bincount(const Index& x, const Tensor& weights, const BincountOptions& options) {
  const std::int64_t bins = bins_for(x, options);
  if (weights.shape() != x.shape()) {
    fail<ShapeError>("bincount", "weights of shape ", weights.shape(), " for a list of shape ", x.shape());
  }
  return scatter_add(zeros({bins}), 0, x, weights);
}

namespace {

// A setting rounded to the precision of the numbers that it is compared with. Not inlined: g++ 12 drops the rounding
// where it puts two settings in one register.
[[gnu::noinline]] double as_real(double setting) { return static_cast<double>(static_cast<Real>(setting)); }

// Bins of equal width from `low` to `high`, and the bin of each number, -1 outside.
struct EqualBins {
  double low, high;
  std::int64_t count;

  EqualBins(const char* op, const Tensor& x, std::int64_t bins, double min_given, double max_given)
      : low(as_real(min_given)), high(as_real(max_given)), count(bins) {
    if (bins < 1) fail<ValueError>(op, "bins = ", bins);
    if (min_given > max_given) fail<ValueError>(op, "min = ", min_given, " is above max = ", max_given);
    const Array& values = x.value();
    if (low == high && values.size() > 0) {
      low = static_cast<double>(min(Tensor(values)).item());  // NaN if there is one
      high = static_cast<double>(max(Tensor(values)).item());
    }
    if (!std::isfinite(high - low)) fail<ValueError>(op, "no finite interval from ", low, " to ", high);
    if (low == high) {
      low -= 1;
      high += 1;
    }
  }

  std::int64_t of(Real value) const {
    const auto v = static_cast<double>(value);
    if (!(v >= low && v <= high)) return -1;
    const auto bin = static_cast<std::int64_t>((v - low) / (high - low) * static_cast<double>(count));
    return std::min(bin, count - 1);
  }
};

// The histogram of elements that lie in the given bins, -1 in none.
Histogram histogram_of(const Tensor& x, const Index& bins, const Tensor& edges, const HistogramOptions& options) {
  const std::int64_t count = edges.size() - 1;
  const Tensor& weight = options.weight;
  if (weight.defined() && weight.shape() != x.shape()) {
    fail<ShapeError>("histogram", "weights of shape ", weight.shape(), " for elements of shape ", x.shape());
  }
  Tensor hist;
  if (weight.defined()) {
    const Index inside = flatnonzero(bins >= 0);
    hist = scatter_add(zeros({count}), 0, index_select(bins, 0, inside),
                       index_select(reshape(weight, {x.size()}), 0, inside));
  } else {
    Index counts(Shape{count}, 0);
    std::int64_t* out = counts.mutable_data();
    for (const std::int64_t bin : bins) {
      if (bin >= 0) ++out[bin];
    }
    hist = to_real(counts);
  }
  if (options.density) {
    const Tensor total = sum(hist);
    if (!(total.item() != 0)) fail<ValueError>("histogram", "no density for a total weight of ", total.item());
    const Tensor widths = narrow(edges, 0, 1, count) - narrow(edges, 0, 0, count);
    hist = hist / total / widths;
  }
  return {hist, edges};
}

}  // namespace

Tensor histc(const Tensor& x, const HistcOptions& options) {
  const EqualBins bins("histc", x, options.bins, options.min, options.max);
  Index counts(Shape{options.bins}, 0);
  std::int64_t* out = counts.mutable_data();
  for (const Real value : x.value()) {
    if (const std::int64_t bin = bins.of(value); bin >= 0) ++out[bin];
  }
  return to_real(counts);
}

Histogram histogram(const Tensor& x, std::int64_t bins, const HistogramOptions& options) {
  const EqualBins equal("histogram", x, bins, options.min, options.max);
  Array edges(Shape{bins + 1});
  for (std::int64_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    edges.mutable_data()[i] = static_cast<Real>(equal.low + (equal.high - equal.low) * share);
  }
  Index places(Shape{x.size()});
  std::ranges::transform(x.value(), places.mutable_data(), [&](Real v) { return equal.of(v); });
  return histogram_of(x, places, edges, options);
}

Histogram histogram(const Tensor& x, const Tensor& bin_edges, const HistogramOptions& options) {
  if (bin_edges.rank() != 1 || bin_edges.size() < 2) {
    fail<ShapeError>("histogram", "needs a list of two edges or more, got ", bin_edges.shape());
  }
  const Array edges = bin_edges.value();
  const Real *begin = edges.begin(), *end = edges.end();
  for (const Real* edge = begin + 1; edge != end; ++edge) {
    if (!(edge[-1] <= *edge)) fail<ValueError>("histogram", "edge ", *edge, " after ", edge[-1]);
  }
  Index places(Shape{x.size()});
  std::ranges::transform(x.value(), places.mutable_data(), [&](Real v) -> std::int64_t {
    if (!(v >= *begin && v <= end[-1])) return -1;
    return std::min(std::upper_bound(begin, end, v) - begin, end - begin - 1) - 1;
  });
  return histogram_of(x, places, edges, options);
}

}  // namespace xgrad
