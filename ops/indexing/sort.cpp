// Sorting. The order is the kernel's (ops/kernels/sort/sort.cpp), values and gradients are those at its positions.
#include "sort.h"

#include "../../core/base/formula.h"
#include "../kernels/sort/sort.h"
#include "axis.h"

namespace xgrad {
namespace {

std::int64_t size_of(const Tensor& x, int axis) { return with_an_axis(x.shape())[axis]; }

// The first `count` elements in order along an axis counted from 0.
template <class... Attributes>
Sorted first(const char* op, const Tensor& x, int axis, std::int64_t count, bool descending,
             const Attributes&... attributes) {
  const Shape line = with_an_axis(x.shape());
  const Index indices = first_in_order(x.value().reshaped(line), axis, count, descending);
  const Shape to = x.rank() == 0 && count == 1 ? Shape{} : indices.shape();
  return {chosen_along(op, x, line, axis, indices, to, attribute("axis", axis), attributes...), indices.reshaped(to)};
}

}  // namespace

XGRAD_FORMULA sort_formula{"sort", "y_i = x_(index_i), y_0 <= y_1 <= ...", "dL/dx_(index_i) = gy_i"};
XGRAD_FORMULA sort_descending_formula{"sort descending", "y_i = x_(index_i), y_0 >= y_1 >= ...",
                                      "dL/dx_(index_i) = gy_i"};
Sorted sort(const Tensor& x, int axis, const SortOptions& options) {
  axis = normalize_axis_or_scalar("sort", axis, x.rank());
  return first("sort", x, axis, size_of(x, axis), options.descending,
               attribute("descending", unless(false, options.descending)));
}

Index argsort(const Tensor& x, int axis, const SortOptions& options) {
  axis = normalize_axis_or_scalar("argsort", axis, x.rank());
  if (x.rank() == 0) return Index(Shape{}, 0);
  return first_in_order(x.value(), axis, size_of(x, axis), options.descending);
}

XGRAD_FORMULA topk_formula{"topk", "y_i = x_(index_i), the k most extreme", "dL/dx_(index_i) = gy_i"};
Sorted topk(const Tensor& x, std::int64_t k, int axis, const TopkOptions& options) {
  axis = normalize_axis_or_scalar("topk", axis, x.rank());
  if (k < 0 || k > size_of(x, axis)) fail<ValueError>("topk", "k = ", k, " of ", size_of(x, axis));
  return first("topk", x, axis, k, options.largest, attribute("k", k),
               attribute("largest", unless(true, options.largest)));
}

}  // namespace xgrad
