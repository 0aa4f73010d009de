// Arrays: n-dimensional arrays of Real (Array), of integers (Index) and of booleans (Mask), without a graph.
//
// An array has a shape and contiguous row-major elements in a block of the memory pool. Arrays are copy-on-write: a
// copy costs a few nanoseconds, and changes to one array never show in another. Index and Mask are separate types, so
// nobody can ask for the gradient of a token id.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "../runtime/memory.h"
#include "copies.h"
#include "shape.h"
#include "slice.h"

namespace xgrad {

/// A container such as std::vector or std::span whose elements convert to T: numbers of any type to Real, integers of
/// any type to int64, only booleans to bool.
template <class R, class T>
concept NumbersFor =
    std::ranges::sized_range<const R> && std::is_arithmetic_v<std::ranges::range_value_t<const R>> &&
    !std::same_as<std::ranges::range_value_t<const R>, char> &&
    std::same_as<std::ranges::range_value_t<const R>, bool> == std::same_as<T, bool> &&
    (!std::same_as<T, std::int64_t> ||
     std::integral<std::ranges::range_value_t<const R>>)&&!std::derived_from<R, ShortList<std::int64_t>> &&
    !requires(const R& r) {
  r.shape();
};

namespace detail {
/// The function that asks for an array. If there is no memory for the array, the error begins with this name.
struct Caller {
  const char* function;
};
/// Converts a foreign expression to an array. core/array/xtensor.h defines it for xtensor's expressions.
template <class E>
struct Evaluation;
}  // namespace detail

template <class T>
class BasicArray;
template <class T>
class ArrayPart;

/// Numbers in braces to any depth, {{1, 2}, {3, 4}}, the argument of tensor(), index(), mask() and variable(): a
/// number, or a list of nested numbers. A list throws ShapeError if its parts have different shapes.
template <class T>
class Nested {
 public:
  template <class Number>
  requires std::is_arithmetic_v<Number> Nested(Number number) : values_{static_cast<T>(number)} {}
  Nested(std::initializer_list<Nested> parts);

  /// The numbers as an array in the shape of the braces.
  BasicArray<T> array() const;

 private:
  Shape shape_;
  std::vector<T> values_;
};

/// An n-dimensional array: a shape and contiguous row-major elements of type T. Copies share the elements until one of
/// them is written to (copy-on-write).
///
/// Threads: different threads may use different arrays, even copies of the same array. Many threads may read one array,
/// or one thread may write to it.
template <class T>
class [[nodiscard]] BasicArray {
 public:
  using value_type = T;

  /// An array of shape [0], without elements.
  BasicArray();
  /// An array of uninitialised elements. Throws LimitError, with the name of the calling function, when the size
  /// overflows or there is no memory for it.
  explicit BasicArray(const Shape& shape, detail::Caller caller = {__builtin_FUNCTION()});
  /// An array whose elements all equal `value`.
  explicit BasicArray(const Shape& shape, T value, detail::Caller caller = {__builtin_FUNCTION()});
  /// An array with these values in row-major order. Throws ShapeError unless there is one value for each element.
  explicit BasicArray(const Shape& shape, std::span<const T> values);
  explicit BasicArray(const Shape& shape, std::initializer_list<T> values)
      : BasicArray(shape, std::span<const T>(values.begin(), values.size())) {}
  /// An array with these numbers, converted to T. Also throws ValueError for an integer beyond 2^63 - 1.
  template <NumbersFor<T> R>
  explicit BasicArray(const Shape& shape, const R& numbers);
  /// An array with one axis that contains these numbers.
  template <NumbersFor<T> R>
  explicit BasicArray(const R& numbers) : BasicArray(Shape{std::ranges::ssize(numbers)}, numbers) {}
  /// Deleted: write tensor({{1, 2}, {3, 4}}) or index({1, 2}) for numbers, Array(Shape{1, 2}) for a shape.
  BasicArray(std::initializer_list<Nested<T>>) = delete;
  /// The evaluated value of an xtensor expression: Array a = xt::exp(view(b)) * 2. Needs core/array/xtensor.h.
  template <class E>
  requires requires(E&& e) {
    { detail::Evaluation<std::remove_cvref_t<E>>::array(std::forward<E>(e)) } -> std::same_as<BasicArray>;
  }
  BasicArray(E&& expression)
      : BasicArray(detail::Evaluation<std::remove_cvref_t<E>>::array(std::forward<E>(expression))) {}

  BasicArray(const BasicArray& other)
      : shape_(other.shape_), size_(other.size_), data_(other.data_), buffer_(other.buffer_) {
    if (detail::CopyListener* listener = detail::context.copy_listener) [[unlikely]]
      listener->on_copy(buffer_.get(), size_ * static_cast<std::int64_t>(sizeof(T)));
  }
  BasicArray& operator=(const BasicArray&) = default;
  /// A moved-from array has no elements.
  BasicArray(BasicArray&& other) noexcept;
  BasicArray& operator=(BasicArray&& other) noexcept;
  ~BasicArray() = default;

