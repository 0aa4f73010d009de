// Counting.
#include "count.h"

#include <algorithm>
#include <cmath>

#include "compare.h"
#include "create.h"
#include "index.h"
#include "integer.h"

namespace xgrad {

Mask any(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("any", mask.rank());
  return sum(mask, options) > 0;
}
Mask all(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("all", mask.rank());
  return sum(!mask, options) == 0;
}

Index count_nonzero(const Tensor& x, const ReduceOptions& options) { return count_nonzero(x != 0, options); }
Index count_nonzero(const Index& x, const ReduceOptions& options) { return count_nonzero(x != 0, options); }
Index count_nonzero(const Mask& mask, const ReduceOptions& options) {
  options.axis.resolve("count_nonzero", mask.rank());
  return sum(mask, options);
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

Tensor histc(const Tensor& x, const HistcOptions& options) {
  if (options.bins < 1) fail<ValueError>("histc", "bins = ", options.bins);
  if (options.min > options.max) fail<ValueError>("histc", "min = ", options.min, " is above max = ", options.max);
  double low = static_cast<double>(options.min), high = static_cast<double>(options.max);
  const Array& values = x.value();
  if (low == high && values.size() > 0) {
    low = static_cast<double>(min(Tensor(values)).item());  // NaN if there is one
    high = static_cast<double>(max(Tensor(values)).item());
  }
  if (!std::isfinite(high - low)) fail<ValueError>("histc", "no finite interval from ", low, " to ", high);
  if (low == high) {
    low -= 1;
    high += 1;
  }
  Array counts(Shape{options.bins}, Real(0));
  Real* out = counts.mutable_data();
  const auto bins = static_cast<double>(options.bins);
  for (const Real value : values) {
    const auto v = static_cast<double>(value);
    if (!(v >= low && v <= high)) continue;
    const auto bin = static_cast<std::int64_t>((v - low) / (high - low) * bins);
    out[std::min(bin, options.bins - 1)] += 1;
  }
  return counts;
}

}  // namespace xgrad
