// Reductions.
#include "reduce.h"

#include <cmath>
#include <limits>

#include "../core/formula.h"
#include "../core/record.h"
#include "arithmetic.h"
#include "broadcast.h"
#include "compare.h"
#include "elementwise.h"
#include "kernels/loops.h"
#include "kernels/reduce.h"
#include "shape.h"

namespace xgrad {
namespace {

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

// The gradient (or result) of a reduction with its axes put back as size 1.
Tensor with_axes(const Tensor& y, const Shape& kept) { return reshape(y, kept); }

void refuse_empty(const char* op, const Tensor& x, const Axes& axes) {
  if (count_of(x.shape(), axes) == 0)
    fail<ValueError>(op, "nothing to reduce in shape ", x.shape(), " over axes ", axes);
}

Tensor extreme(const char* op, const Tensor& x, const ReduceOptions& options,
               Array (*over)(const Array&, const Axes&, const Shape&)) {
  const Axes axes = options.axis.resolve(op, x.rank());
  refuse_empty(op, x, axes);
  return record(op, over(x.value(), axes, result_shape(x.shape(), axes, options.keepdim)),
                wrt(x,
                    [x, axes](const Tensor& gy, const Tensor& y) {
                      const Shape kept = kept_shape(x.shape(), axes);
                      const Tensor hits = where(x == with_axes(y, kept), 1, 0);
                      return hits * (with_axes(gy, kept) / sum(hits, {.axis = axes, .keepdim = true}));
                    }),
                told("axis", unless(all_axes(x.rank()), axes)));
}

}  // namespace

XGRAD_FORMULA sum_formula{"sum", "y = sum of x_i", "dy/dx_i = 1"};
Tensor sum(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("sum", x.rank());
  return record("sum", sum_over(x.value(), axes, result_shape(x.shape(), axes, options.keepdim)),
                wrt(x, [to = x.shape(),
                        axes](const Tensor& gy) { return broadcast_to(with_axes(gy, kept_shape(to, axes)), to); }),
                told("axis", unless(all_axes(x.rank()), axes)));
}

XGRAD_FORMULA mean_formula{"mean", "y = sum of x_i / n", "dy/dx_i = 1/n"};
Tensor mean(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("mean", x.rank());
  refuse_empty("mean", x, axes);
  const Real share = Real(1) / static_cast<Real>(count_of(x.shape(), axes));
  const Array total = sum_over(x.value(), axes, result_shape(x.shape(), axes, options.keepdim));
  return record("mean", map(total, [share](auto v) { return v * share; }),
                wrt(x, [to = x.shape(), axes, share](
                           const Tensor& gy) { return broadcast_to(with_axes(gy * share, kept_shape(to, axes)), to); }),
                told("axis", unless(all_axes(x.rank()), axes)));
}

XGRAD_FORMULA var_formula{"var", "y = sum of (x_i - mean)^2 / (n - correction)",
                          "dy/dx_i = 2 (x_i - mean) / (n - correction)"};
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
  const Array total = sum_over(squares, axes, result_shape(x.shape(), axes, options.keepdim));
  return record("var", map(total, [freedom](auto v) { return v / freedom; }),
                wrt(x,
                    [x = kept(x), axes, freedom, centred](const Tensor& gy) {
                      return centred(centred(x)) * (with_axes(gy, kept_shape(x.shape(), axes)) * (2 / freedom));
                    }),
                told("axis", unless(all_axes(x.rank()), axes)));
}

XGRAD_FORMULA max_formula{"max", "y = the largest x_i", "dy/dx_i = 1/k if x_i = y, of which there are k, else 0"};
Tensor max(const Tensor& x, const ReduceOptions& options) { return extreme("max", x, options, max_over); }
XGRAD_FORMULA min_formula{"min", "y = the smallest x_i", "dy/dx_i = 1/k if x_i = y, of which there are k, else 0"};
Tensor min(const Tensor& x, const ReduceOptions& options) { return extreme("min", x, options, min_over); }

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

XGRAD_FORMULA prod_formula{"prod", "y = product of x_i", "dy/dx_i = product of the others"};
Tensor prod(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("prod", x.rank());
  Array y = product_over(x.value(), axes, result_shape(x.shape(), axes, options.keepdim));
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

XGRAD_FORMULA logsumexp_formula{"logsumexp", "y = ln sum_i e^x_i", "dy/dx_i = e^(x_i - y)"};
Tensor logsumexp(const Tensor& x, const ReduceOptions& options) {
  const Axes axes = options.axis.resolve("logsumexp", x.rank());
  const Shape kept = kept_shape(x.shape(), axes);
  const Array most = max_over(x.value(), axes, kept);
  // Subtracting an infinite maximum would give NaN; those rows are what their maximum is.
  const Array shift = map(most, [](auto m) { return where(abs(m) < std::numeric_limits<Real>::infinity(), m, 0); });
  const Array powers = map(
      x.shape(), [](auto v, auto m) { return exp(v - m); }, x.value(), shift);
  const Array total = sum_over(powers, axes, kept);
  const Array y = map(
      kept,
      [](auto s, auto m, auto top) { return where(abs(top) < std::numeric_limits<Real>::infinity(), log(s) + m, top); },
      total, shift, most);
  return record("logsumexp", y.reshaped(result_shape(x.shape(), axes, options.keepdim)),
                wrt(x, [x, axes, shift, most](
                           const Tensor& gy) { return with_axes(gy, shift.shape()) * shares(x, axes, shift, most); }),
                told("axis", unless(all_axes(x.rank()), axes)));
}

namespace {

XGRAD_FORMULA cumsum_formula{"cumsum", "y_i = x_0 + ... + x_i", "dL/dx_i = sum of gy_j over j >= i"};
// Each direction is the other's gradient.
Tensor cumulate(const Tensor& x, int axis, SumOrder order) {
  const SumOrder back = order == SumOrder::forwards ? SumOrder::backwards : SumOrder::forwards;
  return record("cumsum", running_sum(x.value(), axis, order),
                wrt(x, [axis, back](const Tensor& gy) { return cumulate(gy, axis, back); }), told("axis", axis));
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
  return cumulate(x, normalize_axis("cumsum", axis, x.rank()), SumOrder::forwards);
}

Index argmax(const Tensor& x, const ArgOptions& options) {
  return arg("argmax", x, options, [](Real a, Real b) { return a > b; });
}
Index argmin(const Tensor& x, const ArgOptions& options) {
  return arg("argmin", x, options, [](Real a, Real b) { return a < b; });
}

}  // namespace xgrad
