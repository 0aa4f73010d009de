// Changing shapes. Every rule is the operation that undoes its own; such pairs stand next to each other.
#include "shape.h"

#include <limits>
#include <utility>

#include "../core/checked.h"
#include "../core/parallel.h"
#include "../core/record.h"
#include "kernels/copy.h"
#include "reduce.h"

namespace xgrad {

// ---- the same elements in the same order

namespace {

Tensor reshape_as(const char* op, const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record(op, x.value().reshaped(shape),
                wrt(x, [op, to = x.shape()](const Tensor& gy) { return reshape_as(op, gy, to); }));
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
  return reshape_as("reshape", x, resolve_shape("reshape", x.size(), shape));
}

Tensor flatten(const Tensor& x, int first, int last) {
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

Tensor unsqueeze(const Tensor& x, int axis) {
  Shape shape = x.shape();
  shape.insert(normalize_axis("unsqueeze", axis, x.rank() + 1), 1);
  return reshape_as("unsqueeze", x, shape);
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

Tensor permute(const Tensor& x, const Axes& axes) {
  const Axes order = permutation(x.shape(), axes);
  return record("permute", permuted(x.value(), order),
                wrt(x, [back = inverse(order)](const Tensor& gy) { return permute(gy, back); }));
}

template <class T>
BasicArray<T> transpose(const BasicArray<T>& x, int axis_a, int axis_b) {
  Axes order = all_axes(x.rank());
  std::swap(order[normalize_axis("transpose", axis_a, x.rank())], order[normalize_axis("transpose", axis_b, x.rank())]);
  return permuted(x, order);
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  return record("transpose", transpose(x.value(), axis_a, axis_b),
                wrt(x, [axis_a, axis_b](const Tensor& gy) { return transpose(gy, axis_a, axis_b); }));
}

template <class T>
BasicArray<T> transpose(const BasicArray<T>& x) {
  if (x.rank() < 2) fail<ShapeError>("transpose", "needs at least 2 axes, shape is ", x.shape());
  return transpose(x, -2, -1);
}

Tensor transpose(const Tensor& x) {
  return record("transpose", transpose(x.value()), wrt(x, [](const Tensor& gy) { return transpose(gy); }));
}

// ---- broadcast_to, dual of sum_to

template <class T>
BasicArray<T> broadcast_to(const BasicArray<T>& x, const Shape& shape) {
  Shape to = shape;
  for (int i = 1; i <= std::min(x.rank(), to.rank()); ++i) {
    if (to[to.rank() - i] == -1) to[to.rank() - i] = x.shape()[x.rank() - i];
  }
  if (!broadcasts_to(x.shape(), to)) fail<ShapeError>("broadcast_to", x.shape(), " cannot become ", shape);
  return copy_part(x, {.sizes = to, .strides = broadcast_strides(x.shape(), to)});
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  return record("broadcast_to", broadcast_to(x.value(), shape),
                wrt(x, [from = x.shape()](const Tensor& gy) { return sum_to(gy, from); }));
}

// ---- slice and place, duals; narrow, split, chunk, pad: the same with other ways to name the part

namespace {

// The first position of a range and the number of positions, as numpy cuts them off at the ends of an axis.
std::pair<std::int64_t, std::int64_t> range_of(const Slice& slice, std::int64_t size) {
  const std::int64_t step = slice.step();
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto position = [&](const Slice::Bound& bound, std::int64_t otherwise) {
    return bound ? std::clamp(*bound < 0 ? *bound + size : *bound, lowest, highest) : otherwise;
  };
  const std::int64_t start = position(slice.start(), step > 0 ? lowest : highest);
  const std::int64_t stop = position(slice.stop(), step > 0 ? highest : lowest);
  const std::int64_t length = step > 0 ? stop - start : start - stop;
  return {start, length <= 0 ? 0 : std::abs((length - 1) / step) + 1};
}

Part whole_of(const Shape& shape) {
  (void)shape.numel();  // refuses what no array can have, before strides of it are taken
  return {.sizes = shape, .strides = strides_of(shape)};
}

Part part_of(const char* op, const Shape& shape, const Slices& slices) {
  int named = 0, ellipses = 0;
  for (const Slice& slice : slices) {
    named += slice.kind() == Slice::Kind::range || slice.kind() == Slice::Kind::position;
    ellipses += slice.kind() == Slice::Kind::ellipsis;
    if (slice.step() == 0) fail<ValueError>(op, "a step of 0");
  }
  if (named > shape.rank()) fail<ValueError>(op, named, " indices for shape ", shape);
  if (ellipses > 1) fail<ValueError>(op, "more than one ellipsis");

  const Strides strides = whole_of(shape).strides;
  Part part;
  int axis = 0;
  const auto keep = [&](std::int64_t size, std::int64_t stride) {
    part.sizes.push_back(size);
    part.strides.push_back(stride);
  };
  const auto keep_axes = [&](int count) {
    for (const int end = axis + count; axis < end; ++axis) keep(shape[axis], strides[axis]);
  };
  for (const Slice& slice : slices) {
    switch (slice.kind()) {
      case Slice::Kind::ellipsis:
        keep_axes(shape.rank() - named);
        break;
      case Slice::Kind::new_axis:
        keep(1, 0);
        break;
      case Slice::Kind::position: {
        const std::int64_t size = shape[axis], at = slice.position();
        if (at < -size || at >= size) {
          fail<ValueError>(op, "index ", at, " out of range for axis ", axis, " of size ", size);
        }
        part.offset += (at < 0 ? at + size : at) * strides[axis++];
        break;
      }
      case Slice::Kind::range: {
        const auto [start, length] = range_of(slice, shape[axis]);
        if (length > 0) part.offset += start * strides[axis];
        keep(length, length > 1 ? slice.step() * strides[axis] : 0);
        ++axis;
        break;
      }
    }
  }
  keep_axes(shape.rank() - axis);
  return part;
}

Part part_of_axis(const Shape& shape, int axis, std::int64_t start, std::int64_t length) {
  Part part = whole_of(shape);
  part.offset = start * part.strides[axis];
  part.sizes[axis] = length;
  return part;
}

Array placed(const Array& x, const Part& part, const Shape& shape, Real around) {
  Array whole(shape, around);
  copy_strided(part.sizes, whole.mutable_data() + part.offset, part.strides, x.data(), strides_of(part.sizes));
  return whole;
}

Tensor place_part(const Tensor& x, const Part& part, const Shape& shape);

Tensor slice_part(const char* op, const Tensor& x, const Part& part) {
  return record(op, copy_part(x.value(), part),
                wrt(x, [part, to = x.shape()](const Tensor& gy) { return place_part(gy, part, to); }));
}

Tensor place_part(const Tensor& x, const Part& part, const Shape& shape) {
  return record("place", placed(x.value(), part, shape, 0),
                wrt(x, [part](const Tensor& gy) { return slice_part("slice", gy, part); }));
}

}  // namespace

template <class T>
BasicArray<T> slice(const BasicArray<T>& x, const Slices& slices) {
  return copy_part(x, part_of("slice", x.shape(), slices));
}

Tensor slice(const Tensor& x, const Slices& slices) {
  return slice_part("slice", x, part_of("slice", x.shape(), slices));
}

Tensor place(const Tensor& x, const Slices& slices, const Shape& shape) {
  const Part part = part_of("place", shape, slices);
  if (x.shape() != part.sizes) fail<ShapeError>("place", x.shape(), " at a part of shape ", part.sizes);
  return place_part(x, part, shape);
}

// Brackets have to be members; core declares them and knows nothing more about operations.
Tensor Tensor::operator[](std::initializer_list<Slice> slices) const { return slice(*this, Slices(slices)); }
Tensor Tensor::operator[](const Slice& first) const { return slice(*this, {first}); }

template <class T>
BasicArray<T> BasicArray<T>::operator[](std::initializer_list<Slice> slices) const {
  return slice(*this, Slices(slices));
}

template <class T>
void assign_part(BasicArray<T>& whole, const Slices& slices, const BasicArray<T>& values) {
  const Part part = part_of("assign", whole.shape(), slices);
  if (!broadcasts_to(values.shape(), part.sizes)) {
    fail<ShapeError>("assign", "shape ", values.shape(), " to a part of shape ", part.sizes);
  }
  const BasicArray<T> from = values;  // may be a part of `whole` itself, which then gets memory of its own
  copy_strided(part.sizes, whole.mutable_data() + part.offset, part.strides, from.data(),
               broadcast_strides(from.shape(), part.sizes));
}

Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  axis = normalize_axis("narrow", axis, x.rank());
  const std::int64_t size = x.shape()[axis];
  if (start < 0 || length < 0 || start > size - length) {
    fail<ValueError>("narrow", "start ", start, ", length ", length, " in an axis of size ", size);
  }
  return slice_part("narrow", x, part_of_axis(x.shape(), axis, start, length));
}

Tensors split(const Tensor& x, const std::vector<std::int64_t>& lengths, int axis) {
  axis = normalize_axis("split", axis, x.rank());
  const std::int64_t size = x.shape()[axis];
  std::int64_t left = size;
  for (const std::int64_t length : lengths) {
    if (length < 0) fail<ValueError>("split", "negative length in ", lengths);
    left = length > left ? -1 : left - length;
  }
  if (left != 0) fail<ShapeError>("split", "lengths ", lengths, " do not make the size ", size, " of axis ", axis);
  Tensors parts;
  std::int64_t start = 0;
  for (const std::int64_t length : lengths) {
    parts.push_back(slice_part("split", x, part_of_axis(x.shape(), axis, start, length)));
    start += length;
  }
  return parts;
}

Tensors chunk(const Tensor& x, std::int64_t count, int axis) {
  axis = normalize_axis("chunk", axis, x.rank());
  constexpr std::int64_t most = 1 << 24;  // of parts without elements, of which there can be any number
  if (count < 1) fail<ValueError>("chunk", "into ", count, " parts");
  if (x.shape()[axis] == 0 && count > most) fail<LimitError>("chunk", "an empty axis into ", count, " parts");
  const std::int64_t size = x.shape()[axis], length = size / count + (size % count != 0);
  std::vector<std::int64_t> lengths;
  if (size == 0) lengths.assign(static_cast<std::size_t>(count), 0);
  for (std::int64_t left = size; left > 0; left -= length) lengths.push_back(std::min(length, left));
  return split(x, lengths, axis);
}

Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, Real value) {
  if (paddings.size() != x.rank()) fail<ValueError>("pad", paddings.size(), " paddings for shape ", x.shape());
  Shape shape = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto [before, after] = paddings[axis];
    if (before < 0 || after < 0)
      fail<ValueError>("pad", "negative padding ", std::min(before, after), " of axis ", axis);
    shape[axis] = checked_add("pad", shape[axis], checked_add("pad", before, after));
  }
  Part part = whole_of(shape);
  part.sizes = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) part.offset += paddings[axis].before * part.strides[axis];
  return record("pad", placed(x.value(), part, shape, value),
                wrt(x, [part](const Tensor& gy) { return slice_part("slice", gy, part); }));
}

