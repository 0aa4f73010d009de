// Where quantiles lie among sorted elements, NaN or not. Private.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "statistics.h"

namespace xgrad {

/// The places of two sorted elements, counted from 0, and how far from the lower one a quantile lies.
struct QuantilePlace {
  std::int64_t lower, upper;
  double share;
};

/// The shares of elements that quantiles are asked for, checked.
class QuantileShares {
 public:
  /// One, told as a setting: its place is found in double. Throws ValueError unless 0 <= q <= 1.
  QuantileShares(const char* op, double q) : shares_{q} {
    if (!(q >= 0 && q <= 1)) fail<ValueError>(op, "q = ", q, " is not in [0, 1]");
  }
  /// A list of numbers, which 0.9 is perhaps not among: the product with the number of the last place is rounded as
  /// they are, so that those nearest to whole places, as 0.9 of 10, give these. Throws ShapeError, too, unless q has
  /// one axis.
  QuantileShares(const char* op, const Tensor& q) : rounded_(true) {
    if (q.rank() != 1) fail<ShapeError>(op, "q needs one axis, its shape is ", q.shape());
    for (const Real share : q.value()) {
      if (!(share >= 0 && share <= 1)) fail<ValueError>(op, "q = ", share, " is not in [0, 1]");
      shares_.push_back(static_cast<double>(share));
    }
  }

  std::int64_t size() const { return std::ssize(shares_); }

  /// The place of quantile i of n elements.
  QuantilePlace place(std::int64_t i, std::int64_t n, QuantileInterpolation interpolation) const {
    const double share = shares_[static_cast<std::size_t>(i)], last = static_cast<double>(n - 1);
    const double exact =
        rounded_ ? static_cast<double>(static_cast<Real>(share) * static_cast<Real>(last)) : share * last;
    const double place = std::min(exact, last);
    double lower = std::floor(place), upper = std::ceil(place);
    if (interpolation == QuantileInterpolation::nearest) lower = upper = std::nearbyint(place);
    if (interpolation == QuantileInterpolation::lower) upper = lower;
    if (interpolation == QuantileInterpolation::higher) lower = upper;
    const double between = interpolation == QuantileInterpolation::midpoint ? 0.5 : place - lower;
    return {static_cast<std::int64_t>(lower), static_cast<std::int64_t>(upper), lower < upper ? between : 0};
  }

 private:
  std::vector<double> shares_;
  bool rounded_ = false;
};

}  // namespace xgrad
