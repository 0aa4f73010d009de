// Between xgrad's arrays and xtensor: views over the same memory, and arrays from xtensor containers and expressions.
// For programs that use xtensor: <xgrad/xgrad.h> does not include it. xtensor 0.26 moved its headers; their old and new
// paths stand only in core/array/xtensor*.h.
//
//     const Array a = xt::xarray<Real>{{1, 2}, {3, 4}} * 2;          // or auto a = to_array(...)
//     const Array data = std::move(table);                           // an xt::xarray or xt::xtensor: not copied
//     const Real largest = xt::amax(view(a))();
//
// These functions return evaluated numbers, never lazy expressions, except for views, which say how long they are
// valid. Index and Mask convert both ways, like Array.
#pragma once

#include <iterator>

#include "array.h"
#include "xtensor_buffer.h"

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

/// The elements of an array as an xtensor container. Writing goes to elements of the array's own (copy on write):
/// copies made in the meantime, and graphs that hold one, keep theirs. Threads: as for the array.
template <class T>
class WritableElements {
 public:
  using value_type = T;
  using allocator_type = PoolAllocator<T>;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using pointer = T*;
  using const_pointer = const T*;
  using iterator = T*;
  using const_iterator = const T*;
  using reverse_iterator = std::reverse_iterator<iterator>;
  using const_reverse_iterator = std::reverse_iterator<const_iterator>;

  explicit WritableElements(BasicArray<T>& array) : elsewhere_(&array) {}
  /// For a temporary, which is kept in here.
  explicit WritableElements(BasicArray<T>&& array) : own_(std::move(array)) {}
  /// Takes the elements of a temporary that an expression was evaluated into.
  template <class Container>
  requires(!std::same_as<Container, WritableElements>) WritableElements& operator=(const Container& values) {
    resize(values.size());
    std::copy(values.begin(), values.end(), data());
    return *this;
  }

  bool empty() const { return size() == 0; }
  size_type size() const { return static_cast<size_type>(array().size()); }
  /// Throws ShapeError for another size: an array keeps its shape.
  void resize(size_type size) {
    if (size != this->size()) fail<ShapeError>("view", size, " elements for an array of shape ", array().shape());
  }

  T* data() { return (elsewhere_ ? *elsewhere_ : own_).mutable_data(); }
  const T* data() const { return array().data(); }
  reference operator[](size_type i) { return data()[i]; }
  const_reference operator[](size_type i) const { return data()[i]; }
  reference front() { return data()[0]; }
  const_reference front() const { return data()[0]; }
  reference back() { return data()[size() - 1]; }
  const_reference back() const { return data()[size() - 1]; }

  iterator begin() { return data(); }
  iterator end() { return data() + size(); }
  const_iterator begin() const { return data(); }
  const_iterator end() const { return data() + size(); }
  const_iterator cbegin() const { return data(); }
  const_iterator cend() const { return data() + size(); }
  reverse_iterator rbegin() { return reverse_iterator(end()); }
  reverse_iterator rend() { return reverse_iterator(begin()); }
  const_reverse_iterator rbegin() const { return const_reverse_iterator(end()); }
  const_reverse_iterator rend() const { return const_reverse_iterator(begin()); }
  const_reverse_iterator crbegin() const { return rbegin(); }
  const_reverse_iterator crend() const { return rend(); }

 private:
  const BasicArray<T>& array() const { return elsewhere_ ? *elsewhere_ : own_; }

  BasicArray<T>* elsewhere_ = nullptr;
  BasicArray<T> own_;
};
}  // namespace detail
}  // namespace xgrad

/// The temporary that xtensor evaluates into before it assigns to such a view.
template <class T>
struct xt::temporary_container<xgrad::detail::WritableElements<T>> {
  using type = xt::uvector<T, xgrad::PoolAllocator<T>>;
};

