// Changing shapes. The rule of each operation is its inverse or adjoint; such pairs stand next to each other.
#include "shape.h"

#include <limits>
#include <utility>

#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../../core/runtime/parallel.h"
#include "../kernels/registers/copy.h"
#include "broadcast.h"

namespace xgrad {

// ---- the same elements in the same order

namespace {

Tensor reshape_as(const char* op, const Tensor& x, const Shape& shape) {
  if (detail::only_computes() && x.shape() == shape) return x;
  return record(op, x.value().reshaped(shape),
                wrt(x, [op, to = x.shape()](const Tensor& gy) { return reshape_as(op, gy, to); }));
}
template <class T>
BasicArray<T> reshape_as(const char*, const BasicArray<T>& x, const Shape& shape) {
  return x.reshaped(shape);
}

// x is a Tensor or an array.
template <class X>
X flattened(const X& x, int first, int last) {
  if (x.rank() == 0) return reshape_as("flatten", x, {1});
  first = normalize_axis("flatten", first, x.rank());
  last = normalize_axis("flatten", last, x.rank());
  if (first > last) fail<ValueError>("flatten", "axis ", first, " comes after axis ", last);
  Shape shape = x.shape(), merged;
  for (int axis = last; axis >= first; --axis) {
    merged.push_back(shape[axis]);
    shape.erase(axis);
  }
  shape.insert(first, merged.numel());
  return reshape_as("flatten", x, shape);
}

template <class X>
X unsqueezed(const X& x, int axis) {
  Shape shape = x.shape();
  shape.insert(normalize_axis("unsqueeze", axis, x.rank() + 1), 1);
  return reshape_as("unsqueeze", x, shape);
}

}  // namespace

XGRAD_FORMULA reshape_formula{"reshape", "y = x in another shape", "dL/dx = gy in the shape of x",
                              OperationKind::rearranges};
Tensor reshape(const Tensor& x, const Shape& shape) {
  return reshape_as("reshape", x, resolve_shape("reshape", x.shape(), shape));
}
template <class T>
BasicArray<T> reshape(const BasicArray<T>& x, const Shape& shape) {
  return x.reshaped(shape);
}

XGRAD_FORMULA flatten_formula{"flatten", "y = x in another shape", "dL/dx = gy in the shape of x",
                              OperationKind::rearranges};
Tensor flatten(const Tensor& x, int first, int last) { return flattened(x, first, last); }
template <class T>
BasicArray<T> flatten(const BasicArray<T>& x, int first, int last) {
  return flattened(x, first, last);
}

XGRAD_FORMULA unflatten_formula{"unflatten", "y = x in another shape", "dL/dx = gy in the shape of x"};
Tensor unflatten(const Tensor& x, int axis, const Shape& sizes) {
  axis = normalize_axis("unflatten", axis, x.rank());
  const Shape parts = resolve_shape("unflatten", {x.shape()[axis]}, sizes);
  Shape shape;
  for (int i = 0; i < axis; ++i) shape.push_back(x.shape()[i]);
  for (const std::int64_t size : parts) shape.push_back(size);
  for (int i = axis + 1; i < x.rank(); ++i) shape.push_back(x.shape()[i]);
  return reshape_as("unflatten", x, shape);
}

XGRAD_FORMULA squeeze_formula{"squeeze", "y = x in another shape", "dL/dx = gy in the shape of x",
                              OperationKind::rearranges};
Tensor squeeze(const Tensor& x) {
  Shape shape;
  for (const std::int64_t size : x.shape()) {
    if (size != 1) shape.push_back(size);
  }
  return reshape_as("squeeze", x, shape);
}
Tensor squeeze(const Tensor& x, const Axes& axes) {
  const Axes dropped = normalize_axes("squeeze", axes, x.rank());
  Shape shape = x.shape();
  for (int i = dropped.size(); i-- > 0;) {
    if (shape[dropped[i]] != 1)
      fail<ShapeError>("squeeze", "axis ", dropped[i], " of ", x.shape(), " is not of size 1");
    shape.erase(dropped[i]);
  }
  return reshape_as("squeeze", x, shape);
}

XGRAD_FORMULA unsqueeze_formula{"unsqueeze", "y = x in another shape", "dL/dx = gy in the shape of x",
                                OperationKind::rearranges};
Tensor unsqueeze(const Tensor& x, int axis) { return unsqueezed(x, axis); }
template <class T>
BasicArray<T> unsqueeze(const BasicArray<T>& x, int axis) {
  return unsqueezed(x, axis);
}

// ---- the axes in another order

namespace {

// `axes` counted from 0.
Axes permutation(const Shape& shape, const Axes& axes) {
  const int rank = shape.rank();
  bool used[max_rank] = {};
  Axes order;
  for (const int axis : axes) {
    if (axis < -rank || axis >= rank) break;
    const int from_start = axis < 0 ? axis + rank : axis;
    if (std::exchange(used[from_start], true)) break;
    order.push_back(from_start);
  }
  if (order.size() != rank || axes.size() != rank) {
    fail<ValueError>("permute", axes, " is not a permutation of the axes of ", shape);
  }
  return order;
}

Axes inverse(const Axes& axes) {
  Axes result = axes;
  for (int i = 0; i < axes.size(); ++i) result[axes[i]] = i;
  return result;
}

template <class T>
BasicArray<T> permuted(const BasicArray<T>& x, const Axes& order) {
  const Strides strides = strides_of(x.shape());
  Part part;
  for (const int axis : order) {
    part.sizes.push_back(x.shape()[axis]);
    part.strides.push_back(strides[axis]);
  }
  return copy_part(x, part);
}

}  // namespace

template <class T>
BasicArray<T> permute(const BasicArray<T>& x, const Axes& axes) {
  return permuted(x, permutation(x.shape(), axes));
}

XGRAD_FORMULA permute_formula{"permute", "y = x with its axes in another order",
                              "dL/dx = gy with its axes in their first order", OperationKind::rearranges};
Tensor permute(const Tensor& x, const Axes& axes) {
  const Axes order = permutation(x.shape(), axes);
  return record("permute", permuted(x.value(), order),
                wrt(x, [back = inverse(order)](const Tensor& gy) { return permute(gy, back); }),
                attribute("order", order));
}

Tensor movedim(const Tensor& x, const Axes& from, const Axes& to) {
  const int rank = x.rank();
  normalize_axes("movedim", from, rank);  // or a ValueError for one out of range or named twice
  normalize_axes("movedim", to, rank);
  if (from.size() != to.size()) fail<ValueError>("movedim", "axes ", from, " to ", to, ": the lists differ in length");
  Axes order = Axes::filled(rank, -1), others = all_axes(rank);
  for (int i = 0; i < from.size(); ++i) {
    const int axis = normalize_axis("movedim", from[i], rank);
    order[normalize_axis("movedim", to[i], rank)] = axis;
    others[axis] = -1;
  }
  const int* other = others.begin();
  for (int& axis : order) {
    if (axis != -1) continue;
    while (*other == -1) ++other;
    axis = *other++;
  }
  return permute(x, order);
}

template <class T>
BasicArray<T> transpose(const BasicArray<T>& x, int axis_a, int axis_b) {
  Axes order = all_axes(x.rank());
  std::swap(order[normalize_axis("transpose", axis_a, x.rank())], order[normalize_axis("transpose", axis_b, x.rank())]);
  return permuted(x, order);
}

XGRAD_FORMULA transpose_formula{"transpose", "y = x^T", "dL/dx = gy^T", OperationKind::rearranges};
Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  return record("transpose", transpose(x.value(), axis_a, axis_b),
                wrt(x, [axis_a, axis_b](const Tensor& gy) { return transpose(gy, axis_a, axis_b); }),
                attribute("axes", Axes{axis_a, axis_b}));
}

