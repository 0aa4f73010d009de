// Reductions.
#include "reduce.h"

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../kernels/reduce/reduce.h"
#include "../kernels/registers/loops.h"
#include "../kernels/sort/sort.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"

namespace xgrad {

Axes AxisSet::resolve(std::string_view op, int rank) const {
  if (all_) return all_axes(rank);
  if (rank > 0) return normalize_axes(op, axes_, rank);
  Axes of_scalar;
  for (const int axis : axes_) of_scalar.push_back(normalize_axis_or_scalar(op, axis, rank));
  if (of_scalar.size() > 1) fail<ValueError>(op, "repeated axis in ", axes_);
  return {};
}

namespace {

void refuse_empty(const char* op, const Tensor& x, const Axes& axes) {
  if (count_of(x.shape(), axes) == 0)
    fail<ValueError>(op, "nothing to reduce in shape ", x.shape(), " over axes ", axes);
}

Tensor extreme(const char* op, const Tensor& x, const AxisSet& axis, const KeepdimOptions& options,
               Array (*over)(const Array&, const Axes&, const Shape&)) {
  const Axes axes = axis.resolve(op, x.rank());
  refuse_empty(op, x, axes);
  return record(op, over(x.value(), axes, reduced_shape(x.shape(), axes, options.keepdim)),
                wrt(x,
                    [x, axes](const Tensor& gy, const Tensor& y) {
                      const Shape kept = kept_shape(x.shape(), axes);
                      const Tensor hits = where(x == reshape(y, kept), 1, 0);
                      return hits * (reshape(gy, kept) / sum(hits, axes, {.keepdim = true}));
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)));
}

}  // namespace

XGRAD_FORMULA sum_formula{"sum", "y = sum of x_i", "dy/dx_i = 1"};
Tensor sum(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  const Axes axes = axis.resolve("sum", x.rank());
  return record(
      "sum", sum_over(x.value(), axes, reduced_shape(x.shape(), axes, options.keepdim)),
      wrt(x, [to = x.shape(), axes](const Tensor& gy) { return broadcast_to(reshape(gy, kept_shape(to, axes)), to); }),
      attribute("axis", unless(all_axes(x.rank()), axes)));
}

XGRAD_FORMULA mean_formula{"mean", "y = sum of x_i / n", "dy/dx_i = 1/n"};
Tensor mean(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  const Axes axes = axis.resolve("mean", x.rank());
  refuse_empty("mean", x, axes);
  const Real count = static_cast<Real>(count_of(x.shape(), axes));
  const Array total = sum_over(x.value(), axes, reduced_shape(x.shape(), axes, options.keepdim));
  return record("mean", map(total, [count](auto v) { return v / count; }),
                wrt(x, [to = x.shape(), axes, count](
                           const Tensor& gy) { return broadcast_to(reshape(gy / count, kept_shape(to, axes)), to); }),
                attribute("axis", unless(all_axes(x.rank()), axes)));
}

Tensor mean(const Mask& x, const AxisSet& axis, const KeepdimOptions& options) {
  return mean(to_real(x), axis, options);
}

namespace {

// x minus its mean over `axes`, twice: the mean, rounded to one number, can be off by as much as x - mean is large.
Tensor centred_twice(const Tensor& x, const Axes& axes) {
  const auto centred = [&](const Tensor& u) { return u - mean(u, axes, {.keepdim = true}); };
  return centred(centred(x));
}
Array centred_twice(const Array& x, const Axes& axes) {
  const Real count = static_cast<Real>(count_of(x.shape(), axes));
  const auto centred = [&](const Array& u) {
    const Array sums = sum_over(u, axes, kept_shape(x.shape(), axes));
    const Array means = map(sums, [count](auto total) { return total / count; }, {"var"});
    return map(
        {x.shape(), {"var"}}, [](auto v, auto m) { return v - m; }, u, means);
  };
  return centred(centred(x));
}

Array variance(const Array& x, const Axes& axes, const Shape& to, Real freedom) {
  const Array squares = map(centred_twice(x, axes), [](auto d) { return d * d; }, {"var"});
  return map(sum_over(squares, axes, to), [freedom](auto total) { return total / freedom; }, {"var"});
}

// The number of elements that are averaged minus the correction. Throws ValueError unless it is positive.
Real freedom_of(const char* op, const Tensor& x, const Axes& axes, double correction) {
  const std::int64_t count = count_of(x.shape(), axes);
  const Real freedom = static_cast<Real>(count) - static_cast<Real>(correction);
  if (!(freedom > 0)) fail<ValueError>(op, count, " elements are too few for a correction of ", correction);
  return freedom;
}

}  // namespace

XGRAD_FORMULA var_formula{"var", "y = sum of (x_i - mean)^2 / (n - correction)",
                          "dy/dx_i = 2 (x_i - mean) / (n - correction)"};
Tensor var(const Tensor& x, const AxisSet& axis, const VarOptions& options) {
  const Axes axes = axis.resolve("var", x.rank());
  const Real freedom = freedom_of("var", x, axes, options.correction);
  const Shape to = reduced_shape(x.shape(), axes, options.keepdim);
  return record("var", variance(x.value(), axes, to, freedom),
                wrt(x,
                    [x = saved(x), axes, freedom](const Tensor& gy) {
                      return centred_twice(x, axes) * (reshape(gy, kept_shape(x.shape(), axes)) / (freedom / 2));
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)),
                attribute("correction", unless(1, options.correction)));
}

XGRAD_FORMULA stddev_formula{"stddev", "y = sqrt(sum of (x_i - mean)^2 / (n - correction))",
                             "dy/dx_i = (x_i - mean) / ((n - correction) y)"};
Tensor stddev(const Tensor& x, const AxisSet& axis, const VarOptions& options) {
  const Axes axes = axis.resolve("stddev", x.rank());
  const Real freedom = freedom_of("stddev", x, axes, options.correction);
  const Shape to = reduced_shape(x.shape(), axes, options.keepdim);
  return record("stddev", map(variance(x.value(), axes, to, freedom), [](auto v) { return sqrt(v); }),
                wrt(x,
                    [x = saved(x), axes, freedom](const Tensor& gy, const Tensor& y) {
                      const Mask still = y == 0;
                      const Tensor slope = masked_fill(gy / freedom, still, 0), unit = masked_fill(y, still, 1);
                      const Shape kept = kept_shape(x.shape(), axes);
                      return centred_twice(x, axes) / reshape(unit, kept) * reshape(slope, kept);
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)),
                attribute("correction", unless(1, options.correction)));
}

VarMean var_mean(const Tensor& x, const AxisSet& axis, const VarOptions& options) {
  const Axes axes = axis.resolve("var_mean", x.rank());
  freedom_of("var_mean", x, axes, options.correction);
  return {var(x, axis, options), mean(x, axis, {.keepdim = options.keepdim})};
}

XGRAD_FORMULA max_formula{"max", "y = the largest x_i", "dy/dx_i = 1/k if x_i = y, of which there are k, else 0"};
Tensor max(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  return extreme("max", x, axis, options, max_over);
}
XGRAD_FORMULA min_formula{"min", "y = the smallest x_i", "dy/dx_i = 1/k if x_i = y, of which there are k, else 0"};
Tensor min(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  return extreme("min", x, axis, options, min_over);
}

namespace {

// The product of all other elements, also where some are 0 or the product itself leaves the range.
Tensor product_of_others(const Tensor& x, const Axes& axes) {
  Axes last;
  for (int i = 0; i < axes.size(); ++i) last.push_back(i - axes.size());
  const Tensor moved = movedim(x, axes, last);
  const std::int64_t n = count_of(x.shape(), axes), rows = n == 0 ? 0 : x.size() / n;
  Tensor others;  // (rows, n)
  if (recording()) {
    // Each element gets a copy of its row with itself replaced by 1.
    Mask diagonal(Shape{n, n}, false);
    for (std::int64_t i = 0; i < n; ++i) diagonal.mutable_data()[i * n + i] = true;
    others = prod(where(diagonal, 1, reshape(moved, {rows, 1, n})), -1);
  } else {
    // The product of the elements before times that of the elements after.
    Array products(Shape{rows, n});
    for (std::int64_t row = 0; row < rows; ++row) {
      const Real* in = moved.value().data() + row * n;
      Real* out = products.mutable_data() + row * n;
      Real before = 1, after = 1;
      for (std::int64_t i = 0; i < n; before *= in[i++]) out[i] = before;
      for (std::int64_t i = n; i-- > 0; after *= in[i]) out[i] *= after;
    }
    others = Tensor(std::move(products));
  }
  return movedim(reshape(others, moved.shape()), last, axes);
}

}  // namespace

XGRAD_FORMULA prod_formula{"prod", "y = product of x_i", "dy/dx_i = product of the others"};
Tensor prod(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  const Axes axes = axis.resolve("prod", x.rank());
  Array y = product_over(x.value(), axes, reduced_shape(x.shape(), axes, options.keepdim));
  // y neither overflowed nor lost digits, so that y / x is the product of the others.
  const bool divisible = std::ranges::all_of(y, [](Real v) { return std::isnormal(v); });
  return record("prod", std::move(y),
                wrt(x,
                    [x, axes, divisible](const Tensor& gy, const Tensor& y) {
                      const Shape kept = kept_shape(x.shape(), axes);
                      return reshape(gy, kept) * (divisible ? reshape(y, kept) / x : product_of_others(x, axes));
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)));
}

XGRAD_FORMULA logsumexp_formula{"logsumexp", "y = ln sum_i e^x_i", "dy/dx_i = e^(x_i - y)"};
Tensor logsumexp(const Tensor& x, const AxisSet& axis, const KeepdimOptions& options) {
  const Axes axes = axis.resolve("logsumexp", x.rank());
  const Shape kept = kept_shape(x.shape(), axes);
  // The largest element of each line is subtracted, so that no power overflows; an infinite one would leave NaN.
  const Array shift = map(max_over(x.value(), axes, kept), [](auto m) { return where(abs(m) < infinity, m, 0); });
  const Array powers = map(
      x.shape(), [](auto v, auto m) { return exp(v - m); }, x.value(), shift);
  Array y = map(
      kept, [](auto total, auto m) { return log(total) + m; }, sum_over(powers, axes, kept), shift);
  return record("logsumexp", y.reshaped(reduced_shape(x.shape(), axes, options.keepdim)),
                wrt(x,
                    [x, axes, shift](const Tensor& gy) {
                      // Not e^(x_i - y): y is one rounded number, whose error would be a relative error here.
                      const Tensor e = exp(x - Tensor(shift)), total = sum(e, axes, {.keepdim = true});
                      return reshape(gy, shift.shape()) * (e / where(total == 0, 1, total));
                    }),
                attribute("axis", unless(all_axes(x.rank()), axes)));
}

namespace {

// The shape after a reduction along one axis, counted from 0.
Shape without_axis(const Shape& shape, int axis, bool keepdim) {
  return shape.rank() == 0 ? shape : reduced_shape(shape, {axis}, keepdim);
}

// The positions of the largest (smallest) elements along an axis counted from 0, of which the result has size 1.
Index positions(const char* op, const Tensor& x, int axis, bool largest) {
  const Shape line = with_an_axis(x.shape());
  if (line[axis] == 0) fail<ValueError>(op, "nothing to choose from in shape ", x.shape(), " along axis ", axis);
  return first_extreme(x.value().reshaped(line), axis, largest);
}

Index arg(const char* op, const Tensor& x, int axis, bool keepdim, bool largest) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  return positions(op, x, axis, largest).reshaped(without_axis(x.shape(), axis, keepdim));
}

ValuesAndIndices extreme_along(const char* op, const Tensor& x, int axis, bool keepdim, bool largest) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  const Index at = positions(op, x, axis, largest);
  const Shape to = without_axis(x.shape(), axis, keepdim);
  return {chosen_along(op, x, with_an_axis(x.shape()), axis, at, to, attribute("axis", axis),
                       attribute("with_indices", true)),
          at.reshaped(to)};
}

}  // namespace

XGRAD_FORMULA max_along_formula{"max with_indices", "y = the first largest x_i", "dy/dx_i = 1 at that i, else 0"};
ValuesAndIndices max(const Tensor& x, int axis, const KeepdimOptions& options) {
  return extreme_along("max", x, axis, options.keepdim, true);
}
XGRAD_FORMULA min_along_formula{"min with_indices", "y = the first smallest x_i", "dy/dx_i = 1 at that i, else 0"};
ValuesAndIndices min(const Tensor& x, int axis, const KeepdimOptions& options) {
  return extreme_along("min", x, axis, options.keepdim, false);
}

Index argmax(const Tensor& x, int axis, const KeepdimOptions& options) {
  return arg("argmax", x, axis, options.keepdim, true);
}
Index argmin(const Tensor& x, int axis, const KeepdimOptions& options) {
  return arg("argmin", x, axis, options.keepdim, false);
}

}  // namespace xgrad
