// Sorting. The order is the kernel's (ops/kernels/order/order.cpp); values, and their gradients, are gathered by it.
#include "sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "../kernels/order/order.h"
#include "../private/axis.h"
#include "../private/gathered.h"
#include "index.h"
#include "shape.h"
#include "slice.h"

namespace xgrad {
namespace {

// The first `count` elements in order along an axis counted from 0; a scalar is returned as it is.
Sorted taken(const Tensor& x, int axis, std::int64_t count, bool descending) {
  if (x.rank() == 0) return {x, Index(Shape{}, 0)};
  const Index indices = first_in_order(x.value(), axis, count, descending);
  return {gathered(x, axis, indices), indices};
}

std::int64_t size_of(const Tensor& x, int axis) { return x.rank() == 0 ? 1 : x.shape()[axis]; }

// The same for whole numbers.
SortedIndex taken(const Index& x, int axis, std::int64_t count, bool descending) {
  const Shape lanes = x.rank() == 0 ? Shape{1} : x.shape();
  Shape shape = lanes;
  shape[axis] = count;
  SortedIndex result{Index(shape), Index(shape)};
  const std::int64_t n = lanes[axis];
  std::int64_t inner = 1;
  for (int i = axis + 1; i < lanes.rank(); ++i) inner *= lanes[i];
  std::int64_t *const values = result.values.mutable_data(), *const indices = result.indices.mutable_data();
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  for (std::int64_t lane = 0; count > 0 && lane < x.size() / n; ++lane) {
    const std::int64_t outer = lane / inner, begin = lane % inner;
    const std::int64_t* const in = x.data() + outer * n * inner + begin;
    std::iota(order.begin(), order.end(), 0);
    std::ranges::partial_sort(order, order.begin() + count, [&](std::int64_t i, std::int64_t j) {
      const std::int64_t a = in[i * inner], b = in[j * inner];
      return a != b ? (descending ? a > b : a < b) : i < j;
    });
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t at = (outer * count + k) * inner + begin, i = order[static_cast<std::size_t>(k)];
      values[at] = in[i * inner];
      indices[at] = i;
    }
  }
  if (x.rank() > 0 || count == 0) return result;
  return {x, Index(Shape{}, 0)};
}

std::int64_t size_of(const Index& x, int axis) { return x.rank() == 0 ? 1 : x.shape()[axis]; }

}  // namespace

SortedIndex sort(const Index& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("sort", options.axis, x.rank());
  return taken(x, axis, size_of(x, axis), options.descending);
}

Index argsort(const Index& x, const SortOptions& options) {
  const int axis = normalize_axis_or_scalar("argsort", options.axis, x.rank());
  return taken(x, axis, size_of(x, axis), options.descending).indices;
}

SortedIndex topk(const Index& x, std::int64_t k, const TopkOptions& options) {
  const int axis = normalize_axis_or_scalar("topk", options.axis, x.rank());
  if (k < 0 || k > size_of(x, axis)) fail<ValueError>("topk", "k = ", k, " of ", size_of(x, axis));
  return taken(x, axis, k, options.largest);
}

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
