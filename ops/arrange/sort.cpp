// Sorting. The order is the kernel's (ops/kernels/order/order.cpp); values, and their gradients, are gathered by it.
#include "sort.h"

#include "../kernels/order/order.h"
#include "../private/axis.h"
#include "../private/gathered.h"
#include "index.h"
#include "shape.h"
#include "slice.h"

namespace xgrad {
namespace {

// The first `count` elements along an axis counted from 0; a scalar is in order.
Sorted taken(const Tensor& x, int axis, std::int64_t count, bool descending) {
  if (x.rank() == 0) return {x, Index(Shape{}, 0)};
  const Index indices = first_in_order(x.value(), axis, count, descending);
  return {gathered(x, axis, indices), indices};
}

std::int64_t size_of(const Tensor& x, int axis) { return x.rank() == 0 ? 1 : x.shape()[axis]; }

}  // namespace

Index argsort(const Tensor& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("argsort", options.axis, x.rank());
  return x.rank() == 0 ? Index(Shape{}, 0) : first_in_order(x.value(), axis, size_of(x, axis), options.descending);
}

Sorted sort(const Tensor& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("sort", options.axis, x.rank());
  return taken(x, axis, size_of(x, axis), options.descending);
}

Sorted topk(const Tensor& x, std::int64_t k, const TopkOptions& options) {
  const int axis = normalize_axis_or_scalar("topk", options.axis, x.rank());
  if (k < 0 || k > size_of(x, axis)) fail<ValueError>("topk", "k = ", k, " of ", size_of(x, axis));
  if (x.rank() > 0) return taken(x, axis, k, options.largest);
  if (k == 0) return {narrow(reshape(x, {1}), 0, 0, 0), Index(Shape{0})};
  return taken(x, axis, k, options.largest);
}

}  // namespace xgrad
