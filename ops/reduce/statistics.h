// Statistics by order: medians, quantiles, the k-th smallest, the most frequent. NaN counts as larger than every
// number, unless another thing is said. All throw ValueError for an axis out of range and where there is nothing to
// choose from; of a scalar, axes 0 and -1 are its one element, as in PyTorch. Gradients flow to the elements that were
// chosen.
#pragma once

#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

/// The median of all elements, of an even number the lower of the two in the middle; NaN if there is one. Equal
/// elements share the gradient evenly.
Tensor median(const Tensor& x);
/// The same along an axis, with its position. The whole gradient goes to that element.
ValuesAndIndices median(const Tensor& x, int axis, const KeepdimOptions& options = {});

/// The k-th smallest element along an axis, k from 1, and its position. Throws ValueError unless 1 <= k <= size.
ValuesAndIndices kthvalue(const Tensor& x, std::int64_t k, int axis = -1, const KeepdimOptions& options = {});

/// The most frequent element along an axis, the smallest of equally frequent ones, and the last position where it
/// stands.
ValuesAndIndices mode(const Tensor& x, int axis = -1, const KeepdimOptions& options = {});

/// What quantile does where the place q (n - 1) lies between two elements a and b, a share t of the way.
enum class QuantileInterpolation {
  linear,    ///< a + t (b - a)
  lower,     ///< a
  higher,    ///< b
  midpoint,  ///< (a + b) / 2
  nearest    ///< the nearer one; in the middle that at the even place
};
struct QuantileOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  std::optional<int> axis = {};  ///< of all elements, if nothing is said
  bool keepdim = false;
  QuantileInterpolation interpolation = QuantileInterpolation::linear;
};
/// What is left to say when the axis has been said: quantile(x, 0.5, 1, {.keepdim = true}).
struct QuantileAxisOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  bool keepdim = false;
  QuantileInterpolation interpolation = QuantileInterpolation::linear;
};
/// The number below which a share q of the elements lies: that at place q (n - 1) of the sorted ones, counted from 0;
/// NaN if there is one. Throws ValueError unless 0 <= q <= 1.
Tensor quantile(const Tensor& x, double q, const QuantileOptions& options = {});
Tensor quantile(const Tensor& x, double q, int axis, const QuantileAxisOptions& options = {});
/// For each of a list of shares, along a new first axis; q (n - 1) is rounded to the precision of the list, as in
/// PyTorch. No gradient flows to q. Throws ShapeError, too, unless q has one axis.
Tensor quantile(const Tensor& x, const Tensor& q, const QuantileOptions& options = {});
Tensor quantile(const Tensor& x, const Tensor& q, int axis, const QuantileAxisOptions& options = {});

namespace detail {

// All options of a quantile along an axis.
inline QuantileOptions along(int axis, const QuantileAxisOptions& options) {
  return {.axis = axis, .keepdim = options.keepdim, .interpolation = options.interpolation};
}

// Throws ValueError if `count` of x's elements is 0.
void check_choice(const char* op, const Tensor& x, std::int64_t count);

// Between which places of sorted elements, counted from 0, quantiles lie, and how far from the lower one:
// (quantiles, lines).
struct QuantilePlaces {
  Index lower, upper;
  Array share;
};

// What lies a share of the way from `lower` to `upper`.
Tensor part_of_way(const Tensor& lower, const Tensor& upper, const Tensor& share);

// The shares of elements that quantiles are asked for, checked.
class QuantileShares {
 public:
  // One, told as a setting: its place is found in double. Throws ValueError unless 0 <= q <= 1.
  QuantileShares(const char* op, double q);
  // A list of numbers, which 0.9 is perhaps not among: the product with the number of the last place is rounded as they
  // are, so that those nearest to whole places, as 0.9 of 10, give these. Throws ShapeError, too, unless q has one
  // axis.
  QuantileShares(const char* op, const Tensor& q);

  std::int64_t size() const { return std::ssize(shares_); }
  // The places in lines of so many elements.
  QuantilePlaces places(std::span<const std::int64_t> lines, QuantileInterpolation interpolation) const;

 private:
  std::vector<double> shares_;
  bool rounded_ = false;
};

}  // namespace detail

}  // namespace xgrad
