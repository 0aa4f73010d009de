// The one copying kernel behind everything that arranges elements anew: transposes, slices, flips, repetitions, joins.
#pragma once

#include <xgrad/core/array.h>

namespace xgrad::inline XGRAD_ABI {

using Strides = ShortList<std::int64_t>;

/// to[i . to_strides] = from[i . from_strides] for every index i below `sizes`. Strides are in elements, of any sign;
/// those of `from` may be 0, which repeats. No two indices may mean the same place in `to`, and from and to may not
/// overlap.
template <class T>
void copy_strided(const Shape& sizes, T* to, const Strides& to_strides, const T* from, const Strides& from_strides);

extern template void copy_strided(const Shape&, Real*, const Strides&, const Real*, const Strides&);
extern template void copy_strided(const Shape&, std::int64_t*, const Strides&, const std::int64_t*, const Strides&);
extern template void copy_strided(const Shape&, bool*, const Strides&, const bool*, const Strides&);

/// A new array of shape `sizes`, read from `from` with these strides.
template <class T>
BasicArray<T> copy_from(const Shape& sizes, const T* from, const Strides& from_strides) {
  BasicArray<T> result(sizes);
  copy_strided(sizes, result.mutable_data(), strides_of(sizes), from, from_strides);
  return result;
}

}  // namespace xgrad::inline XGRAD_ABI
