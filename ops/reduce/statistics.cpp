// Order statistics. Positions come from the kernel (ops/kernels/order/order.cpp), values and gradients by gather.
#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "../../core/graph/record.h"
#include "../../core/base/formula.h"
#include "../arrange/broadcast.h"
#include "../arrange/create.h"
#include "../arrange/index.h"
#include "../arrange/shape.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../kernels/order/order.h"
#include "../private/axis.h"
#include "../private/gathered.h"

namespace xgrad {

namespace {

// Throws ValueError if `count` of x's elements is 0.
void check_choice(const char* op, const Tensor& x, std::int64_t count) {
  if (count == 0) fail<ValueError>(op, "nothing to choose from in shape ", x.shape());
}

// The elements at the positions that `choose(values, axis, size)` gives, along an axis that is kept or not.
template <class F>
ValuesAndIndices chosen(const char* op, const Tensor& x, int axis, bool keepdim, const F& choose) {
  axis = normalize_axis_or_scalar(op, axis, x.rank());
  const Tensor line = x.rank() == 0 ? reshape(x, {1}) : x;
  const std::int64_t size = line.shape()[axis];
  check_choice(op, x, size);
  const Index at = choose(line.value(), axis, size);
  Shape shape = at.shape();
  if (x.rank() == 0 || !keepdim) shape.erase(axis);
  return {reshape(gathered(line, axis, at), shape), at.reshaped(shape)};
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

ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options) {
  return chosen("median", x, axis, options.keepdim, middle);
}

ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, int along, const KeepdimOptions& options) {
  return chosen("kthvalue", x, along, options.keepdim, [k](const Array& u, int axis, std::int64_t size) {
    if (k < 1 || k > size) fail<ValueError>("kthvalue", "k = ", k, " is not in [1, ", size, "]");
    return kth_in_order(u, axis, k - 1, NanOrder::last);
  });
}

ValuesAndIndices mode(const Tensor& x, int along, const KeepdimOptions& options) {
  return chosen("mode", x, along, options.keepdim,
                [](const Array& u, int axis, std::int64_t) { return most_frequent(u, axis); });
}

namespace {

// The positions in sorted order, counted from 0, between which each quantile lies, and the distance from the lower one.
struct QuantilePlaces {
  Index lower, upper;
  Array share;
};

// The checked shares of quantiles.
class QuantileShares {
 public:
  // A single share, an option: its position is computed in double. Throws ValueError unless 0 <= q <= 1.
  explicit QuantileShares(double q) : shares_{q} {
    if (!(q >= 0 && q <= 1)) fail<ValueError>("quantile", "q = ", q, " is not in [0, 1]");
  }
  // A list of Reals, of which 0.9 may be none: the product with the last position is rounded to Real, so that shares
  // such as 0.9 of 10 give whole positions. Throws ShapeError, too, unless q has one axis.
  explicit QuantileShares(const Tensor& q) : rounded_(true) {
    if (q.rank() != 1) fail<ShapeError>("quantile", "q needs one axis, its shape is ", q.shape());
    for (const Real share : q.value()) {
      if (!(share >= 0 && share <= 1)) fail<ValueError>("quantile", "q = ", share, " is not in [0, 1]");
      shares_.push_back(static_cast<double>(share));
    }
  }

  std::int64_t size() const { return std::ssize(shares_); }

