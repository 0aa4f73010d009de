// xtensor's reducers go element by element in one chain of additions; these loops are several times faster and, being
// pairwise, more accurate.
#include "reduce.h"

#include <algorithm>

#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "../registers/loops.h"
#include "../registers/reduce.h"

namespace xgrad {
namespace {

// (outer, count, inner) -> (outer, inner).
template <class Op>
Array reduce_axis(const Array& x, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  Array result(Shape{outer, inner});
  Real* out = result.mutable_data();
  const Real* in = x.data();
  if (result.size() == 0) return result;
  if (count == 0) return Array(Shape{outer, inner}, Op::identity);
  if (inner == 1) {
    if (outer == 1) {
      out[0] = reduce_long_row<Op>(in, count);
      return result;
    }
    parallel_for(outer, std::max<std::int64_t>(1, elementwise_block / count),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t o = begin; o < end; ++o) out[o] = reduce_row<Op>(in + o * count, count);
                 });
    return result;
  }
  const std::int64_t columns = std::min<std::int64_t>(inner, 256);  // that one thread takes at a time
  const std::int64_t blocks = (inner + columns - 1) / columns;
  const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / (count * columns));
  parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * columns;
      reduce_columns<Op>(in + o * count * inner + j, count, inner, std::min(columns, inner - j), out + o * inner + j);
    }
  });
  return result;
}

// Neighbouring axes are reduced together, the last group first.
template <class Op>
Array reduce(const Array& x, const Axes& axes, const Shape& to) {
  XGRAD_ASSERT(std::ranges::is_sorted(axes));
  Array result = x;
  Shape shape = x.shape();
  for (int last = axes.size() - 1; last >= 0;) {
    int first = last;
    while (first > 0 && axes[first - 1] == axes[first] - 1) --first;
    std::int64_t outer = 1, count = 1, inner = 1;
    for (int i = 0; i < axes[first]; ++i) outer *= shape[i];
    for (int i = axes[first]; i <= axes[last]; ++i) count *= shape[i];
    for (int i = axes[last] + 1; i < shape.rank(); ++i) inner *= shape[i];
    if (count != 1) result = reduce_axis<Op>(result, outer, count, inner);
    for (int i = axes[first]; i <= axes[last]; ++i) shape[i] = 1;
    last = first - 1;
  }
  return result.reshaped(to);
}

}  // namespace

Array sum_over(const Array& x, const Axes& axes, const Shape& to) { return reduce<Sum>(x, axes, to); }
Array product_over(const Array& x, const Axes& axes, const Shape& to) { return reduce<Product>(x, axes, to); }
Array max_over(const Array& x, const Axes& axes, const Shape& to) { return reduce<Max>(x, axes, to); }
Array min_over(const Array& x, const Axes& axes, const Shape& to) { return reduce<Min>(x, axes, to); }

}  // namespace xgrad
