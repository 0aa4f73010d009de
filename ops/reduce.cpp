// Reductions. xtensor's reducers go element by element in one chain of additions; these loops are several times faster
// and, being pairwise, more accurate.
#include "reduce.h"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "../core/record.h"
#include "arithmetic.h"
#include "elementwise.h"
#include "kernels/loops.h"
#include "shape.h"

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

Shape kept_shape(const Shape& shape, const Axes& axes) {
  Shape kept = shape;
  for (const int axis : axes) kept[axis] = 1;
  return kept;
}

Shape dropped_shape(const Shape& shape, const Axes& axes) {
  Shape dropped = shape;
  for (int i = axes.size(); i-- > 0;) dropped.erase(axes[i]);
  return dropped;
}

Shape result_shape(const Shape& shape, const Axes& axes, bool keepdim) {
  return keepdim ? kept_shape(shape, axes) : dropped_shape(shape, axes);
}

std::int64_t count_of(const Shape& shape, const Axes& axes) {
  std::int64_t count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
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

// The gradient (or result) of a reduction with its axes put back as size 1.
Tensor with_axes(const Tensor& y, const Shape& kept) { return reshape(y, kept); }

void refuse_empty(const char* op, const Tensor& x, const Axes& axes) {
  if (count_of(x.shape(), axes) == 0)
    fail<ValueError>(op, "nothing to reduce in shape ", x.shape(), " over axes ", axes);
}

template <class Op>
Tensor extreme(const char* op, const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve(op, x.rank());
  refuse_empty(op, x, axes);
  return record(op, reduce<Op>(x.value(), axes, result_shape(x.shape(), axes, options.keepdim)),
                wrt(x, [x, axes](const Tensor& gy, const Tensor& y) {
                  const Shape kept = kept_shape(x.shape(), axes);
                  const Tensor hits = where(x == with_axes(y, kept), 1, 0);
                  return hits * (with_axes(gy, kept) / sum(hits, {.axis = axes, .keepdim = true}));
                }));
}

}  // namespace

Tensor sum(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("sum", x.rank());
  return record("sum", reduce<Sum>(x.value(), axes, result_shape(x.shape(), axes, options.keepdim)),
                wrt(x, [to = x.shape(), axes](const Tensor& gy) {
                  return broadcast_to(with_axes(gy, kept_shape(to, axes)), to);
                }));
}

Tensor mean(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("mean", x.rank());
  refuse_empty("mean", x, axes);
  const Real share = Real(1) / static_cast<Real>(count_of(x.shape(), axes));
  const Array total = reduce<Sum>(x.value(), axes, result_shape(x.shape(), axes, options.keepdim));
  return record("mean", map(total, [share](auto v) { return v * share; }),
                wrt(x, [to = x.shape(), axes, share](const Tensor& gy) {
                  return broadcast_to(with_axes(gy * share, kept_shape(to, axes)), to);
                }));
}

Tensor var(const Tensor& x, const VarOptions& options) {
  const Axes axes = options.axis.resolve("var", x.rank());
  const Real freedom = static_cast<Real>(count_of(x.shape(), axes)) - options.correction;
  if (!(freedom > 0)) {
    fail<ValueError>("var", count_of(x.shape(), axes), " elements are too few for a correction of ",
                     options.correction);
  }
  // The mean, rounded to one number, can be as far off as the deviations are large; so these are centred again.
  const auto centred = [axes](const Tensor& u) { return u - mean(u, {.axis = axes, .keepdim = true}); };
  const Array squares = [&] {
    const NoGrad off;
    const Tensor d = centred(x), rest = mean(d, {.axis = axes, .keepdim = true});
    const auto square_of_difference = [](auto v, auto m) { return (v - m) * (v - m); };
    return map(x.shape(), square_of_difference, d.value(), rest.value());
  }();
  const Array total = reduce<Sum>(squares, axes, result_shape(x.shape(), axes, options.keepdim));
  return record("var", map(total, [freedom](auto v) { return v / freedom; }),
                wrt(x, [x = kept(x), axes, freedom, centred](const Tensor& gy) {
                  return centred(centred(x)) * (with_axes(gy, kept_shape(x.shape(), axes)) * (2 / freedom));
                }));
}

