// Order statistics. The kernel (ops/kernels/sort/sort.cpp) finds positions, values and gradients are those there.
#include "statistics.h"

#include <algorithm>
#include <cmath>

#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../creation/create.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../indexing/axis.h"
#include "../indexing/index.h"
#include "../kernels/sort/sort.h"
#include "../shape/shape.h"

namespace xgrad {

namespace {

// Throws ValueError if `count` of x's elements is 0.
void check_choice(const char* op, const Tensor& x, std::int64_t count) {
  if (count == 0) fail<ValueError>(op, "nothing to choose from in shape ", x.shape());
}

// The elements at the positions that `choose(values, axis, size)` gives, along an axis, with keepdim or without.
template <class F, class... Attributes>
ValuesAndIndices chosen(const char* op, const Tensor& x, int axis, bool keepdim, const F& choose,
                        const Attributes&... attributes) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  const Shape line = with_an_axis(x.shape());
  check_choice(op, x, line[axis]);
  const Index at = choose(x.value().reshaped(line), axis, line[axis]);
  Shape to = at.shape();
  if (x.rank() == 0 || !keepdim) to.erase(axis);
  return {chosen_along(op, x, line, axis, at, to, attribute("axis", axis), attributes...), at.reshaped(to)};
}

Index middle(const Array& x, int axis, std::int64_t size) {
  return kth_in_order(x, axis, (size - 1) / 2, NanOrder::wins);
}

}  // namespace

XGRAD_FORMULA median_formula{"median", "y = the lower median of x",
                             "dy/dx_i = 1/k if x_i = y, of which there are k, else 0"};
Tensor median(const Tensor& x) {
  check_choice("median", x, x.size());
  const Array list = x.value().reshaped({-1});
  const std::int64_t at = middle(list, 0, list.size()).item();
  return record("median", Array(Shape{}, list.data()[at]), wrt(x, [x](const Tensor& gy, const Tensor& y) {
                  const Tensor hits = to_real(x == y || (x != x && y != y));
                  return hits * (gy / sum(hits));
                }));
}

XGRAD_FORMULA median_along_formula{"median with_indices", "y = the lower median of x",
                                   "dy/dx_i = 1 at the index of y, else 0"};
ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options) {
  return chosen("median", x, axis, options.keepdim, middle, attribute("with_indices", true));
}

XGRAD_FORMULA kthvalue_formula{"kthvalue", "y = the k-th smallest x_i", "dy/dx_i = 1 at the index of y, else 0"};
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, int along, const KeepdimOptions& options) {
  return chosen(
      "kthvalue", x, along, options.keepdim,
      [k](const Array& u, int axis, std::int64_t size) {
        if (k < 1 || k > size) fail<ValueError>("kthvalue", "k = ", k, " is not in [1, ", size, "]");
        return kth_in_order(u, axis, k - 1, NanOrder::last);
      },
      attribute("k", k));
}

XGRAD_FORMULA quantile_formula{"quantile", "y = (1 - t) x_i + t x_j, x_i and x_j next to each other in order",
                               "dy/dx_i = 1 - t; dy/dx_j = t"};
Tensor quantile(const Tensor& x, double q, std::optional<int> given, const KeepdimOptions& options) {
  if (!(q >= 0 && q <= 1)) fail<ValueError>("quantile", "q = ", q, " is not in [0, 1]");
  const bool of_all = !given || x.rank() == 0;
  const int axis = given ? normalize_axis_or_scalar("quantile", *given, x.rank()) : 0;
  const Array values = x.value().reshaped(of_all ? Shape{x.size()} : x.shape());
  const std::int64_t size = values.shape()[axis];
  check_choice("quantile", x, size);
  const Index order = first_in_order(values, axis, size, false);
  const auto in_order = [&](std::int64_t i) { return index_select(order, axis, Index(Shape{1}, i)); };
  const Index last = in_order(size - 1);
  const Array largest = taken_along(values, axis, last);
  const auto at = [&](std::int64_t position) {
    Index positions = in_order(position);
    for (std::int64_t i = 0; i < positions.size(); ++i) {  // a line with a NaN has NaN as its quantile
      if (std::isnan(largest.data()[i])) positions.mutable_data()[i] = last.data()[i];
    }
    return positions;
  };
  const double place = q * static_cast<double>(size - 1), lower = std::floor(place);
  const Real fraction = static_cast<Real>(place - lower);
  const Index below = at(static_cast<std::int64_t>(lower)), above = at(static_cast<std::int64_t>(std::ceil(place)));
  Array y = taken_along(values, axis, below);
  if (fraction != 0) {
    // As a weighted sum: a difference of two infinities would be NaN. A weight of 0 is left out, not 0 times infinity.
    const Array upper_end = taken_along(values, axis, above);
    std::transform(y.begin(), y.end(), upper_end.begin(), y.mutable_data(),
                   [t = fraction](Real a, Real b) { return a * (1 - t) + b * t; });
  }
  const Shape to = reduced_shape(x.shape(), of_all ? all_axes(x.rank()) : Axes{axis}, options.keepdim);
  return record("quantile", y.reshaped(to),
                wrt(x,
                    [axis, below, above, t = fraction, line = values.shape()](const Tensor& gy, InputShape shape) {
                      const Tensor g = reshape(gy, below.shape());
                      const Tensor sums =
                          t == 0 ? added_along(g, axis, below, line)
                                 : added_along(g * (1 - t), axis, below, line) + added_along(g * t, axis, above, line);
                      return reshape(sums, shape);
                    }),
                attribute("q", q), attribute("axis", of_all ? std::nullopt : std::optional(axis)));
}

}  // namespace xgrad
