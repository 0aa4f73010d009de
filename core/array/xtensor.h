// Views of arrays for xtensor, and arrays from xtensor's containers and expressions. A program that uses xtensor
// includes this header itself, because <xgrad/xgrad.h> does not. xtensor 0.26 moved its headers; only core/array
// contains their old and new paths.
//
//     const Array a = xt::xarray<Real>{{1, 2}, {3, 4}} * 2;          // or auto a = to_array(...)
//     const Real largest = xt::amax(view(a))();
//
// These functions return evaluated arrays or views, but never lazy expressions. The comments say how long a view is
// valid. Index and Mask convert in both directions, like Array.
#pragma once

#include <memory>

#include "array.h"

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#include <xtensor/core/xnoalias.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace xgrad {

namespace detail {
inline std::vector<std::size_t> xtensor_shape(const Shape& shape) { return {shape.begin(), shape.end()}; }
template <class Sizes>
Shape shape_of(const Sizes& sizes) {
  Shape shape;
  for (const auto size : sizes) shape.push_back(static_cast<std::int64_t>(size));
  return shape;
}
}  // namespace detail

/// An xtensor view of the array's elements for reading. It is valid as long as the array lives and is neither assigned
/// to nor written to.
template <class T>
auto view(const BasicArray<T>& array) {
  return xt::adapt(array.data(), static_cast<std::size_t>(array.size()), xt::no_ownership(),
                   detail::xtensor_shape(array.shape()));
}

/// An xtensor view for reading and writing, valid as long as the array lives. Copies of the array that were made before
/// are unaffected. Warning: writing through the view also changes copies that are made while it is in use.
///
/// xtensor first evaluates an assigned expression into a temporary. So the expression may read the array that it is
/// assigned to: v = xt::transpose(v). If element i of the result depends only on element i of the array, xt::noalias(v)
/// = v * 2 avoids the temporary.
template <class T>
auto mutable_view(BasicArray<T>& array) {
  return xt::adapt(array.mutable_data(), static_cast<std::size_t>(array.size()), xt::no_ownership(),
                   detail::xtensor_shape(array.shape()));
}

/// An xtensor view of a temporary array. The view keeps the array alive: view((x * 2).value()).
template <class T>
auto view(BasicArray<T>&& array) {
  const auto held = std::make_shared<const BasicArray<T>>(std::move(array));
  return xt::adapt_smart_ptr(std::shared_ptr<const T>(held, held->data()), detail::xtensor_shape(held->shape()));
}

/// A new array with the elements of an xtensor expression or container, evaluated without a temporary. It is an Index
/// for integers, a Mask for booleans, else an Array.
template <class E>
auto to_array(const xt::xexpression<E>& expression) {
  const E& e = expression.derived_cast();
  using V = typename E::value_type;
  using T =
      std::conditional_t<std::is_same_v<V, bool>, bool, std::conditional_t<std::is_integral_v<V>, std::int64_t, Real>>;
  BasicArray<T> result(detail::shape_of(e.shape()));
  auto out = mutable_view(result);
  // noalias is safe: the expression cannot read an array that has only just been created.
  if constexpr (std::is_same_v<V, T>) {
    xt::noalias(out) = e;
  } else {
    xt::noalias(out) = xt::cast<T>(e);
  }
  return result;
}

namespace detail {
template <class E>
requires std::derived_from<E, xt::xexpression<E>>
struct Evaluation<E> {
  template <class Given>
  static auto array(Given&& expression) {
    return to_array(std::forward<Given>(expression));
  }
};
}  // namespace detail

}  // namespace xgrad