Tensor max(const Tensor& x, const ReduceOptions& options) { return extreme<Max>("max", x, options); }
Tensor min(const Tensor& x, const ReduceOptions& options) { return extreme<Min>("min", x, options); }

namespace {

// The product of all other elements, also where some are 0 or the product itself leaves the range.
Tensor product_of_others(const Tensor& x, const Axes& axes) {
  Axes order;
  for (int i = 0; i < x.rank(); ++i) {
    if (std::ranges::find(axes, i) == axes.end()) order.push_back(i);
  }
  for (const int axis : axes) order.push_back(axis);
  const Tensor moved = permute(x, order);
  const std::int64_t n = count_of(x.shape(), axes), rows = n == 0 ? 0 : x.size() / n;
  Tensor others;  // (rows, n)
  if (recording()) {
    // Each element gets a copy of its row with itself replaced by 1.
    Mask diagonal(Shape{n, n}, false);
    for (std::int64_t i = 0; i < n; ++i) diagonal.mutable_data()[i * n + i] = true;
    others = prod(where(diagonal, 1, reshape(moved, {rows, 1, n})), {.axis = -1});
  } else {
    // The product of those before times that of those behind.
    Array products(Shape{rows, n});
    for (std::int64_t row = 0; row < rows; ++row) {
      const Real* in = moved.value().data() + row * n;
      Real* out = products.mutable_data() + row * n;
      Real before = 1, behind = 1;
      for (std::int64_t i = 0; i < n; before *= in[i++]) out[i] = before;
      for (std::int64_t i = n; i-- > 0; behind *= in[i]) out[i] *= behind;
    }
    others = Tensor(std::move(products));
  }
  Axes back = Axes::filled(x.rank(), 0);
  for (int i = 0; i < x.rank(); ++i) back[order[i]] = i;
  return permute(reshape(others, moved.shape()), back);
}

}  // namespace

Tensor prod(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("prod", x.rank());
  Array y = reduce<Product>(x.value(), axes, result_shape(x.shape(), axes, options.keepdim));
  // Nothing was lost in y that a division by x could not find again.
  const bool divisible = std::ranges::all_of(y, [](Real v) { return std::isnormal(v); });
  return record("prod", std::move(y), wrt(x, [x, axes, divisible](const Tensor& gy, const Tensor& y) {
                  const Shape kept = kept_shape(x.shape(), axes);
                  return with_axes(gy, kept) * (divisible ? with_axes(y, kept) / x : product_of_others(x, axes));
                }));
}

namespace {

constexpr Real infinity = std::numeric_limits<Real>::infinity();

// e^(x_i) / sum_j e^(x_j). Not e^(x_i - y) with y = logsumexp(x): y is one rounded number, and what rounding took of it
// is a relative error here.
Tensor shares(const Tensor& x, const Axes& axes, const Tensor& shift, const Array& most) {
  const bool finite = std::ranges::all_of(most, [](Real m) { return std::abs(m) < infinity; });
  // Where some are +inf they share the whole; where all are -inf nobody has a share.
  const Tensor powers =
      exp(finite ? x - shift : where(Tensor(most) == infinity, where(x == infinity, 0, -infinity), x - shift));
  const Tensor total = sum(powers, {.axis = axes, .keepdim = true});
  return powers / (finite ? total : where(total == 0, 1, total));
}

}  // namespace

Tensor logsumexp(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("logsumexp", x.rank());
  const Shape kept = kept_shape(x.shape(), axes);
  const Array most = reduce<Max>(x.value(), axes, kept);
  // Subtracting an infinite maximum would give NaN; those rows are what their maximum is.
  const Array shift = map(most, [](auto m) { return where(abs(m) < std::numeric_limits<Real>::infinity(), m, 0); });
  const Array powers = map(
      x.shape(), [](auto v, auto m) { return exp(v - m); }, x.value(), shift);
  const Array total = reduce<Sum>(powers, axes, kept);
  const Array y = map(
      kept,
      [](auto s, auto m, auto top) { return where(abs(top) < std::numeric_limits<Real>::infinity(), log(s) + m, top); },
      total, shift, most);
  return record("logsumexp", y.reshaped(result_shape(x.shape(), axes, options.keepdim)),
                wrt(x, [x, axes, shift, most](const Tensor& gy) {
                  return with_axes(gy, shift.shape()) * shares(x, axes, shift, most);
                }));
}

