// Changing shapes. Every rule is the operation that undoes its own: duals stand next to each other.
#include <xgrad/ops/shape.h>

#include <xgrad/core/record.h>
#include <xgrad/ops/copy.h>
#include <xgrad/ops/reduce.h>

namespace xgrad::inline XGRAD_ABI {

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
  Shape shape = x.shape();
  for (int axis = last; axis > first; --axis) {
    shape[first] *= shape[axis];
    shape.erase(axis);
  }
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

namespace {

Axes inverse(const Axes& axes) {
  Axes result = axes;
  for (int i = 0; i < axes.size(); ++i) result[axes[i]] = i;
  return result;
}

// `axes` counted from 0.
Tensor permute_as(const char* op, const Tensor& x, const Axes& axes) {
  const Strides strides = strides_of(x.shape());
  Shape shape;
  Strides from;
  for (const int axis : axes) {
    shape.push_back(x.shape()[axis]);
    from.push_back(strides[axis]);
  }
  return record(op, copy_from(shape, x.value().data(), from),
                wrt(x, [op, axes](const Tensor& gy) { return permute_as(op, gy, inverse(axes)); }));
}

}  // namespace

Tensor permute(const Tensor& x, const Axes& axes) {
  Axes order = axes;
  bool used[max_rank] = {};
  bool good = axes.size() == x.rank();
  for (int i = 0; good && i < x.rank(); ++i) {
    good = axes[i] >= -x.rank() && axes[i] < x.rank();
    if (!good) break;
    order[i] = axes[i] < 0 ? axes[i] + x.rank() : axes[i];
    good = !std::exchange(used[order[i]], true);
  }
  if (!good) fail<ValueError>("permute", axes, " is not a permutation of the axes of ", x.shape());
  return permute_as("permute", x, order);
}

Tensor transpose(const Tensor& x, int axis_a, int axis_b) {
  Axes axes = all_axes(x.rank());
  std::swap(axes[normalize_axis("transpose", axis_a, x.rank())], axes[normalize_axis("transpose", axis_b, x.rank())]);
  return permute_as("transpose", x, axes);
}

Tensor transpose(const Tensor& x) {
  if (x.rank() < 2) fail<ShapeError>("transpose", "needs at least 2 axes, shape is ", x.shape());
  return transpose(x, -2, -1);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  Shape to = shape;
  for (int i = 1; i <= std::min(x.rank(), to.rank()); ++i) {
    if (to[to.rank() - i] == -1) to[to.rank() - i] = x.shape()[x.rank() - i];
  }
  if (x.shape() == to) return x;
  if (!broadcasts_to(x.shape(), to)) fail<ShapeError>("broadcast_to", x.shape(), " cannot become ", shape);
  return record("broadcast_to", copy_from(to, x.value().data(), broadcast_strides(x.shape(), to)),
                wrt(x, [from = x.shape()](const Tensor& gy) { return sum_to(gy, from); }));
}

namespace {

// Where the elements of a part lie inside the whole: part[i] = whole[offset + i . strides].
struct Part {
  std::int64_t offset = 0;
  Shape sizes;
  Strides strides;
};

// The first position of a range and the number of positions, as numpy cuts them off at the ends of an axis.
std::pair<std::int64_t, std::int64_t> range_of(const Slice& slice, std::int64_t size) {
  const std::int64_t step = slice.step();
  const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? size : size - 1;
  const auto position = [&](const Slice::Bound& bound, std::int64_t otherwise) {
    if (!bound) return otherwise;
    return std::clamp(*bound < 0 ? *bound + size : *bound, lowest, highest);
  };
  const std::int64_t start = position(slice.start(), step > 0 ? lowest : highest);
  const std::int64_t stop = position(slice.stop(), step > 0 ? highest : lowest);
  const std::int64_t length = step > 0 ? stop - start : start - stop;
  return {start, length <= 0 ? 0 : std::abs((length - 1) / step) + 1};
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

  const Strides strides = strides_of(shape);
  Part part;
  int axis = 0;
  const auto keep = [&](int count) {
    for (; count > 0; --count, ++axis) {
      part.sizes.push_back(shape[axis]);
      part.strides.push_back(strides[axis]);
    }
  };
  for (const Slice& slice : slices) {
    switch (slice.kind()) {
      case Slice::Kind::ellipsis:
        keep(shape.rank() - named);
        break;
      case Slice::Kind::new_axis:
        part.sizes.push_back(1);
        part.strides.push_back(0);
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
        part.sizes.push_back(length);
        part.strides.push_back(length > 1 ? slice.step() * strides[axis] : 0);
        ++axis;
        break;
      }
    }
  }
  keep(shape.rank() - axis);
  return part;
}

Tensor place_as(const char* op, const Tensor& x, const Part& part, const Shape& shape);

Tensor slice_as(const char* op, const Tensor& x, const Part& part) {
  return record(op, copy_from(part.sizes, x.value().data() + part.offset, part.strides),
                wrt(x, [op, part, to = x.shape()](const Tensor& gy) { return place_as(op, gy, part, to); }));
}

Tensor place_as(const char* op, const Tensor& x, const Part& part, const Shape& shape) {
  Array whole(shape, Real(0));
  copy_strided(part.sizes, whole.mutable_data() + part.offset, part.strides, x.value().data(), strides_of(part.sizes));
  return record(op, std::move(whole), wrt(x, [op, part](const Tensor& gy) { return slice_as(op, gy, part); }));
}

}  // namespace

