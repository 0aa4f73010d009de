// xtensor's reducers go element by element in one chain of additions; these loops are several times faster and, being
// pairwise, more accurate.
#include "reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "../../core/parallel.h"
#include "loops.h"

namespace xgrad {
namespace {

struct Sum {
  static constexpr Real identity = 0;
  template <class V>
  static V combine(const V& a, const V& b) {
    return a + b;
  }
};
struct Product {
  static constexpr Real identity = 1;
  template <class V>
  static V combine(const V& a, const V& b) {
    return a * b;
  }
};
struct Max {
  static constexpr Real identity = -std::numeric_limits<Real>::infinity();
  static Pack combine(const Pack& a, const Pack& b) { return maximum(a, b); }
  static Real combine(Real a, Real b) { return a >= b ? a : b > a ? b : a + b; }
};
struct Min {
  static constexpr Real identity = std::numeric_limits<Real>::infinity();
  static Pack combine(const Pack& a, const Pack& b) { return minimum(a, b); }
  static Real combine(Real a, Real b) { return a <= b ? a : b < a ? b : a + b; }
};

constexpr auto width = static_cast<std::int64_t>(Pack::width);

// in[0] + ... + in[n-1] by halving, down to stretches that a few registers add up.
template <class Op>
Real fold_row(const Real* in, std::int64_t n) {
  constexpr std::int64_t stretch = 32 * width;
  if (n > stretch) {
    const std::int64_t half = (n / 2 + stretch - 1) / stretch * stretch;
    return Op::combine(fold_row<Op>(in, half), fold_row<Op>(in + half, n - half));
  }
  Real total = Op::identity;
  std::int64_t i = 0;
  if (n >= width) {
    Pack sum[4] = {Pack(Op::identity), Pack(Op::identity), Pack(Op::identity), Pack(Op::identity)};
    for (; i + 4 * width <= n; i += 4 * width) {
      for (std::int64_t j = 0; j < 4; ++j) sum[j] = Op::combine(sum[j], Pack::load(in + i + j * width));
    }
    for (; i + width <= n; i += width) sum[0] = Op::combine(sum[0], Pack::load(in + i));
    Real lanes[Pack::width];
    Op::combine(Op::combine(sum[0], sum[1]), Op::combine(sum[2], sum[3])).store(lanes);
    for (std::int64_t step = width / 2; step > 0; step /= 2) {
      for (std::int64_t j = 0; j < step; ++j) lanes[j] = Op::combine(lanes[j], lanes[j + step]);
    }
    total = lanes[0];
  }
  for (; i < n; ++i) total = Op::combine(total, in[i]);
  return total;
}

// out[j] = combination over i < rows of in[i step + j] for j < columns, rows by halving.
template <class Op>
void fold_columns(const Real* in, std::int64_t rows, std::int64_t step, std::int64_t columns, Real* out) {
  constexpr std::int64_t stretch = 64;
  if (rows > stretch) {
    const std::int64_t half = (rows / 2 + stretch - 1) / stretch * stretch;
    std::vector<Real, PoolAllocator<Real>> second(static_cast<std::size_t>(columns));
    fold_columns<Op>(in, half, step, columns, out);
    fold_columns<Op>(in + half * step, rows - half, step, columns, second.data());
    for (std::int64_t j = 0; j < columns; ++j) out[j] = Op::combine(out[j], second[static_cast<std::size_t>(j)]);
    return;
  }
  std::int64_t j = 0;
  constexpr std::int64_t together = 4;  // packs whose sums do not wait for each other
  for (; j + together * width <= columns; j += together * width) {
    Pack total[together];
    for (Pack& each : total) each = Op::identity;
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t t = 0; t < together; ++t) {
        total[t] = Op::combine(total[t], Pack::load(in + i * step + j + t * width));
      }
    }
    for (std::int64_t t = 0; t < together; ++t) total[t].store(out + j + t * width);
  }
  for (; j + width <= columns; j += width) {
    Pack total(Op::identity);
    for (std::int64_t i = 0; i < rows; ++i) total = Op::combine(total, Pack::load(in + i * step + j));
    total.store(out + j);
  }
  for (; j < columns; ++j) {
    Real total = Op::identity;
    for (std::int64_t i = 0; i < rows; ++i) total = Op::combine(total, in[i * step + j]);
    out[j] = total;
  }
}

// (outer, count, inner) -> (outer, inner).
template <class Op>
Array fold(const Array& x, std::int64_t outer, std::int64_t count, std::int64_t inner) {
  Array result(Shape{outer, inner});
  Real* out = result.mutable_data();
  const Real* in = x.data();
  if (result.size() == 0) return result;
  if (count == 0) return Array(Shape{outer, inner}, Op::identity);
  if (inner == 1) {
    if (outer == 1) {  // one long row: its parts side by side, then the parts
      constexpr std::int64_t part = 1 << 15;
      const std::int64_t parts = (count + part - 1) / part;
      std::vector<Real, PoolAllocator<Real>> sums(static_cast<std::size_t>(parts));
      parallel_for(count, part, [&](std::int64_t begin, std::int64_t end) {
        sums[static_cast<std::size_t>(begin / part)] = fold_row<Op>(in + begin, end - begin);
      });
      out[0] = fold_row<Op>(sums.data(), parts);
      return result;
    }
    parallel_for(outer, std::max<std::int64_t>(1, elementwise_block / count),
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t o = begin; o < end; ++o) out[o] = fold_row<Op>(in + o * count, count);
                 });
    return result;
  }
  const std::int64_t columns = std::min<std::int64_t>(inner, 256);  // that one thread takes at a time
  const std::int64_t blocks = (inner + columns - 1) / columns;
  const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / (count * columns));
  parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t o = i / blocks, j = i % blocks * columns;
      fold_columns<Op>(in + o * count * inner + j, count, inner, std::min(columns, inner - j), out + o * inner + j);
    }
  });
  return result;
}

// Neighbouring axes are folded together, the last group first.
template <class Op>
Array reduce(const Array& x, const Axes& axes, const Shape& to) {
  Array result = x;
  Shape shape = x.shape();
  for (int last = axes.size() - 1; last >= 0;) {
    int first = last;
    while (first > 0 && axes[first - 1] == axes[first] - 1) --first;
    std::int64_t outer = 1, count = 1, inner = 1;
    for (int i = 0; i < axes[first]; ++i) outer *= shape[i];
    for (int i = axes[first]; i <= axes[last]; ++i) count *= shape[i];
    for (int i = axes[last] + 1; i < shape.rank(); ++i) inner *= shape[i];
    if (count != 1) result = fold<Op>(result, outer, count, inner);
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
