// Sorting. The order is the kernel's (ops/kernels/order/order.cpp); values, and their gradients, are gathered by it.
#include "sort.h"

#include <type_traits>

#include "../kernels/order/order.h"
#include "../private/axis.h"
#include "../private/gathered.h"
#include "shape.h"

namespace xgrad {
namespace {

const Array& values_of(const Tensor& x) { return x.value(); }
const Index& values_of(const Index& x) { return x; }

template <class X>
std::int64_t size_of(const X& x, int axis) {
  return x.rank() == 0 ? 1 : x.shape()[axis];
}

// The first `count` elements in order along an axis counted from 0, a Tensor's or an Index's.
template <class X>
auto taken(const X& x, int axis, std::int64_t count, bool descending) {
  using Result = std::conditional_t<std::is_same_v<X, Tensor>, Sorted, SortedIndex>;
  if (x.rank() == 0 && count == 1) return Result{x, Index(Shape{}, 0)};
  const X line = x.rank() == 0 ? reshape(x, {1}) : x;
  const Index indices = first_in_order(values_of(line), axis, count, descending);
  return Result{gathered(line, axis, indices), indices};
}

template <class X>
auto sorted(const X& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("sort", options.axis, x.rank());
  return taken(x, axis, size_of(x, axis), options.descending);
}

template <class X>
Index order_of(const X& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("argsort", options.axis, x.rank());
  if (x.rank() == 0) return Index(Shape{}, 0);
  return first_in_order(values_of(x), axis, size_of(x, axis), options.descending);
}

template <class X>
auto top_of(const X& x, std::int64_t k, const TopkOptions& options) {
  const int axis = normalize_axis_or_scalar("topk", options.axis, x.rank());
  if (k < 0 || k > size_of(x, axis)) fail<ValueError>("topk", "k = ", k, " of ", size_of(x, axis));
  return taken(x, axis, k, options.largest);
}

}  // namespace

Sorted sort(const Tensor& x, const SortOptions& options) { return sorted(x, options); }
SortedIndex sort(const Index& x, const SortOptions& options) { return sorted(x, options); }

Index argsort(const Tensor& x, const SortOptions& options) { return order_of(x, options); }
Index argsort(const Index& x, const SortOptions& options) { return order_of(x, options); }

Sorted topk(const Tensor& x, std::int64_t k, const TopkOptions& options) { return top_of(x, k, options); }
SortedIndex topk(const Index& x, std::int64_t k, const TopkOptions& options) { return top_of(x, k, options); }

}  // namespace xgrad