// ---- concat and stack, whose gradients are parts

namespace {

const Array& array_of(const Tensor& x) { return x.value(); }
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

  template <class X>
  void add(const X& x, std::int64_t length) {
    arrays.push_back(&array_of(x));
    starts.push_back(checked_add("concat", starts.back(), length));
  }
};

template <class T, class List>
Join<T> concat_of(const List& xs, int axis) {
  if (xs.empty()) fail<ValueError>("concat", "needs at least 1 tensor");
  Join<T> join{.shape = xs[0].shape(), .axis = normalize_axis("concat", axis, xs[0].rank())};
  for (const auto& x : xs) {
    Shape expected = join.shape;
    if (x.rank() == expected.rank()) expected[join.axis] = x.shape()[join.axis];
    if (x.shape() != expected) {
      fail<ShapeError>("concat", "input ", join.arrays.size(), " has shape ", x.shape(), ", input 0 has ",
                       xs[0].shape(), ", axis ", join.axis);
    }
    join.add(x, x.shape()[join.axis]);
  }
  join.shape[join.axis] = join.starts.back();
  return join;
}

template <class T, class List>
Join<T> stack_of(const List& xs, int axis) {
  if (xs.empty()) fail<ValueError>("stack", "needs at least 1 tensor");
  Join<T> join{.shape = xs[0].shape(), .axis = normalize_axis("stack", axis, xs[0].rank() + 1)};
  for (const auto& x : xs) {
    if (x.shape() != join.shape) {
      fail<ShapeError>("stack", "input ", join.arrays.size(), " has shape ", x.shape(), ", input 0 has ", join.shape);
    }
    join.add(x, 1);
  }
  join.shape.insert(join.axis, join.starts.back());
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

// The rule of input i, without what it does to the shape.
template <class T>
auto part_of_join(const Join<T>& join, std::size_t i) {
  return [axis = join.axis, start = join.starts[i], length = join.starts[i + 1] - join.starts[i]](const Tensor& gy) {
    return narrow(gy, axis, start, length);
  };
}

}  // namespace