  // The positions in a line of n elements.
  QuantilePlaces places(std::int64_t n, QuantileInterpolation interpolation) const {
    const Shape shape{size()};
    QuantilePlaces places{Index(shape), Index(shape), Array(shape)};
    std::int64_t *to_lower = places.lower.mutable_data(), *to_upper = places.upper.mutable_data();
    Real* to_share = places.share.mutable_data();
    const double last = static_cast<double>(n - 1);
    for (const double share : shares_) {
      const double exact =
          rounded_ ? static_cast<double>(static_cast<Real>(share) * static_cast<Real>(last)) : share * last;
      const double place = std::min(exact, last);
      double lower = std::floor(place), upper = std::ceil(place);
      if (interpolation == QuantileInterpolation::nearest) lower = upper = std::nearbyint(place);
      if (interpolation == QuantileInterpolation::lower) upper = lower;
      if (interpolation == QuantileInterpolation::higher) lower = upper;
      const double between = interpolation == QuantileInterpolation::midpoint ? 0.5 : place - lower;
      *to_lower++ = static_cast<std::int64_t>(lower);
      *to_upper++ = static_cast<std::int64_t>(upper);
      *to_share++ = lower < upper ? static_cast<Real>(between) : 0;
    }
    return places;
  }

 private:
  std::vector<double> shares_;
  bool rounded_ = false;
};

// The point a share of the way from `lower` to `upper`. As a sum of shares: a difference of two infinities would be NaN.
// A share of 0 is left out, not 0 times infinity.
Tensor part_of_way(const Tensor& lower, const Tensor& upper, const Tensor& share) {
  return where(broadcast_to(share == 0, lower.shape()), lower, lower * (1 - share) + upper * share);
}

// The quantiles of x along an axis counted from 0, which has as many places as q.
Tensor quantiles_along(const Tensor& x, int axis, const QuantileShares& q, QuantileInterpolation interpolation) {
  const std::int64_t size = x.shape()[axis];
  const QuantilePlaces places = q.places(size, interpolation);
  const Index order = first_in_order(x.value(), axis, size, false);
  const Index last = index_select(order, axis, Index(Shape{1}, size - 1));
  const Tensor largest = gathered(Tensor(x.value()), axis, last);
  const Mask has_nan = largest != largest;
  const auto at = [&](const Index& list) {
    Index positions = index_select(order, axis, list);
    if (!any(has_nan)) return gathered(x, axis, positions);
    // A line with a NaN has NaN as its quantile.
    const Mask lost = broadcast_to(has_nan, positions.shape());
    const Index nan = broadcast_to(last, positions.shape());
    for (std::int64_t i = 0; i < positions.size(); ++i) {
      if (lost.data()[i]) positions.mutable_data()[i] = nan.data()[i];
    }
    return gathered(x, axis, positions);
  };
  const Tensor lower = at(places.lower);
  if (std::ranges::all_of(places.share, [](Real share) { return share == 0; })) return lower;
  Shape along = Shape::filled(x.rank(), 1);
  along[axis] = q.size();
  return part_of_way(lower, at(places.upper), reshape(places.share, along));
}

Tensor quantiles(const Tensor& x, const QuantileShares& q, std::optional<int> along, const QuantileOptions& options) {
  const bool of_all = !along || x.rank() == 0;
  const int axis = along ? normalize_axis_or_scalar("quantile", *along, x.rank()) : 0;
  const Tensor line = of_all ? reshape(x, {-1}) : x;
  check_choice("quantile", x, line.shape()[axis]);
  const Tensor y = quantiles_along(line, axis, q, options.interpolation);
  Shape shape;  // the quantiles first, the axis with size 1 or left out
  shape.push_back(q.size());
  for (int i = 0; i < x.rank(); ++i) {
    const bool reduced = of_all || i == axis;
    if (!reduced) shape.push_back(x.shape()[i]);
    if (reduced && options.keepdim) shape.push_back(1);
  }
  Axes order{axis};
  for (int i = 0; i < line.rank(); ++i) {
    if (i != axis) order.push_back(i);
  }
  return reshape(axis == 0 ? y : permute(y, order), shape);
}

}  // namespace

Tensor quantile(const Tensor& x, double q, std::optional<int> axis, const QuantileOptions& options) {
  return squeeze(quantiles(x, QuantileShares(q), axis, options), {0});
}

Tensor quantile(const Tensor& x, const Tensor& q, std::optional<int> axis, const QuantileOptions& options) {
  return quantiles(x, QuantileShares(q), axis, options);
}

}  // namespace xgrad
