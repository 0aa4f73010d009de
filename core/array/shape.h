// Shapes, axes and broadcasting: sizes along axes, and the arithmetic on them, without elements.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>

#include "../base/assert.h"
#include "../base/error.h"

namespace xgrad {

/// Arrays have at most this many axes.
inline constexpr int max_rank = 8;

/// A list of at most `max_rank` elements that allocates no memory: the base of Shape and Axes.
template <class T>
class ShortList {
 public:
  constexpr ShortList() {}
  constexpr ShortList(std::initializer_list<T> values) : ShortList(std::span<const T>(values.begin(), values.size())) {}
  explicit constexpr ShortList(std::span<const T> values) {
    for (const T value : values) push_back(value);
  }
  // Copies only the elements in use, because most lists are short and small operations copy several lists.
  constexpr ShortList(const ShortList& other) { *this = other; }
  constexpr ShortList& operator=(const ShortList& other) {
    for (int i = 0; i < other.size_; ++i) (*this)[i] = other[i];
    size_ = other.size_;
    return *this;
  }
  /// A list of `count` elements that all equal `value`.
  static constexpr ShortList filled(int count, T value) {
    ShortList list;
    for (int i = 0; i < count; ++i) list.push_back(value);
    return list;
  }

  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr T operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  constexpr T& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  constexpr T back() const { return (*this)[size_ - 1]; }
  constexpr const T* begin() const& { return values_.data(); }
  constexpr const T* end() const& { return values_.data() + size_; }
  constexpr T* begin() & { return values_.data(); }
  constexpr T* end() & { return values_.data() + size_; }
  /// Deleted: the temporary list dies before the pointer is used. Give the list a name first.
  constexpr const T* begin() && = delete;
  constexpr const T* end() && = delete;

  /// Appends `value`. Throws LimitError beyond max_rank.
  constexpr void push_back(T value) {
    if (size_ == max_rank) fail<LimitError>("shape", "more than ", max_rank, " axes");
    (*this)[size_++] = value;
  }
  /// Inserts `value` before position `i`.
  constexpr void insert(int i, T value) {
    XGRAD_ASSERT(i >= 0 && i <= size_);
    push_back(value);
    std::rotate(begin() + i, end() - 1, end());
  }
  constexpr void erase(int i) {
    XGRAD_ASSERT(i >= 0 && i < size_);
    std::move(begin() + i + 1, end(), begin() + i);
    --size_;
  }

  friend constexpr bool operator==(const ShortList& a, const ShortList& b) { return std::ranges::equal(a, b); }

 private:
  std::array<T, max_rank> values_;  // uninitialised from size_ on
  int size_ = 0;
};

namespace detail {
// Types that count as the number of an axis: bool does not.
template <class T>
concept AxisNumber = std::integral<T> && !std::same_as<T, bool>;
}  // namespace detail

/// Axes of an array: `-1` or `{0, 2}`. They count from 0; negative axes count from the end.
class Axes : public ShortList<int> {
 public:
  constexpr Axes() = default;
  template <detail::AxisNumber... Numbers>
  requires(sizeof...(Numbers) > 0) constexpr Axes(Numbers... axes) : ShortList{static_cast<int>(axes)...} {}
  constexpr Axes(const ShortList& list) : ShortList(list) {}
};

/// The sizes of an array along its axes. `{}` is a scalar; an array with an axis of size 0 has no elements.
class Shape : public ShortList<std::int64_t> {
 public:
  using ShortList::ShortList;
  constexpr Shape() = default;
  constexpr Shape(const ShortList& list) : ShortList(list) {}

  constexpr int rank() const { return size(); }

  /// The size along `axis`; negative axes count from the end. Throws ValueError if there is no such axis.
  std::int64_t dim(int axis) const;

  /// The number of elements, 1 for a scalar. Throws ValueError for a negative size, and LimitError when the product of
  /// the nonzero sizes exceeds the address space.
  std::int64_t numel() const;
};

/// The list as text: `[2, 3]`.
template <class T>
std::string to_string(const ShortList<T>& list) {
  return str(list);
}
std::ostream& operator<<(std::ostream& out, const ShortList<std::int64_t>& list);
std::ostream& operator<<(std::ostream& out, const ShortList<int>& list);

/// The axis counted from 0: -1 becomes rank - 1. Throws ValueError unless -rank <= axis < rank.
int normalize_axis(std::string_view op, int axis, int rank);

/// The axes counted from 0, in ascending order. Throws ValueError for an axis out of range or repeated.
Axes normalize_axes(std::string_view op, const Axes& axes, int rank);

/// The axes 0, 1, ..., rank - 1.
Axes all_axes(int rank);

/// The shape that two shapes broadcast to, as in numpy: aligned at the end, with sizes that are equal or 1. Throws
/// ShapeError if they do not fit. Its message ends in `of_factors` if a matrix product would accept the two shapes.
Shape broadcast_shapes(std::string_view op, const Shape& a, const Shape& b, std::string_view of_factors = {});

/// The shape of an argument of an operation, and the name of the argument in errors.
struct NamedShape {
  std::string_view name;
  Shape shape;
};
/// The shape that all arguments broadcast to. If they do not fit, throws a ShapeError that lists the arguments and
/// their shapes.
Shape broadcast_shapes(std::string_view op, std::span<const NamedShape> arguments);
inline Shape broadcast_shapes(std::string_view op, std::initializer_list<NamedShape> arguments) {
  return broadcast_shapes(op, std::span(arguments.begin(), arguments.size()));
}

/// Whether two shapes broadcast to a common shape.
bool broadcast_together(const Shape& a, const Shape& b);
/// Whether an array of shape `from` can be broadcast to shape `to`.
bool broadcasts_to(const Shape& from, const Shape& to);

/// The row-major strides in elements: the product of the sizes after each axis.
ShortList<std::int64_t> strides_of(const Shape& shape);

/// The indices of element number `i` in row-major order: {1, 2} for element 5 of a [2, 3] array.
Shape position_of(std::int64_t i, const Shape& shape);

/// The strides to read an array of shape `from` as if it had shape `to`: 0 along repeated axes.
ShortList<std::int64_t> broadcast_strides(const Shape& from, const Shape& to);

}  // namespace xgrad