template <class T>
BasicArray<T> concat(const std::vector<BasicArray<T>>& xs, int axis) {
  return joined(concat_of<T>(xs, axis));
}

Tensor concat(const Tensors& xs, int axis) {
  const auto join = concat_of<Real>(xs, axis);
  return record("concat", joined(join), wrt_each(xs, [&](std::size_t i) { return part_of_join(join, i); }));
}

template <class T>
BasicArray<T> stack(const std::vector<BasicArray<T>>& xs, int axis) {
  return joined(stack_of<T>(xs, axis));
}

Tensor stack(const Tensors& xs, int axis) {
  const auto join = stack_of<Real>(xs, axis);
  return record("stack", joined(join), wrt_each(xs, [&](std::size_t i) {
                  return [part = part_of_join(join, i), axis = join.axis](const Tensor& gy) {
                    return squeeze(part(gy), {axis});
                  };
                }));
}

// ---- flip and roll, undone by themselves

template <class T>
BasicArray<T> flip(const BasicArray<T>& x, const Axes& axes) {
  Part part = whole_of(x.shape());
  for (const int axis : normalize_axes("flip", axes, x.rank())) {
    part.offset += std::max<std::int64_t>(0, part.sizes[axis] - 1) * part.strides[axis];
    part.strides[axis] = -part.strides[axis];
  }
  return copy_part(x, part);
}

