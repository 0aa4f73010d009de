// Indexing with brackets by number and by mask: x[ids], x[{i, j}], x[mask], also for writing to plain arrays, and
// index_put. operator[] must be a member; core declares it and knows nothing about operations.
#include <array>
#include <string_view>
#include <vector>

#include "../../core/graph/record.h"
#include "../kernels/registers/indexed.h"
#include "../shape/broadcast.h"
#include "../shape/shape.h"
#include "../shape/slice.h"
#include "axis.h"
#include "index.h"

namespace xgrad {
namespace {

// Selected rows of an array.
struct Picked {
  Shape as_rows;  // the array as (rows, sizes of a row)
  Index indices;  // of the rows, a list
  Shape shape;    // of the result
};

// Completes rows of the first axes: each has the sizes of the others.
Picked with_other_axes(Picked rows, const Shape& shape, int first) {
  for (int axis = first; axis < shape.rank(); ++axis) {
    rows.as_rows.push_back(shape[axis]);
    rows.shape.push_back(shape[axis]);
  }
  return rows;
}

Picked rows_of(const Shape& shape, const Index& indices) {
  if (shape.rank() == 0) fail<ShapeError>("index", "a scalar has no rows to choose from");
  const Index list = indices.reshaped({indices.size()});
  return with_other_axes({{shape[0]}, from_start("index", list, shape[0]), indices.shape()}, shape, 1);
}

// Indices of the first axes, which broadcast to one shape.
Picked rows_of(const char* op, const Shape& shape, std::span<const Index> indices) {
  const int axes = static_cast<int>(indices.size());
  if (std::cmp_greater(indices.size(), shape.rank())) {
    fail<ValueError>(op, indices.size(), " indices for shape ", shape);
  }
  constexpr std::array<std::string_view, max_rank> names{"index 0", "index 1", "index 2", "index 3",
                                                         "index 4", "index 5", "index 6", "index 7"};
  std::vector<NamedShape> shapes;
  for (const Index& index : indices) shapes.push_back({names[shapes.size()], index.shape()});
  Picked rows{.as_rows = {1}, .indices = {}, .shape = broadcast_shapes(op, shapes)};
  rows.indices = Index(Shape{rows.shape.numel()}, 0);
  std::int64_t* to = rows.indices.mutable_data();
  for (int axis = 0; axis < axes; ++axis) {
    const std::int64_t size = shape[axis];
    const Index at = from_start(op, broadcast_to(indices[static_cast<std::size_t>(axis)], rows.shape), size);
    for (std::int64_t i = 0; i < at.size(); ++i) to[i] = to[i] * size + at.data()[i];
    rows.as_rows[0] = checked_multiply(op, rows.as_rows[0], size);
  }
  return with_other_axes(std::move(rows), shape, axes);
}

Picked rows_of(const Shape& shape, const Mask& where) {
  if (where.rank() > shape.rank() || !std::equal(where.shape().begin(), where.shape().end(), shape.begin())) {
    fail<ShapeError>("index", "a mask of shape ", where.shape(), " for the first axes of shape ", shape);
  }
  const Index positions = flatnonzero(where);
  return with_other_axes({{where.size()}, positions, positions.shape()}, shape, where.rank());
}

template <class T>
BasicArray<T> read(const BasicArray<T>& x, const Picked& rows) {
  if constexpr (std::same_as<T, Real>) {
    const NoGrad off;
    return index_select(Tensor(x.reshaped(rows.as_rows)), 0, rows.indices).value().reshaped(rows.shape);
  } else {
    return index_select(x.reshaped(rows.as_rows), 0, rows.indices).reshaped(rows.shape);
  }
}

Tensor read(const Tensor& x, const Picked& rows) {
  return reshape(index_select(reshape(x, rows.as_rows), 0, rows.indices), rows.shape);
}

// If a row is named twice, its last value stays.
template <class T>
void write(BasicArray<T>& x, const Picked& rows, const BasicArray<T>& values) {
  detail::check_values("assign", values.shape(), rows.shape);
  const BasicArray<T> from = broadcast_to(values, rows.shape);
  const std::int64_t width = from.size() == 0 ? 0 : from.size() / rows.indices.size();
  T* to = x.mutable_data();
  const T* row = from.data();
  for (const std::int64_t number : rows.indices) {
    std::copy_n(row, width, to + number * width);
    row += width;
  }
}

template <class T>
BasicArray<T> read(const BasicArray<T>& x, const Slices& slices) {
  return slice(x, slices);
}

template <class T>
void write(BasicArray<T>& x, const Slices& slices, const BasicArray<T>& values) {
  assign_part(x, slices, values);
}

const Slices& rows_of(const Shape&, const Slices& slices) { return slices; }

}  // namespace

Tensor Tensor::operator[](const Index& rows) const { return read(*this, rows_of(shape(), rows)); }
Tensor Tensor::at_indices(std::span<const Index> indices) const {
  return read(*this, rows_of("index", shape(), indices));
}
Tensor Tensor::operator[](const Mask& where) const {
  const Picked rows = rows_of(shape(), where);
  return chosen_rows_along("masked_select", *this, rows.as_rows, 0, rows.indices, rows.shape, attribute("mask", where));
}

Tensor index_put(const Tensor& x, std::initializer_list<Index> indices, const Tensor& values,
                 const IndexPutOptions& options) {
  constexpr const char* op = "index_put";
  const Picked rows = rows_of(op, x.shape(), indices);
  detail::check_values(op, values.shape(), rows.shape);
  Shape list = rows.as_rows, column = Shape::filled(list.rank(), 1);
  list[0] = column[0] = rows.indices.size();
  const Tensor to = in_shape(x, rows.as_rows);
  const Tensor repeated = values.shape() == rows.shape ? values : broadcast_to(values, rows.shape);
  const Tensor from = in_shape(repeated, list);
  return in_shape(options.accumulate ? index_add(to, 0, rows.indices, from)
                                     : scatter(to, 0, broadcast_to(rows.indices.reshaped(column), list), from),
                  x.shape());
}

template <class T>
BasicArray<T> BasicArray<T>::operator[](const Index& rows) const {
  return read(*this, rows_of(shape_, rows));
}
template <class T>
BasicArray<T> BasicArray<T>::operator[](const Mask& where) const {
  return read(*this, rows_of(shape_, where));
}
template <class T>
ArrayPart<T> BasicArray<T>::operator[](std::initializer_list<Slice> slices) {
  return {*this, Slices(slices)};
}
template <class T>
ArrayPart<T> BasicArray<T>::operator[](const Index& rows) {
  return {*this, rows};
}
template <class T>
ArrayPart<T> BasicArray<T>::operator[](const Mask& where) {
  return {*this, where};
}

template <class T>
ArrayPart<T>::ArrayPart(BasicArray<T>& array, Selection selection)
    : BasicArray<T>(
          std::visit([&](const auto& chosen) { return read(array, rows_of(array.shape(), chosen)); }, selection)),
      array_(array),
      selection_(std::move(selection)) {}

template <class T>
void ArrayPart<T>::operator=(const BasicArray<T>& values) && {
  std::visit([&](const auto& chosen) { write(array_, rows_of(array_.shape(), chosen), values); }, selection_);
}

#define XGRAD_INSTANTIATE(T)                                                     \
  template BasicArray<T> BasicArray<T>::operator[](const Index&) const;          \
  template BasicArray<T> BasicArray<T>::operator[](const Mask&) const;           \
  template ArrayPart<T> BasicArray<T>::operator[](std::initializer_list<Slice>); \
  template ArrayPart<T> BasicArray<T>::operator[](const Index&);                 \
  template ArrayPart<T> BasicArray<T>::operator[](const Mask&);                  \
  template class ArrayPart<T>;
XGRAD_INSTANTIATE(Real)
XGRAD_INSTANTIATE(std::int64_t)
XGRAD_INSTANTIATE(bool)
#undef XGRAD_INSTANTIATE

}  // namespace xgrad