template <class T>
BasicArray<T> transpose(const BasicArray<T>& x) {
  if (x.rank() < 2) fail<ShapeError>("transpose", "needs at least 2 axes, shape is ", x.shape());
  return transpose(x, -2, -1);
}

Tensor transpose(const Tensor& x) {
  return record("transpose", transpose(x.value()), wrt(x, [](const Tensor& gy) { return transpose(gy); }));
}

// ---- flip and roll, whose inverses are of the same kind

XGRAD_FORMULA flip_formula{"flip", "y_i = x_(n - 1 - i) along the axes", "dL/dx_i = gy_(n - 1 - i)"};
Tensor flip(const Tensor& x, const Axes& axes) {
  Part part = full_part(x.shape());
  for (const int axis : normalize_axes("flip", axes, x.rank())) {
    part.offset += std::max<std::int64_t>(0, part.sizes[axis] - 1) * part.strides[axis];
    part.strides[axis] = -part.strides[axis];
  }
  return record("flip", copy_part(x.value(), part), wrt(x, [axes](const Tensor& gy) { return flip(gy, axes); }),
                attribute("axes", axes));
}

namespace {

// Copies the block of `sizes` from one corner to another, axis by axis: along a rolled axis it falls into two pieces.
void roll_copy(const Shape& shape, const Shape& shifts, const Strides& strides, int axis, Shape& sizes, Real* to,
               const Real* from) {
  if (axis == shape.rank()) return copy_strided(sizes, to, strides, from, strides);
  const std::int64_t size = shape[axis], shift = shifts[axis], stride = strides[axis];
  sizes[axis] = size - shift;
  roll_copy(shape, shifts, strides, axis + 1, sizes, to + shift * stride, from);
  if (shift == 0) return;
  sizes[axis] = shift;
  roll_copy(shape, shifts, strides, axis + 1, sizes, to, from + (size - shift) * stride);
}

// How far each axis of x is moved forwards, in 0 ... size - 1.
Shape forward_shifts(const Shape& x, const ShortList<std::int64_t>& shifts, const Axes& axes) {
  if (shifts.size() != axes.size()) fail<ValueError>("roll", shifts.size(), " shifts for ", axes.size(), " axes");
  Shape forward = Shape::filled(x.rank(), 0);
  for (int i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis("roll", axes[i], x.rank());
    const std::int64_t size = std::max<std::int64_t>(1, x[axis]);
    forward[axis] = ((forward[axis] + shifts[i] % size) % size + size) % size;
  }
  return forward;
}

XGRAD_FORMULA roll_formula{"roll", "y_i = x_(i - shift), indices modulo n", "dL/dx_i = gy_(i + shift)"};
Tensor rolled(const Tensor& x, const Shape& forward) {
  Array result(x.shape());
  Shape sizes = x.shape();
  roll_copy(x.shape(), forward, strides_of(x.shape()), 0, sizes, result.mutable_data(), x.value().data());
  return record("roll", std::move(result),
                wrt(x,
                    [forward](const Tensor& gy) {
                      Shape back = forward;
                      for (int i = 0; i < back.rank(); ++i) back[i] = back[i] == 0 ? 0 : gy.shape()[i] - back[i];
                      return rolled(gy, back);
                    }),
                attribute("shifts", forward));
}

}  // namespace

