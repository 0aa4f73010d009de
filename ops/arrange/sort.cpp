// Sorting. The order is the kernel's (ops/kernels/order/order.cpp); values, and their gradients, are gathered by it.
#include "sort.h"

#include "../kernels/order/order.h"
#include "../private/axis.h"
#include "shape.h"

namespace xgrad {
namespace {

std::int64_t size_of(const Tensor& x, int axis) { return x.rank() == 0 ? 1 : x.shape()[axis]; }

// The first `count` elements in order along an axis counted from 0.
Sorted taken(const Tensor& x, int axis, std::int64_t count, bool descending) {
  if (x.rank() == 0 && count == 1) return {x, Index(Shape{}, 0)};
  const Tensor line = x.rank() == 0 ? reshape(x, {1}) : x;
  const Index indices = first_in_order(line.value(), axis, count, descending);
  return {gathered(line, axis, indices), indices};
}

}  // namespace

Sorted sort(const Tensor& x, int axis, const SortOptions& options) {
  axis = normalize_axis_or_scalar("sort", axis, x.rank());
  return taken(x, axis, size_of(x, axis), options.descending);
}

Index argsort(const Tensor& x, int axis, const SortOptions& options) {
  axis = normalize_axis_or_scalar("argsort", axis, x.rank());
  if (x.rank() == 0) return Index(Shape{}, 0);
  return first_in_order(x.value(), axis, size_of(x, axis), options.descending);
}

Sorted topk(const Tensor& x, std::int64_t k, int axis, const TopkOptions& options) {
  axis = normalize_axis_or_scalar("topk", axis, x.rank());
  if (k < 0 || k > size_of(x, axis)) fail<ValueError>("topk", "k = ", k, " of ", size_of(x, axis));
  return taken(x, axis, k, options.largest);
}

}  // namespace xgrad
