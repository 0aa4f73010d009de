// Counting.
#include "count.h"

#include <algorithm>

#include "../creation/create.h"
#include "../elementwise/compare.h"
#include "../indexing/index.h"
#include "integer_reduce.h"

namespace xgrad {

Mask any(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options) {
  axis.resolve("any", mask.rank());
  return sum(mask, axis, options) > 0;
}
Mask all(const Mask& mask, const AxisSet& axis, const KeepdimOptions& options) {
  axis.resolve("all", mask.rank());
  return sum(!mask, axis, options) == 0;
}

namespace {

// The length of the result.
std::int64_t bins_for(const Index& x, const BincountOptions& options) {
  if (x.rank() != 1) fail<ShapeError>("bincount", "the list needs one axis, its shape is ", x.shape());
  if (options.minlength < 0) fail<ValueError>("bincount", "minlength is ", options.minlength);
  if (x.size() == 0) return options.minlength;
  const auto [least, most] = std::ranges::minmax_element(x);
  if (*least < 0) fail<ValueError>("bincount", "negative number ", *least);
  return std::max(options.minlength, Shape{*most}.numel() + 1);
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

}  // namespace xgrad
