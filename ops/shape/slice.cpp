// Parts of tensors, as by brackets, and their duals. narrow, split, chunk and pad name the part in other ways.
#include "slice.h"

#include <utility>

#include "../../core/base/error.h"
#include "../../core/base/formula.h"
#include "../../core/graph/record.h"
#include "../kernels/registers/copy.h"
#include "broadcast.h"

namespace xgrad {

namespace {

// The attributes of slices of an array of this shape.
struct SlicesOf {
  const Shape& shape;
  const Slices& slices;
};

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

Part part_of(const char* op, const Shape& shape, const Slices& slices) {
  int named = 0, ellipses = 0;
  for (const Slice& slice : slices) {
    named += slice.kind() == Slice::Kind::range || slice.kind() == Slice::Kind::position;
    ellipses += slice.kind() == Slice::Kind::ellipsis;
    if (slice.step() == 0) fail<ValueError>(op, "a step of 0");
  }
  if (named > shape.rank()) fail<ValueError>(op, named, " indices for shape ", shape);
  if (ellipses > 1) fail<ValueError>(op, "more than one ellipsis");

  const Strides strides = full_part(shape).strides;
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

// The axes of which slices leave out positions, the first position along each, and the steps unless all are 1: found
// out when somebody asks.
void add_attributes(std::vector<Attribute>& to, const char*, const SlicesOf& part) {
  const auto& [shape, slices] = part;
  const auto names_axis = [](const Slice& slice) {
    return slice.kind() == Slice::Kind::range || slice.kind() == Slice::Kind::position;
  };
  Shape axes, starts, steps;
  int axis = 0;
  for (const Slice& slice : slices) {
    if (slice.kind() == Slice::Kind::ellipsis) axis += shape.rank() - std::ranges::count_if(slices, names_axis);
    if (!names_axis(slice)) continue;
    const bool one = slice.kind() == Slice::Kind::position;
    const auto [start, length] = range_of(one ? Slice(slice.position(), std::nullopt, 1) : slice, shape[axis]);
    if (one || length < shape[axis] || slice.step() != 1) {
      axes.push_back(axis);
      starts.push_back(start);
      steps.push_back(slice.step());
    }
    ++axis;
  }
  if (axes.empty()) return;
  const auto add = [&](const char* name, const Shape& numbers) { detail::append_attribute(to, name, numbers); };
  add("axis", axes);
  add("start", starts);
  if (std::ranges::any_of(steps, [](std::int64_t step) { return step != 1; })) add("step", steps);
}

Part part_of_axis(const Shape& shape, int axis, std::int64_t start, std::int64_t length) {
  Part part = full_part(shape);
  part.offset = start * part.strides[axis];
  part.sizes[axis] = length;
  return part;
}

Array placed(const Array& x, const Part& part, const Shape& shape, Real around) {
  Array result(shape, around);
  copy_strided(part.sizes, result.mutable_data() + part.offset, part.strides, x.data(), strides_of(part.sizes));
  return result;
}

Tensor taken_out(const Tensor& x, const Part& part);
Tensor placed_back(const Tensor& x, const Part& part, const Shape& shape);

template <class... Attributes>
Tensor slice_part(const char* op, const Tensor& x, const Part& part, const Attributes&... attributes) {
  return record(op, copy_part(x.value(), part),
                wrt(x,
                    [offset = part.offset, strides = part.strides](const Tensor& gy, InputShape to) {
                      return placed_back(gy, {offset, gy.shape(), strides}, to);
                    }),
                attributes...);
}

// x in a tensor that is otherwise `around`.
template <class... Attributes>
Tensor place_part(const char* op, const Tensor& x, const Part& part, const Shape& shape, Real around,
                  const Attributes&... attributes) {
  return record(op, placed(x.value(), part, shape, around),
                wrt(x,
                    [offset = part.offset, strides = part.strides](const Tensor& gy, InputShape to) {
                      return taken_out(gy, {offset, to, strides});
                    }),
                attributes...);
}

// A part along one axis.
Tensor slice_axis(const char* op, const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  return slice_part(op, x, part_of_axis(x.shape(), axis, start, length), attribute("axis", axis),
                    attribute("start", start));
}

// In rules, for which a part is its place in memory.
Tensor taken_out(const Tensor& x, const Part& part) {
  return slice_part("slice", x, part, attribute("offset", part.offset));
}
Tensor placed_back(const Tensor& x, const Part& part, const Shape& shape) {
  return place_part("place", x, part, shape, 0, attribute("offset", part.offset));
}

}  // namespace

template <class T>
BasicArray<T> slice(const BasicArray<T>& x, const Slices& slices) {
  return copy_part(x, part_of("slice", x.shape(), slices));
}

XGRAD_FORMULA slice_formula{"slice", "y = a part of x", "dL/dx = gy at that part, else 0", OperationKind::rearranges};
Tensor slice(const Tensor& x, const Slices& slices) {
  return slice_part("slice", x, part_of("slice", x.shape(), slices), attribute("part", SlicesOf{x.shape(), slices}));
}

XGRAD_FORMULA place_formula{"place", "y = x at a part, else 0", "dL/dx = that part of gy"};
Tensor place(const Tensor& x, const Slices& slices, const Shape& shape) {
  const Part part = part_of("place", shape, slices);
  if (x.shape() != part.sizes) fail<ShapeError>("place", x.shape(), " at a part of shape ", part.sizes);
  return place_part("place", x, part, shape, 0, attribute("part", SlicesOf{shape, slices}));
}

namespace {

template <class... Attributes>
Tensor put_part(const Tensor& x, const Part& part, const Tensor& values, const Attributes&... attributes) {
  Array all = x.value();
  copy_strided(part.sizes, all.mutable_data() + part.offset, part.strides, values.value().data(),
               broadcast_strides(values.shape(), part.sizes));
  return record("index_put", std::move(all),
                wrt(x, [part](const Tensor& gy) { return put_part(gy, part, 0, attribute("offset", part.offset)); }),
                wrt(values, [part](const Tensor& gy, InputShape to) { return sum_to(taken_out(gy, part), to); }),
                attributes...);
}

}  // namespace

XGRAD_FORMULA index_put_formula{"index_put", "y = values at a part, else x",
                                "dL/dx = 0 at that part, else gy; dL/dvalues = gy at that part"};
Tensor index_put(const Tensor& x, const Slices& slices, const Tensor& values) {
  const Part part = part_of("index_put", x.shape(), slices);
  detail::check_values("index_put", values.shape(), part.sizes);
  return put_part(x, part, values, attribute("part", SlicesOf{x.shape(), slices}));
}

// operator[] must be a member; core declares it and knows nothing else about operations.
Tensor Tensor::operator[](std::initializer_list<Slice> slices) const { return slice(*this, Slices(slices)); }
Tensor Tensor::operator[](const Slice& first) const { return slice(*this, {first}); }

template <class T>
BasicArray<T> BasicArray<T>::operator[](std::initializer_list<Slice> slices) const {
  return slice(*this, Slices(slices));
}

template <class T>
void assign_part(BasicArray<T>& to, const Slices& slices, const BasicArray<T>& values) {
  const Part part = part_of("assign", to.shape(), slices);
  detail::check_values("assign", values.shape(), part.sizes);
  // May be a part of `to` itself, which is then copied on write.
  const BasicArray<T> from = values;  // NOLINT(performance-unnecessary-copy-initialization)
  copy_strided(part.sizes, to.mutable_data() + part.offset, part.strides, from.data(),
               broadcast_strides(from.shape(), part.sizes));
}

XGRAD_FORMULA narrow_formula{"narrow", "y_i = x_(start + i) along the axis", "dL/dx = gy at that part, else 0",
                             OperationKind::rearranges};
Tensor narrow(const Tensor& x, int axis, std::int64_t start, std::int64_t length) {
  axis = normalize_axis("narrow", axis, x.rank());
  const std::int64_t size = x.shape()[axis];
  if (start < 0 || length < 0 || start > size - length) {
    fail<ValueError>("narrow", "start ", start, ", length ", length, " in an axis of size ", size);
  }
  return slice_axis("narrow", x, axis, start, length);
}

XGRAD_FORMULA split_formula{"split", "y_i = x_(start + i) along the axis", "dL/dx = gy at that part, else 0"};
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
    parts.push_back(slice_axis("split", x, axis, start, length));
    start += length;
  }
  return parts;
}

