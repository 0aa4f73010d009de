// Integrals and derivatives of functions known at some points.
#pragma once

#include "../../core/graph/tensor.h"
#include "reduce.h"

namespace xgrad {

struct TrapezoidOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  double dx = 1;  ///< from one point to the next, where the points are not given
  int axis = -1;
};
/// The options other than the axis: trapezoid(y, 0, {.dx = 0.5}).
struct TrapezoidAxisOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  double dx = 1;
};
/// The integral of y along an axis by the trapezoidal rule: sum of (y_i + y_(i + 1)) dx/2. Throws ValueError for an
/// axis out of range.
Tensor trapezoid(const Tensor& y, const TrapezoidOptions& options = {});
Tensor trapezoid(const Tensor& y, std::same_as<int> auto axis, const TrapezoidAxisOptions& options = {}) {
  return trapezoid(y, {.dx = options.dx, .axis = axis});
}
/// The same with the points: dx_i = x_(i + 1) - x_i. x is a list as long as the axis, or broadcasts with y. Throws
/// ShapeError, too.
Tensor trapezoid(const Tensor& y, const Tensor& x, const TrapezoidOptions& options = {});
inline Tensor trapezoid(const Tensor& y, const Tensor& x, int axis) { return trapezoid(y, x, {.axis = axis}); }
/// The integrals up to each point but the first: one position less along the axis. These throw likewise.
Tensor cumulative_trapezoid(const Tensor& y, const TrapezoidOptions& options = {});
Tensor cumulative_trapezoid(const Tensor& y, std::same_as<int> auto axis, const TrapezoidAxisOptions& options = {}) {
  return cumulative_trapezoid(y, {.dx = options.dx, .axis = axis});
}
Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, const TrapezoidOptions& options = {});
inline Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, int axis) {
  return cumulative_trapezoid(y, x, {.axis = axis});
}

/// The options of gradient().
struct DifferenceOptions {
  [[no_unique_address]] detail::ByName by_name = detail::ByName();
  AxisSet axis{};      ///< all by default
  int edge_order = 1;  ///< at both ends: 1, the difference of two points; 2, the slope of a parabola through three
};
/// The derivatives along each of the axes, in their order, of the shape of x: (x_(i + 1) - x_(i - 1))/(2 spacing)
/// inside. Throws ValueError for an axis out of range or repeated, a spacing that is 0 or not finite, another
/// edge_order, and an axis with no more than edge_order points.
Tensors gradient(const Tensor& x, double spacing = 1, const DifferenceOptions& options = {});
/// The same with the points along each of the axes, in their order, lists that rise or fall; inside, the slope of the
/// parabola through three points, which is exact for parabolas. No gradient flows to the points. Throws ShapeError,
/// too, for a list that is not as long as its axis, ValueError for points that are equal.
Tensors gradient(const Tensor& x, const Tensors& points, const DifferenceOptions& options = {});

}  // namespace xgrad
