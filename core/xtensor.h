// Between xgrad's arrays and xtensor: views over the same memory, and arrays from xtensor containers and expressions.
// This is the one public header that includes xtensor, and the one place that knows where xtensor's headers are.
//
//     const Array a = to_array(xt::xarray<Real>{{1, 2}, {3, 4}} * 2);
//     const Real largest = xt::amax(view(a))();
#pragma once

#include <xgrad/core/array.h>
#include <xgrad/core/buffer.h>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnoalias.hpp>
#endif

namespace xgrad::inline XGRAD_ABI {

namespace detail {
inline std::vector<std::size_t> xtensor_shape(const Shape& shape) { return {shape.begin(), shape.end()}; }
}  // namespace detail

/// An xtensor view of the array's elements, for reading. Valid as long as the array lives and is not assigned to.
template <class T>
auto view(const BasicArray<T>& array) {
  return xt::adapt(array.data(), static_cast<std::size_t>(array.size()), xt::no_ownership(),
                   detail::xtensor_shape(array.shape()));
}

/// An xtensor view for reading and writing; the array stops sharing its elements first.
template <class T>
auto mutable_view(BasicArray<T>& array) {
  return xt::adapt(array.mutable_data(), static_cast<std::size_t>(array.size()), xt::no_ownership(),
                   detail::xtensor_shape(array.shape()));
}

/// An xtensor array whose memory an Array can take over without a copy.
template <class T>
using PooledXarray =
    xt::xarray_container<xt::uvector<T, PoolAllocator<T>>, xt::layout_type::row_major, xt::svector<std::size_t, 4>>;

/// Takes over the memory of an xtensor array on the pool; nothing is copied.
template <class T>
BasicArray<T> to_array(PooledXarray<T>&& source) {
  const Shape shape([&] {
    Shape sizes;
    for (const std::size_t size : source.shape()) sizes.push_back(static_cast<std::int64_t>(size));
    return sizes;
  }());
  return BasicArray<T>(XtensorBuffer<T>::adopt(std::move(source.storage())), shape);
}

/// Evaluates an xtensor expression into a new array: Index for whole numbers, Mask for truth values, else Array.
template <class E>
auto to_array(const xt::xexpression<E>& expression) {
  const E& e = expression.derived_cast();
  using V = typename E::value_type;
  using T =
      std::conditional_t<std::is_same_v<V, bool>, bool, std::conditional_t<std::is_integral_v<V>, std::int64_t, Real>>;
  Shape shape;
  for (const auto size : e.shape()) shape.push_back(static_cast<std::int64_t>(size));
  BasicArray<T> result(shape);
  auto out = mutable_view(result);
  out = xt::cast<T>(e);
  return result;
}

}  // namespace xgrad::inline XGRAD_ABI