  const Shape& shape() const& { return shape_; }
  Shape shape() && { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t size() const { return size_; }
  /// The size along `axis`; negative axes count from the end. Throws ValueError if there is no such axis.
  std::int64_t dim(int axis) const { return shape_.dim(axis); }

  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  /// A pointer for writing to the elements. Copies them first if another array shares them.
  T* mutable_data();

  /// The only element. Throws ShapeError unless there is exactly one.
  T item() const;
  /// The element at these indices; negative ones count from the end. Throws ValueError for a wrong number of indices or
  /// an index out of range.
  T at(std::initializer_list<std::int64_t> indices) const;

  /// A copy of a part, as in numpy: ids[{_, slice(0, 3)}]. See core/array/slice.h.
  BasicArray operator[](std::initializer_list<Slice> slices) const;
  /// A copy of the rows that an Index lists, or of the elements where a Mask is true, as in Tensor::operator[].
  BasicArray operator[](const BasicArray<std::int64_t>& rows) const;
  BasicArray operator[](const BasicArray<bool>& where) const;
  /// A part of a non-const array, to read or to assign: ids[{0, _}] = 7, ids[mask] = other. The assigned value is
  /// broadcast to the shape of the part. Throws as Tensor::operator[], and ShapeError if the value does not fit; the
  /// array is then unchanged.
  ArrayPart<T> operator[](std::initializer_list<Slice> slices);
  ArrayPart<T> operator[](const BasicArray<std::int64_t>& rows);
  ArrayPart<T> operator[](const BasicArray<bool>& where);

  /// The same elements under another shape, without a copy. One size may be -1: it is computed from the others. Throws
  /// ShapeError when the numbers of elements differ, ValueError for a size below -1 or a second -1.
  BasicArray reshaped(const Shape& shape) const;

  /// Whether no other array shares the elements, so that they may be overwritten in place.
  bool unique() const { return !buffer_ || buffer_->refs.load() == 1; }

  /// The buffer of the elements, for code that stores the shape itself (nodes of the graph).
  const Ref<Buffer<T>>& buffer() const { return buffer_; }
  BasicArray(Ref<Buffer<T>> buffer, const Shape& shape);

 private:
  Shape shape_{0};
  std::int64_t size_ = 0;
  T* data_ = nullptr;
  Ref<Buffer<T>> buffer_;
};

template <class T>
template <NumbersFor<T> R>
BasicArray<T>::BasicArray(const Shape& shape, const R& numbers) : BasicArray(shape) {
  if (std::cmp_not_equal(std::ranges::size(numbers), size_)) {
    fail<ShapeError>("array", std::ranges::size(numbers), " values for shape ", shape);
  }
  T* out = data_;
  for (const auto number : numbers) {
    if constexpr (std::unsigned_integral<decltype(number)> && std::same_as<T, std::int64_t>) {
      if (!std::in_range<T>(number)) fail<ValueError>("array", number, " does not fit a signed number of 64 bits");
    }
    *out++ = static_cast<T>(number);
  }
}

/// An array of real numbers: the value of a tensor.
using Array = BasicArray<Real>;
/// An array of integers: ids, positions, lengths.
using Index = BasicArray<std::int64_t>;
/// An array of booleans: the result of a comparison.
using Mask = BasicArray<bool>;

extern template class BasicArray<Real>;
extern template class BasicArray<std::int64_t>;
extern template class BasicArray<bool>;

/// The part of a non-const array that brackets select. Reading it gives a copy of the part. Assigning to it, while it
/// is a temporary, writes into the array.
template <class T>
class ArrayPart : public BasicArray<T> {
 public:
  using Selection = std::variant<Slices, Index, Mask>;
  ArrayPart(BasicArray<T>& array, Selection selection);
  ArrayPart(const ArrayPart&) = delete;

  /// See BasicArray::operator[].
  void operator=(const BasicArray<T>& values) &&;
  void operator=(const ArrayPart& values) && { std::move(*this) = static_cast<const BasicArray<T>&>(values); }
  void operator=(T value) && { std::move(*this) = BasicArray<T>(Shape{}, value); }

 private:
  BasicArray<T>& array_;
  Selection selection_;
};

/// The shape `to`, in which a size of -1 is replaced by the size that fits an array of shape `from`. Throws as
/// BasicArray::reshaped.
Shape resolve_shape(std::string_view op, const Shape& from, const Shape& to);

/// Whether two arrays have the same shape and equal elements (NaN differs from itself).
template <class T>
[[nodiscard]] bool equal(const BasicArray<T>& a, const BasicArray<T>& b) {
  return a.shape() == b.shape() && std::ranges::equal(a, b);
}

/// The elements as numpy prints them: aligned in columns, large arrays shortened to their first and last elements.
std::string to_string(const Array& array);
std::string to_string(const Index& array);
std::string to_string(const Mask& array);
std::ostream& operator<<(std::ostream& out, const Array& array);
std::ostream& operator<<(std::ostream& out, const Index& array);
std::ostream& operator<<(std::ostream& out, const Mask& array);

namespace detail {
/// The printed array with `indent` more spaces before every line but the first.
std::string printed(const Array& array, int indent);

/// Moves the elements of an array that is read often, such as weights, to huge pages, except for parts that do not fill
/// a huge page. Reading then needs fewer translations of addresses. Addresses and content stay the same. Costs a copy.
/// Does nothing on a system without free huge pages (madvise(2), MADV_COLLAPSE, Linux 6.1).
void use_huge_pages(const Array& array) noexcept;
}  // namespace detail

}  // namespace xgrad
