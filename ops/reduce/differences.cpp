// Integrals and derivatives by differences: sums of neighbours with weights.
#include "differences.h"

#include <cmath>

#include "../arrange/join.h"
#include "../arrange/shape.h"
#include "../arrange/slice.h"
#include "../elementwise/arithmetic.h"
#include "../elementwise/compare.h"
#include "../elementwise/elementwise.h"
#include "scan.h"

namespace xgrad {
namespace {

// x along the axis without its first `before` and last `after` positions.
Tensor inner(const Tensor& x, int axis, std::int64_t before, std::int64_t after) {
  return narrow(x, axis, before, std::max<std::int64_t>(0, x.shape()[axis] - before - after));
}

// The areas between neighbouring points, one less than the points.
Tensor areas(const Tensor& y, int axis, Real dx) {
  if (y.shape()[axis] == 0) return y;
  return (inner(y, axis, 1, 0) + inner(y, axis, 0, 1)) * (dx / 2);
}

Tensor areas(const char* op, const Tensor& y, int axis, const Tensor& x) {
  const std::int64_t n = y.shape()[axis];
  Tensor points = x;
  if (x.rank() == 1) {
    Shape along = Shape::filled(y.rank() - axis, 1);
    along[0] = x.size();
    points = reshape(x, along);
  }
  const int place = axis - y.rank();  // of the axis, from the end
  if (points.rank() < -place || points.rank() > y.rank() || points.dim(place) != n) {
    fail<ShapeError>(op, "points ", x.shape(), " for axis ", axis, " of ", y.shape());
  }
  broadcast_shapes(op, points.shape(), y.shape());
  if (n == 0) return y;
  const int of_points = points.rank() + place;
  const Tensor steps = inner(points, of_points, 1, 0) - inner(points, of_points, 0, 1);
  return (inner(y, axis, 1, 0) + inner(y, axis, 0, 1)) * (steps / 2);
}

// Weights of three neighbours for each of `count` positions along the axis.
struct Weights {
  Tensor before, at, after;
};

// y = the weighted sum of three neighbours. A neighbour of weight 0, as in the middle of equal steps, is not read: 0
// times infinity is 0.
Tensor neighbours(const Tensor& x, int axis, std::int64_t first, std::int64_t count, const Weights& weights) {
  const auto part = [&](std::int64_t i, const Tensor& weight) {
    return where(weight == 0, 0, narrow(x, axis, first + i, count)) * weight;
  };
  return part(0, weights.before) + part(1, weights.at) + part(2, weights.after);
}

// The slope at t of the parabola through (t0, .), (t1, .), (t2, .), as weights of the three values.
std::array<double, 3> parabola_slope(double t, double t0, double t1, double t2) {
  return {(2 * t - t1 - t2) / ((t0 - t1) * (t0 - t2)), (2 * t - t0 - t2) / ((t1 - t0) * (t1 - t2)),
          (2 * t - t0 - t1) / ((t2 - t0) * (t2 - t1))};
}

// The derivative along one axis; `t` are the points.
Tensor slopes(const Tensor& x, int axis, const std::vector<double>& t, int edge_order) {
  const std::int64_t n = x.shape()[axis];
  const auto along = [&](std::int64_t count) {
    Shape shape = Shape::filled(x.rank() - axis, 1);
    shape[0] = count;
    return shape;
  };
  // The weights of the parabolas through points first ... first + 2, each at point `at(first)`.
  const auto weights = [&](std::int64_t first, std::int64_t count, std::int64_t at) {
    Array parts[3] = {Array(along(count)), Array(along(count)), Array(along(count))};
    for (std::int64_t i = 0; i < count; ++i) {
      const auto point = [&](std::int64_t k) { return t[static_cast<std::size_t>(first + i + k)]; };
      const auto of = parabola_slope(point(at), point(0), point(1), point(2));
      for (std::size_t k = 0; k < 3; ++k) parts[k].mutable_data()[i] = static_cast<Real>(of[k]);
    }
    return Weights{parts[0], parts[1], parts[2]};
  };
  const auto edge = [&](std::int64_t first, std::int64_t at) {
    if (edge_order == 2) return neighbours(x, axis, first, 1, weights(first, 1, at));
    first += at / 2;  // of two points
    const double step = t[static_cast<std::size_t>(first + 1)] - t[static_cast<std::size_t>(first)];
    return (narrow(x, axis, first + 1, 1) - narrow(x, axis, first, 1)) / static_cast<Real>(step);
  };
  Tensors parts{edge(0, 0)};
  if (n > 2) parts.push_back(neighbours(x, axis, 0, n - 2, weights(0, n - 2, 1)));
  parts.push_back(edge(n >= 3 ? n - 3 : -1, 2));
  return concat(parts, axis);
}

void check_edges(const Tensor& x, const Axes& axes, int edge_order) {
  if (edge_order != 1 && edge_order != 2) fail<ValueError>("gradient", "edge_order ", edge_order, " is not 1 or 2");
  for (const int axis : axes) {
    if (x.shape()[axis] <= edge_order) {
      fail<ValueError>("gradient", "axis ", axis, " of ", x.shape(), " needs more than ", edge_order, " points");
    }
  }
}

}  // namespace

Tensor trapezoid(const Tensor& y, const TrapezoidOptions& options) {
  const int axis = normalize_axis("trapezoid", options.axis, y.rank());
  return sum(areas(y, axis, static_cast<Real>(options.dx)), {.axis = axis});
}

Tensor trapezoid(const Tensor& y, const Tensor& x, const TrapezoidOptions& options) {
  const int axis = normalize_axis("trapezoid", options.axis, y.rank());
  return sum(areas("trapezoid", y, axis, x), {.axis = axis});
}

Tensor cumulative_trapezoid(const Tensor& y, const TrapezoidOptions& options) {
  const int axis = normalize_axis("cumulative_trapezoid", options.axis, y.rank());
  return cumsum(areas(y, axis, static_cast<Real>(options.dx)), axis);
}

Tensor cumulative_trapezoid(const Tensor& y, const Tensor& x, const TrapezoidOptions& options) {
  const int axis = normalize_axis("cumulative_trapezoid", options.axis, y.rank());
  return cumsum(areas("cumulative_trapezoid", y, axis, x), axis);
}

Tensors gradient(const Tensor& x, double given, const DifferenceOptions& options) {
  const Axes axes = options.axis.in_order("gradient", x.rank());
  check_edges(x, axes, options.edge_order);
  const Real spacing = static_cast<Real>(given);
  if (!(std::isfinite(spacing) && spacing != 0)) {
    fail<ValueError>("gradient", "spacing ", spacing, " is 0 or not finite");
  }
  Tensors all;
  for (const int axis : axes) {
    std::vector<double> points(static_cast<std::size_t>(x.shape()[axis]));
    for (std::size_t i = 0; i < points.size(); ++i) points[i] = static_cast<double>(i);
    all.push_back(slopes(x, axis, points, options.edge_order) / spacing);
  }
  return all;
}

Tensors gradient(const Tensor& x, const Tensors& points, const DifferenceOptions& options) {
  const Axes axes = options.axis.in_order("gradient", x.rank());
  check_edges(x, axes, options.edge_order);
  if (std::cmp_not_equal(points.size(), axes.size())) {
    fail<ValueError>("gradient", points.size(), " lists of points for ", axes.size(), " axes");
  }
  std::vector<std::vector<double>> lists;
  for (int i = 0; i < axes.size(); ++i) {
    const Tensor& list = points[static_cast<std::size_t>(i)];
    if (list.shape() != Shape{x.shape()[axes[i]]}) {
      fail<ShapeError>("gradient", "points ", list.shape(), " for axis ", axes[i], " of ", x.shape());
    }
    lists.emplace_back(list.value().begin(), list.value().end());
    const std::vector<double>& t = lists.back();
    for (std::size_t k = 1; k < t.size(); ++k) {
      if (!(std::isfinite(t[k] - t[k - 1]) && t[k] != t[k - 1] && (t[k] > t[k - 1]) == (t[1] > t[0]))) {
        fail<ValueError>("gradient", "the points neither rise nor fall: ", t[k - 1], " before ", t[k]);
      }
    }
  }
  Tensors all;
  for (int i = 0; i < axes.size(); ++i) {
    all.push_back(slopes(x, axes[i], lists[static_cast<std::size_t>(i)], options.edge_order));
  }
  return all;
}

}  // namespace xgrad