Tensor flip(const Tensor& x, const Axes& axes) {
  return record("flip", flip(x.value(), axes), wrt(x, [axes](const Tensor& gy) { return flip(gy, axes); }));
}

namespace {

// Copies the block of `sizes` from one corner to another, axis by axis: along a rolled axis it falls into two pieces.
template <class T>
void roll_copy(const Shape& shape, const Shape& shifts, const Strides& strides, int axis, Shape& sizes, T* to,
               const T* from) {
  if (axis == shape.rank()) return copy_strided(sizes, to, strides, from, strides);
  const std::int64_t size = shape[axis], shift = shifts[axis], stride = strides[axis];
  sizes[axis] = size - shift;
  roll_copy(shape, shifts, strides, axis + 1, sizes, to + shift * stride, from);
  if (shift == 0) return;
  sizes[axis] = shift;
  roll_copy(shape, shifts, strides, axis + 1, sizes, to, from + (size - shift) * stride);
}

}  // namespace

namespace {

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

template <class T>
BasicArray<T> rolled(const BasicArray<T>& x, const Shape& forward) {
  BasicArray<T> result(x.shape());
  Shape sizes = x.shape();
  roll_copy(x.shape(), forward, strides_of(x.shape()), 0, sizes, result.mutable_data(), x.data());
  return result;
}

Tensor rolled(const Tensor& x, const Shape& forward) {
  return record("roll", rolled(x.value(), forward), wrt(x, [forward](const Tensor& gy) {
                  Shape back = forward;
                  for (int i = 0; i < back.rank(); ++i) back[i] = back[i] == 0 ? 0 : gy.shape()[i] - back[i];
                  return rolled(gy, back);
                }));
}

}  // namespace

template <class T>
BasicArray<T> roll(const BasicArray<T>& x, const ShortList<std::int64_t>& shifts, const Axes& axes) {
  return rolled(x, forward_shifts(x.shape(), shifts, axes));
}

Tensor roll(const Tensor& x, const ShortList<std::int64_t>& shifts, const Axes& axes) {
  return rolled(x, forward_shifts(x.shape(), shifts, axes));
}

template <class T>
BasicArray<T> roll(const BasicArray<T>& x, std::int64_t shift, int axis) {
  return roll(x, ShortList<std::int64_t>{shift}, Axes{axis});
}

Tensor roll(const Tensor& x, std::int64_t shift, int axis) {
  return roll(x, ShortList<std::int64_t>{shift}, Axes{axis});
}