Tensors split(const Tensor& x, std::initializer_list<std::int64_t> lengths, int axis) {
  return split(x, std::vector<std::int64_t>(lengths), axis);
}

Tensors split(const Tensor& x, std::int64_t size, int axis) {
  axis = normalize_axis("split", axis, x.rank());
  if (size < 1) fail<ValueError>("split", "into parts of size ", size);
  std::vector<std::int64_t> lengths;
  for (std::int64_t left = x.shape()[axis]; left > 0; left -= lengths.back()) lengths.push_back(std::min(size, left));
  if (lengths.empty()) lengths.push_back(0);  // all of an empty axis, as in PyTorch
  return split(x, lengths, axis);
}

XGRAD_FORMULA unbind_formula{"unbind", "y = x at one position of the axis", "dL/dx = gy at that position, else 0"};
Tensors unbind(const Tensor& x, int axis) {
  axis = normalize_axis("unbind", axis, x.rank());
  Tensors parts;
  for (std::int64_t i = 0; i < x.shape()[axis]; ++i) {
    Part part = part_of_axis(x.shape(), axis, i, 1);
    part.sizes.erase(axis);
    part.strides.erase(axis);
    parts.push_back(slice_part("unbind", x, part, attribute("axis", axis), attribute("start", i)));
  }
  return parts;
}