Tensor roll(const Tensor& x, const ShortList<std::int64_t>& shifts, const Axes& axes) {
  return rolled(x, forward_shifts(x.shape(), shifts, axes));
}

Tensor roll(const Tensor& x, std::int64_t shift, int axis) {
  return roll(x, ShortList<std::int64_t>{shift}, Axes{axis});
}

// ---- repeat_interleave and tile, whose adjoints are sums

namespace {

// Every piece of `length` elements of x `count` times in a row.
Tensor repeat_pieces(const char* op, const Tensor& x, std::int64_t length, std::int64_t count, const Shape& shape) {
  const std::int64_t pieces = length == 0 ? 0 : x.size() / length;
  Array repeated(shape);
  const Shape sizes{pieces, x.size() == 0 ? 1 : count, length};  // an empty x stays empty for any count
  copy_strided(sizes, repeated.mutable_data(), strides_of(sizes), x.value().data(), {length, 0, 1});
  return record(op, std::move(repeated), wrt(x, [sizes, to = x.shape()](const Tensor& gy) {
                  return reshape(sum_to(reshape(gy, sizes), {sizes[0], 1, sizes[2]}), to);
                }));
}

}  // namespace

XGRAD_FORMULA repeat_interleave_formula{"repeat_interleave", "y = x_0 count times, x_1 count times, ...",
                                        "dL/dx_j = sum of gy_i over its copies"};
Tensor repeat_interleave(const Tensor& x, std::int64_t count, int axis) {
  axis = normalize_axis("repeat_interleave", axis, x.rank());
  if (count < 0) fail<ValueError>("repeat_interleave", "negative count ", count);
  Shape shape = x.shape();
  shape[axis] = checked_multiply("repeat_interleave", shape[axis], count);
  return repeat_pieces("repeat_interleave", x, strides_of(x.shape())[axis], count, shape);
}

XGRAD_FORMULA tile_formula{"tile", "y_i = x_(i modulo n)", "dL/dx_j = sum of gy_i over its copies"};
Tensor tile(const Tensor& x, const Shape& counts) {
  for (const std::int64_t count : counts) {
    if (count < 0) fail<ValueError>("tile", "negative count in ", counts);
  }
  Shape shape = x.shape();
  while (shape.rank() < counts.rank()) shape.insert(0, 1);
  Tensor y = shape == x.shape() ? x : reshape_as("tile", x, shape);
  for (int i = 1; i <= counts.rank(); ++i) {  // from the last axis: the small pieces first
    const std::int64_t count = counts[counts.rank() - i];
    const int axis = shape.rank() - i;
    if (count == 1) continue;
    const std::int64_t length = shape[axis] * strides_of(shape)[axis];
    shape[axis] = checked_multiply("tile", shape[axis], count);
    y = repeat_pieces("tile", y, length, count, shape);
  }
  return same(x, y) ? reshape_as("tile", x, shape) : y;
}