// ---- repeat_interleave and tile, undone by sums

namespace {

// Every piece of `length` elements of x `count` times in a row.
Tensor repeat_pieces(const char* op, const Tensor& x, std::int64_t length, std::int64_t count, const Shape& shape) {
  const std::int64_t pieces = length == 0 ? 0 : x.size() / length;
  Array repeated(shape);
  const Shape sizes{pieces, x.size() == 0 ? 1 : count, length};  // any count makes nothing of nothing
  copy_strided(sizes, repeated.mutable_data(), strides_of(sizes), x.value().data(), {length, 0, 1});
  return record(op, std::move(repeated), wrt(x, [sizes, to = x.shape()](const Tensor& gy) {
                  return reshape(sum_to(reshape(gy, sizes), {sizes[0], 1, sizes[2]}), to);
                }));
}

}  // namespace

Tensor repeat_interleave(const Tensor& x, std::int64_t count, int axis) {
  axis = normalize_axis("repeat_interleave", axis, x.rank());
  if (count < 0) fail<ValueError>("repeat_interleave", "negative count ", count);
  Shape shape = x.shape();
  shape[axis] = checked_multiply("repeat_interleave", shape[axis], count);
  return repeat_pieces("repeat_interleave", x, strides_of(x.shape())[axis], count, shape);
}

Tensor tile(const Tensor& x, const Shape& counts) {
  for (const std::int64_t count : counts) {
    if (count < 0) fail<ValueError>("tile", "negative count in ", counts);
  }
  Shape shape = x.shape();
  while (shape.rank() < counts.rank()) shape.insert(0, 1);
  Tensor y = reshape_as("tile", x, shape);
  for (int i = 1; i <= counts.rank(); ++i) {  // from the last axis: the small pieces first
    const std::int64_t count = counts[counts.rank() - i];
    const int axis = shape.rank() - i;
    if (count == 1) continue;
    const std::int64_t length = shape[axis] * strides_of(shape)[axis];
    shape[axis] = checked_multiply("tile", shape[axis], count);
    y = repeat_pieces("tile", y, length, count, shape);
  }
  return y;
}

// ---- triangles, duals of themselves

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

Tensor tril(const Tensor& x, std::int64_t offset) {
  return record("tril", band("tril", x.value(), -no_limit, offset),
                wrt(x, [offset](const Tensor& gy) { return tril(gy, offset); }));
}
Mask tril(const Mask& x, std::int64_t offset) { return band("tril", x, -no_limit, offset); }

Tensor triu(const Tensor& x, std::int64_t offset) {
  return record("triu", band("triu", x.value(), offset, no_limit),
                wrt(x, [offset](const Tensor& gy) { return triu(gy, offset); }));
}
Mask triu(const Mask& x, std::int64_t offset) { return band("triu", x, offset, no_limit); }

// ---- for plain arrays

#define XGRAD_INSTANTIATE(T)                                                            \
  template BasicArray<T> BasicArray<T>::operator[](std::initializer_list<Slice>) const; \
  template void assign_part(BasicArray<T>&, const Slices&, const BasicArray<T>&);       \
  template BasicArray<T> permute(const BasicArray<T>&, const Axes&);                    \
  template BasicArray<T> transpose(const BasicArray<T>&, int, int);                     \
  template BasicArray<T> transpose(const BasicArray<T>&);                               \
  template BasicArray<T> broadcast_to(const BasicArray<T>&, const Shape&);              \
  template BasicArray<T> slice(const BasicArray<T>&, const Slices&);                    \
  template BasicArray<T> concat(const std::vector<BasicArray<T>>&, int);                \
  template BasicArray<T> stack(const std::vector<BasicArray<T>>&, int);                 \
  template BasicArray<T> flip(const BasicArray<T>&, const Axes&);                       \
  template BasicArray<T> roll(const BasicArray<T>&, std::int64_t, int);                 \
  template BasicArray<T> roll(const BasicArray<T>&, const ShortList<std::int64_t>&, const Axes&);
XGRAD_INSTANTIATE(Real)
XGRAD_INSTANTIATE(std::int64_t)
XGRAD_INSTANTIATE(bool)
#undef XGRAD_INSTANTIATE

}  // namespace xgrad