Tensors chunk(const Tensor& x, std::int64_t count, int axis) {
  axis = normalize_axis("chunk", axis, x.rank());
  constexpr std::int64_t most = 1 << 24;  // parts of an empty axis, whose number nothing else limits
  if (count < 1) fail<ValueError>("chunk", "into ", count, " parts");
  if (x.shape()[axis] == 0 && count > most) fail<LimitError>("chunk", "an empty axis into ", count, " parts");
  const std::int64_t size = x.shape()[axis];
  if (size == 0) return split(x, std::vector<std::int64_t>(static_cast<std::size_t>(count), 0), axis);
  return split(x, size / count + (size % count != 0), axis);
}

void detail::check_values(const char* op, const Shape& values, const Shape& part) {
  if (!broadcasts_to(values, part)) fail<ShapeError>(op, "values of shape ", values, " for a part of shape ", part);
}

Shape detail::padded_shape(const Shape& x, const ShortList<Padding>& paddings) {
  if (paddings.size() != x.rank()) fail<ValueError>("pad", paddings.size(), " {before, after} for axes of ", x);
  Shape shape = x;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto [before, after] = paddings[axis];
    if (before < 0 || after < 0) {
      fail<ValueError>("pad", "negative padding ", std::min(before, after), " of axis ", axis);
    }
    shape[axis] = checked_add("pad", shape[axis], checked_add("pad", before, after));
  }
  return shape;
}

XGRAD_FORMULA pad_formula{"pad", "y = x at the middle, value around it", "dL/dx = that part of gy"};
Tensor pad(const Tensor& x, const ShortList<Padding>& paddings, double value) {
  const Shape shape = detail::padded_shape(x.shape(), paddings);
  Part part = full_part(shape);
  part.sizes = x.shape();
  Shape before, after;
  for (const Padding& padding : paddings) {
    before.push_back(padding.before);
    after.push_back(padding.after);
  }
  for (int axis = 0; axis < x.rank(); ++axis) part.offset += before[axis] * part.strides[axis];
  return place_part("pad", x, part, shape, static_cast<Real>(value), attribute("before", before),
                    attribute("after", after), attribute("value", unless(0, value)));
}

// ---- for plain arrays

#define XGRAD_INSTANTIATE(T)                                                            \
  template BasicArray<T> BasicArray<T>::operator[](std::initializer_list<Slice>) const; \
  template void assign_part(BasicArray<T>&, const Slices&, const BasicArray<T>&);       \
  template BasicArray<T> slice(const BasicArray<T>&, const Slices&);
XGRAD_INSTANTIATE(Real)
XGRAD_INSTANTIATE(std::int64_t)
XGRAD_INSTANTIATE(bool)
#undef XGRAD_INSTANTIATE

}  // namespace xgrad