namespace xgrad {

namespace detail {
template <class T>
auto adaptor(WritableElements<T>&& elements, const Shape& shape) {
  using Adaptor = xt::xarray_adaptor<WritableElements<T>, xt::layout_type::row_major, std::vector<std::size_t>>;
  return Adaptor(std::move(elements), xtensor_shape(shape));
}
}  // namespace detail

/// An xtensor view of the array's elements, for reading. Valid as long as the array lives and is neither assigned to
/// nor written to.
template <class T>
auto view(const BasicArray<T>& array) {
  return xt::adapt(array.data(), static_cast<std::size_t>(array.size()), xt::no_ownership(),
                   detail::xtensor_shape(array.shape()));
}

/// An xtensor view for reading and writing, valid as long as the array lives. Writing changes this array alone: copies
/// of the array, made before the view or after, keep their elements. Throws ShapeError when an expression of another
/// size is assigned.
///
/// An assigned expression is evaluated into a temporary first, so that it may read the array that it is assigned to:
/// seen = xt::transpose(seen). Where element i of the result depends on no element but i of the array,
/// xt::noalias(seen) = seen * 2 saves the temporary.
template <class T>
auto mutable_view(BasicArray<T>& array) {
  return detail::adaptor(detail::WritableElements<T>(array), array.shape());
}

/// A view of a temporary keeps it alive: view((x * 2).value()).
template <class T>
auto view(BasicArray<T>&& array) {
  const Shape shape = array.shape();
  return detail::adaptor(detail::WritableElements<T>(std::move(array)), shape);
}

/// xtensor containers on the pool of the library: with any number of axes, and with N axes.
template <class T>
using PooledXarray =
    xt::xarray_container<xt::uvector<T, PoolAllocator<T>>, xt::layout_type::row_major, xt::svector<std::size_t, 4>>;
template <class T, std::size_t N>
using PooledXtensor = xt::xtensor_container<xt::uvector<T, PoolAllocator<T>>, N, xt::layout_type::row_major>;

namespace detail {
template <class T>
concept Element = std::same_as<T, Real> || std::same_as<T, std::int64_t> || std::same_as<T, bool>;

template <class Container>
auto taken_over(Container&& source) {
  using T = typename Container::value_type;
  using Buffer = XtensorBuffer<T>;
  const Shape shape = shape_of(source.shape());
  if constexpr (std::same_as<typename Container::storage_type, typename Buffer::Storage>) {
    return BasicArray<T>(Buffer::adopt(std::move(source.storage())), shape);
  } else {
    if (source.size() > Buffer::in_place) return BasicArray<T>(Buffer::host(std::move(source)), shape);
    return BasicArray<T>(shape, std::span<const T>(source.data(), source.size()));
  }
}
}  // namespace detail

/// Takes over the memory of an xt::xarray or xt::xtensor of Real, std::int64_t or bool, whatever its allocator; only
/// the few numbers that an array stores in place are copied. Memory of the pool (PooledXarray, PooledXtensor) returns
/// to it.
template <class Storage, class Sizes, class Tag>
requires detail::Element<typename Storage::value_type>
auto to_array(xt::xarray_container<Storage, xt::layout_type::row_major, Sizes, Tag>&& source) {
  return detail::taken_over(std::move(source));
}
template <class Storage, std::size_t N, class Tag>
requires detail::Element<typename Storage::value_type>
auto to_array(xt::xtensor_container<Storage, N, xt::layout_type::row_major, Tag>&& source) {
  return detail::taken_over(std::move(source));
}

/// Evaluates an xtensor expression, or copies a container, straight into a new array, without a temporary: Index for
/// whole numbers, Mask for truth values, else Array.
template <class E>
auto to_array(const xt::xexpression<E>& expression) {
  const E& e = expression.derived_cast();
  using V = typename E::value_type;
  using T =
      std::conditional_t<std::is_same_v<V, bool>, bool, std::conditional_t<std::is_integral_v<V>, std::int64_t, Real>>;
  BasicArray<T> result(detail::shape_of(e.shape()));
  auto out = xt::adapt(result.mutable_data(), static_cast<std::size_t>(result.size()), xt::no_ownership(),
                       detail::xtensor_shape(result.shape()));
  // The expression cannot read an array that has only just been created.
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
