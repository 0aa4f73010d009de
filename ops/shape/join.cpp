// Joining tensors. The gradients are parts.
#include "join.h"

#include <algorithm>
#include <string>
#include <vector>

#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../kernels/registers/copy.h"
#include "shape.h"
#include "slice.h"

namespace xgrad {

namespace {

const Array& array_of(const Tensor& x) { return detail::Engine::value(x); }
template <class T>
const BasicArray<T>& array_of(const BasicArray<T>& x) {
  return x;
}

template <class T>
struct Join {
  Shape shape;  // of the result
  int axis = 0;
  std::vector<const BasicArray<T>*> arrays = {};
  std::vector<std::int64_t> starts = {0};  // where each array begins along the axis, and the end

  void add(const auto& x, std::int64_t length) {
    arrays.push_back(&array_of(x));
    starts.push_back(checked_add("concat", starts.back(), length));
  }
};

// For errors: the shapes of a list, of which two are named already.
std::string all_shapes(const auto& xs) {
  constexpr std::size_t most = 8;
  if (xs.size() <= 2) return {};
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < std::min(xs.size(), most); ++i) shapes.push_back(xs[i].shape());
  return str("; all inputs: ", shapes, xs.size() > most ? str(" and ", xs.size() - most, " more") : "");
}

// Along an existing axis, or stacked along a new one.
template <class T, class List>
Join<T> join_of(const char* op, const List& xs, int axis, bool stacked) {
  if (xs.empty()) fail<ValueError>(op, "needs at least 1 tensor");
  Join<T> join{.shape = xs[0].shape(), .axis = normalize_axis(op, axis, xs[0].rank() + stacked)};
  for (const auto& x : xs) {
    Shape expected = join.shape;
    if (!stacked && x.rank() == expected.rank()) expected[join.axis] = x.shape()[join.axis];
    if (x.shape() != expected) {
      fail<ShapeError>(op, "input ", join.arrays.size(), " has shape ", x.shape(), ", input 0 has ", xs[0].shape(),
                       stacked ? "" : str(", axis ", join.axis), all_shapes(xs));
    }
    join.add(x, stacked ? 1 : x.shape()[join.axis]);
  }
  if (stacked) join.shape.insert(join.axis, 0);
  join.shape[join.axis] = join.starts.back();
  return join;
}

template <class T>
BasicArray<T> joined(const Join<T>& join) {
  BasicArray<T> result(join.shape);
  const Strides strides = strides_of(join.shape);
  T* out = result.mutable_data();
  for (std::size_t i = 0; i < join.arrays.size(); ++i) {
    Shape part = join.shape;
    part[join.axis] = join.starts[i + 1] - join.starts[i];
    copy_strided(part, out + join.starts[i] * strides[join.axis], strides, join.arrays[i]->data(), strides_of(part));
  }
  return result;
}

// The rule of input i, apart from its change of shape.
template <class T>
auto part_of_join(const Join<T>& join, std::size_t i) {
  return [axis = join.axis, start = join.starts[i], length = join.starts[i + 1] - join.starts[i]](const Tensor& gy) {
    return narrow(gy, axis, start, length);
  };
}

}  // namespace

template <class T>
BasicArray<T> concat(const std::vector<BasicArray<T>>& xs, int axis) {
  return joined(join_of<T>("concat", xs, axis, false));
}

XGRAD_FORMULA concat_formula{"concat", "y = (x_1, x_2, ...) along the axis", "dL/dx_i = its part of gy"};
Tensor concat(const Tensors& xs, int axis) {
  const auto join = join_of<Real>("concat", xs, axis, false);
  return record("concat", joined(join), wrt_each(xs, [&](std::size_t i) { return part_of_join(join, i); }),
                attribute("axis", join.axis));
}

template <class T>
BasicArray<T> stack(const std::vector<BasicArray<T>>& xs, int axis) {
  return joined(join_of<T>("stack", xs, axis, true));
}

XGRAD_FORMULA stack_formula{"stack", "y_i = x_i along a new axis", "dL/dx_i = gy_i"};
Tensor stack(const Tensors& xs, int axis) {
  const auto join = join_of<Real>("stack", xs, axis, true);
  return record("stack", joined(join),
                wrt_each(xs,
                         [&](std::size_t i) {
                           return [part = part_of_join(join, i), axis = join.axis](const Tensor& gy) {
                             return squeeze(part(gy), {axis});
                           };
                         }),
                attribute("axis", join.axis));
}

// ---- for plain arrays

#define XGRAD_INSTANTIATE(T)                                             \
  template BasicArray<T> concat(const std::vector<BasicArray<T>>&, int); \
  template BasicArray<T> stack(const std::vector<BasicArray<T>>&, int);
XGRAD_INSTANTIATE(Real)
XGRAD_INSTANTIATE(std::int64_t)
XGRAD_INSTANTIATE(bool)
#undef XGRAD_INSTANTIATE

}  // namespace xgrad