// ---- grids

Tensors meshgrid(const Tensors& lists, const MeshgridOptions& options) {
  if (lists.empty()) fail<ValueError>("meshgrid", "needs at least 1 list");
  Shape shape;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    if (lists[i].rank() > 1) fail<ShapeError>("meshgrid", "list ", i, " has shape ", lists[i].shape());
    shape.push_back(lists[i].size());
  }
  const bool exchanged = options.indexing == MeshIndexing::xy && lists.size() > 1;
  if (exchanged) std::swap(shape[0], shape[1]);
  Tensors grids;
  for (int i = 0; i < shape.rank(); ++i) {
    Shape along = Shape::filled(shape.rank(), 1);
    const Tensor& list = lists[static_cast<std::size_t>(i)];
    along[exchanged && i < 2 ? 1 - i : i] = list.size();
    grids.push_back(broadcast_to(reshape(list, along), shape));
  }
  return grids;
}

// ---- triangles, self-adjoint

namespace {

// Keeps x_ij where low <= j - i <= high.
template <class T>
BasicArray<T> band(const char* op, const BasicArray<T>& x, std::int64_t low, std::int64_t high) {
  if (x.rank() < 2) fail<ShapeError>(op, "needs at least 2 axes, shape is ", x.shape());
  BasicArray<T> result(x.shape());
  if (x.size() == 0) return result;
  const std::int64_t rows = x.dim(-2), columns = x.dim(-1);
  low = std::clamp(low, -rows, columns);
  high = std::clamp(high, -rows, columns);
  const T* in = x.data();
  T* out = result.mutable_data();
  const std::int64_t grain = std::max<std::int64_t>(1, copy_block / columns);
  parallel_for(x.size() / columns, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t i = row % rows, start = row * columns;
      const std::int64_t first = std::clamp<std::int64_t>(i + low, 0, columns);
      const std::int64_t last = std::clamp<std::int64_t>(i + high + 1, 0, columns);
      std::fill_n(out + start, first, T(0));
      std::copy_n(in + start + first, last - first, out + start + first);
      std::fill_n(out + start + last, columns - last, T(0));
    }
  });
  return result;
}

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

}  // namespace

XGRAD_FORMULA tril_formula{"tril", "y_ij = x_ij if j <= i + offset, else 0", "dL/dx = tril(gy)"};
Tensor tril(const Tensor& x, std::int64_t offset) {
  return record("tril", band("tril", x.value(), -no_limit, offset),
                wrt(x, [offset](const Tensor& gy) { return tril(gy, offset); }),
                attribute("offset", unless(0, offset)));
}
Mask tril(const Mask& x, std::int64_t offset) { return band("tril", x, -no_limit, offset); }

XGRAD_FORMULA triu_formula{"triu", "y_ij = x_ij if j >= i + offset, else 0", "dL/dx = triu(gy)"};
Tensor triu(const Tensor& x, std::int64_t offset) {
  return record("triu", band("triu", x.value(), offset, no_limit),
                wrt(x, [offset](const Tensor& gy) { return triu(gy, offset); }),
                attribute("offset", unless(0, offset)));
}
Mask triu(const Mask& x, std::int64_t offset) { return band("triu", x, offset, no_limit); }

// ---- for plain arrays

#define XGRAD_INSTANTIATE(T)                                          \
  template BasicArray<T> reshape(const BasicArray<T>&, const Shape&); \
  template BasicArray<T> flatten(const BasicArray<T>&, int, int);     \
  template BasicArray<T> unsqueeze(const BasicArray<T>&, int);        \
  template BasicArray<T> permute(const BasicArray<T>&, const Axes&);  \
  template BasicArray<T> transpose(const BasicArray<T>&, int, int);   \
  template BasicArray<T> transpose(const BasicArray<T>&);
XGRAD_INSTANTIATE(Real)
XGRAD_INSTANTIATE(std::int64_t)
XGRAD_INSTANTIATE(bool)
#undef XGRAD_INSTANTIATE

}  // namespace xgrad