Tensor slice(const Tensor& x, const Slices& slices) {
  return slice_as("slice", x, part_of("slice", x.shape(), slices));
}

Tensor place(const Tensor& x, const Slices& slices, const Shape& shape) {
  const Part part = part_of("place", shape, slices);
  if (x.shape() != part.sizes) fail<ShapeError>("place", x.shape(), " at a part of shape ", part.sizes);
  return place_as("place", x, part, shape);
}

// Members of Tensor, so that brackets work; core declares them and knows nothing more about operations.
Tensor Tensor::operator[](std::initializer_list<Slice> slices) const { return slice(*this, Slices(slices)); }
Tensor Tensor::operator[](const Slice& first) const { return slice(*this, {first}); }

Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  axis = normalize_axis("narrow", axis, x.rank());
  const std::int64_t size = x.shape()[axis];
  if (start < 0 || length < 0 || start > size - length) {
    fail<ValueError>("narrow", "start ", start, ", length ", length, " in an axis of size ", size);
  }
  Part part{.offset = 0, .sizes = x.shape(), .strides = strides_of(x.shape())};
  part.offset = start * part.strides[axis];
  part.sizes[axis] = length;
  return slice_as("narrow", x, part);
}

namespace {

// The arrays next to each other along `axis`; those that lack the axis count as one long.
Array join(const Tensors& xs, int axis, const Shape& shape) {
  Array result(shape);
  const Strides strides = strides_of(shape);
  Real* out = result.mutable_data();
  for (const Tensor& x : xs) {
    Shape part = shape;
    part[axis] = x.rank() == shape.rank() ? x.shape()[axis] : 1;
    copy_strided(part, out, strides, x.value().data(), strides_of(part));
    out += part[axis] * strides[axis];
  }
  return result;
}

}  // namespace

Tensor concat(const Tensors& xs, int axis) {
  if (xs.empty()) fail<ValueError>("concat", "needs at least 1 tensor");
  Shape shape = xs[0].shape();
  axis = normalize_axis("concat", axis, shape.rank());
  std::vector<std::int64_t> starts{0};
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Shape& other = xs[i].shape();
    bool same = other.rank() == shape.rank();
    for (int k = 0; same && k < shape.rank(); ++k) same = k == axis || other[k] == shape[k];
    if (!same) {
      fail<ShapeError>("concat", "input ", i, " has shape ", other, ", input 0 has ", xs[0].shape(), ", axis ", axis);
    }
    starts.push_back(starts.back() + other[axis]);
  }
  shape[axis] = starts.back();
  return record("concat", join(xs, axis, shape), wrt_each(xs, [&](std::size_t i) {
                  return [axis, start = starts[i], length = starts[i + 1] - starts[i]](const Tensor& gy) {
                    return narrow(gy, axis, start, length);
                  };
                }));
}

Tensor stack(const Tensors& xs, int axis) {
  if (xs.empty()) fail<ValueError>("stack", "needs at least 1 tensor");
  Shape shape = xs[0].shape();
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (xs[i].shape() != shape) {
      fail<ShapeError>("stack", "input ", i, " has shape ", xs[i].shape(), ", input 0 has ", shape);
    }
  }
  axis = normalize_axis("stack", axis, shape.rank() + 1);
  shape.insert(axis, static_cast<std::int64_t>(xs.size()));
  return record("stack", join(xs, axis, shape), wrt_each(xs, [&](std::size_t i) {
                  return [axis, i, to = xs[0].shape()](const Tensor& gy) {
                    return reshape(narrow(gy, axis, static_cast<std::int64_t>(i), 1), to);
                  };
                }));
}

}  // namespace xgrad::inline XGRAD_ABI
