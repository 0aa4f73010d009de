// The copying kernel of all operations that rearrange elements: transposes, slices, flips, repetitions, joins.
#pragma once

#include <cstring>

#include "../../../core/array/array.h"
#include "walk.h"

namespace xgrad {

/// Elements that one thread moves at a time.
inline constexpr std::int64_t copy_block = 1 << 15;

/// to[i . to_strides] = from[i . from_strides] for every index i below `sizes`. Strides are in elements, of any sign;
/// those of `from` may be 0, which repeats. No two indices may refer to the same place in `to`, and from and to may not
/// overlap.
template <class T>
void copy_strided(const Shape& sizes, T* to, const Strides& to_strides, const T* from, const Strides& from_strides);

/// The layout of an array within another: part[i] = whole[offset + i . strides].
struct Part {
  std::int64_t offset = 0;
  Shape sizes;
  Strides strides;
};

/// All of an array of this shape. Throws LimitError for an impossible one, before its strides are computed.
inline Part full_part(const Shape& shape) {
  (void)shape.numel();
  return {.sizes = shape, .strides = strides_of(shape)};
}

/// The elements of `part` of x. Shares memory if that is all of x in its order.
template <class T>
BasicArray<T> copy_part(const BasicArray<T>& x, const Part& part) {
  const std::int64_t size = part.sizes.numel();
  std::int64_t count = 1;
  bool in_order = part.offset == 0;
  for (int axis = part.sizes.rank(); axis-- > 0;) {
    in_order &= part.sizes[axis] == 1 || part.strides[axis] == count;
    count *= part.sizes[axis];
  }
  if (in_order && size == x.size()) return x.reshaped(part.sizes);
  BasicArray<T> result(part.sizes);
  copy_strided(part.sizes, result.mutable_data(), strides_of(part.sizes), x.data() + part.offset, part.strides);
  return result;
}

/// Calls f(copy_row), where copy_row(to, from) copies n contiguous elements. Short rows of the usual lengths have a
/// compile-time size.
template <class T, class F>
void with_row_copy(std::int64_t n, const F& f) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  const auto is_usual = [&]<std::size_t usual>(std::integral_constant<std::size_t, usual>) {
    if (bytes == usual) f([](T* to, const T* from) { std::memcpy(to, from, usual); });
    return bytes == usual;
  };
  const bool done = [&]<std::size_t... usual>(std::index_sequence<usual...>) {
    return (is_usual(std::integral_constant<std::size_t, usual>()) || ...);
  }
  (std::index_sequence<4, 8, 16, 32, 64, 128>());
  if (!done) f([bytes](T* to, const T* from) { std::memcpy(to, from, bytes); });
}

}  // namespace xgrad
