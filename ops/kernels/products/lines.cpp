// Lines along several axes.
#include "lines.h"

#include <algorithm>

#include "../../../core/base/assert.h"
#include "../registers/copy.h"
#include "../registers/rows.h"

namespace xgrad {
namespace {

// Sizes or strides in the order of the axes.
template <class List>
List permuted(const List& given, const Axes& order) {
  List result = given;
  for (int i = 0; i < order.size(); ++i) result[i] = given[order[i]];
  return result;
}

}  // namespace

Lines lines_of(const Array& x, const Axes& axes) {
  XGRAD_ASSERT(std::ranges::is_sorted(axes));
  const Shape& shape = x.shape();
  Lines lines{.numbers = x};
  bool side_by_side = true;
  for (int i = 1; i < axes.size(); ++i) side_by_side = side_by_side && axes[i] == axes[i - 1] + 1;
  std::int64_t behind = 1;
  for (int i = axes.empty() ? shape.rank() : axes[axes.size() - 1] + 1; i < shape.rank(); ++i) behind *= shape[i];
  for (const int axis : axes) lines.count *= shape[axis];
  if (!side_by_side || (behind > 1 && behind < pack_width && lines.count > 1)) {
    for (int i = 0; i < shape.rank(); ++i) {
      if (std::ranges::find(axes, i) == axes.end()) lines.order.push_back(i);
    }
    for (const int axis : axes) lines.order.push_back(axis);
    lines.numbers = copy_part(x, {.sizes = permuted(shape, lines.order), .strides = permuted(strides_of(shape), lines.order)});
    behind = 1;
  }
  lines.inner = behind;
  for (int i = 0; i < shape.rank(); ++i) {
    const bool is_outer = lines.order.empty() ? axes.empty() || i < axes[0] : std::ranges::find(axes, i) == axes.end();
    if (is_outer) lines.outer *= shape[i];
  }
  return lines;
}

Array out_of_lines(const Array& numbers, const Lines& lines, const Shape& shape) {
  if (lines.order.empty()) return numbers.reshaped(shape);
  Strides strides = strides_of(shape);
  const Strides in_order = strides_of(permuted(shape, lines.order));
  for (int i = 0; i < lines.order.size(); ++i) strides[lines.order[i]] = in_order[i];
  return copy_part(numbers, {.sizes = shape, .strides = strides});
}

}  // namespace xgrad