namespace {

enum class Direction { up, down };

// Summed in double: one after the other, rounding errors of float pile up to a percent in a million terms.
Array running_sum(const Array& x, int axis, Direction direction) {
  const Shape& shape = x.shape();
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= shape[i];
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  const std::int64_t count = shape[axis];
  Array result(shape);
  Real* out = result.mutable_data();
  const Real* in = x.data();
  constexpr std::int64_t columns = 64;  // that are summed side by side
  const std::int64_t blocks = (inner + columns - 1) / columns;
  const std::int64_t grain = std::max<std::int64_t>(1, elementwise_block / std::max<std::int64_t>(count * columns, 1));
  parallel_for(outer * blocks, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i / blocks * count * inner + i % blocks * columns;
      const std::int64_t width = std::min(columns, inner - i % blocks * columns);
      std::array<double, columns> total{};
      const auto step = [&](std::int64_t k, std::int64_t j) {
        const std::int64_t at = first + (direction == Direction::up ? k : count - 1 - k) * inner + j;
        double& sum = total[static_cast<std::size_t>(j)];
        sum += static_cast<double>(in[at]);
        out[at] = static_cast<Real>(sum);
      };
      if (width == 1) {  // a single sum stays in a register
        for (std::int64_t k = 0; k < count; ++k) step(k, 0);
      } else {
        for (std::int64_t k = 0; k < count; ++k) {
          for (std::int64_t j = 0; j < width; ++j) step(k, j);
        }
      }
    }
  });
  return result;
}

// Each direction is the other's gradient.
Tensor cumulate(const Tensor& x, int axis, Direction direction) {
  const Direction back = direction == Direction::up ? Direction::down : Direction::up;
  return record("cumsum", running_sum(x.value(), axis, direction),
                wrt(x, [axis, back](const Tensor& gy) { return cumulate(gy, axis, back); }));
}

template <class Better>
Index arg(const char* op, const Tensor& x, const ArgOptions& options, const Better& better) {
  if (x.rank() == 0) return Index(Shape{}, 0);
  const int axis = normalize_axis(op, options.axis, x.rank());
  const Shape& shape = x.shape();
  const std::int64_t count = shape[axis];
  if (count == 0) fail<ValueError>(op, "nothing to choose from in shape ", shape, " along axis ", axis);
  std::int64_t inner = 1;
  for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  Index result(result_shape(shape, {axis}, options.keepdim));
  std::int64_t* out = result.mutable_data();
  const Real* in = x.value().data();
  for (std::int64_t i = 0; i < result.size(); ++i) {
    const Real* row = in + i / inner * count * inner + i % inner;
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < count && !std::isnan(row[best * inner]); ++k) {
      if (std::isnan(row[k * inner]) || better(row[k * inner], row[best * inner])) best = k;
    }
    out[i] = best;
  }
  return result;
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis) {
  if (x.rank() == 0) fail<ValueError>("cumsum", "a scalar has no axis ", axis);
  return cumulate(x, normalize_axis("cumsum", axis, x.rank()), Direction::up);
}

Index argmax(const Tensor& x, const ArgOptions& options) {
  return arg("argmax", x, options, [](Real a, Real b) { return a > b; });
}
Index argmin(const Tensor& x, const ArgOptions& options) {
  return arg("argmin", x, options, [](Real a, Real b) { return a < b; });
}

Tensor sum_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (!broadcasts_to(shape, x.shape())) fail<ShapeError>("sum_to", x.shape(), " cannot be summed to ", shape);
  Axes axes;
  const int more = x.rank() - shape.rank();
  for (int i = 0; i < x.rank(); ++i) {
    if (i < more || (shape[i - more] == 1 && x.shape()[i] != 1)) axes.push_back(i);
  }
  return record("sum_to", reduce<Sum>(x.value(), axes, shape),
                wrt(x, [to = x.shape()](const Tensor& gy) { return broadcast_to(gy, to); }));
}

}  // namespace xgrad
