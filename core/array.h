// The numbers: n-dimensional arrays of Real (Array), whole numbers (Index) and truth values (Mask). No graph.
//
// An array is a value: shape and contiguous row-major elements in a block of the pool. Copies share the block until one
// of them is written to, so copying costs a few nanoseconds and nobody sees another's changes. Index and Mask are
// types of their own: nobody can ask for the gradient of a token id.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include <xgrad/core/pool.h>
#include <xgrad/core/shape.h>
#include <xgrad/core/slice.h>

namespace xgrad::inline XGRAD_ABI {

/// A block of elements, shared by the arrays that look at it. Behind it is xtensor's own container (core/buffer.h).
template <class T>
struct Buffer {
  RefCount refs;
  T* data = nullptr;
  static void destroy(Buffer* buffer) noexcept;
};

template <class T>
class BasicArray {
 public:
  using value_type = T;

  /// No elements: shape [0].
  BasicArray();
  /// Elements of any value, to be written before they are read. Throws LimitError when the size overflows.
  explicit BasicArray(const Shape& shape);
  /// Every element equal to `value`.
  BasicArray(const Shape& shape, T value);
  /// The values in row-major order. Throws ShapeError unless there are as many as the shape says.
  BasicArray(const Shape& shape, std::span<const T> values);
  BasicArray(const Shape& shape, std::initializer_list<T> values)
      : BasicArray(shape, std::span<const T>(values.begin(), values.size())) {}
  template <std::same_as<T> V>
  requires(!std::same_as<V, bool>) BasicArray(const Shape& shape, const std::vector<V>& values)
      : BasicArray(shape, std::span<const T>(values)) {}

  BasicArray(const BasicArray&) = default;
  BasicArray& operator=(const BasicArray&) = default;
  /// A moved-from array has no elements.
  BasicArray(BasicArray&& other) noexcept;
  BasicArray& operator=(BasicArray&& other) noexcept;
  ~BasicArray() = default;

  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  std::int64_t size() const { return size_; }
  /// The size along `axis`, negative axes from the end. Throws ValueError.
  std::int64_t dim(int axis) const { return shape_.dim(axis); }

  const T* data() const { return data_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  /// The elements for writing. If another array shares them, this one gets a copy of its own first.
  T* mutable_data();

  /// The only element. Throws ShapeError unless there is exactly one.
  T item() const;
  /// One element; negative indices count from the end. Throws ValueError for a wrong number of indices or one outside.
  T at(std::initializer_list<std::int64_t> indices) const;

  /// A part, as in numpy: ids[{_, slice(0, 3)}]. See core/slice.h; defined in ops/shape.cpp.
  BasicArray operator[](std::initializer_list<Slice> slices) const;

  /// The same elements under another shape, shared, never copied. One size may be -1 and is computed.
  /// Throws ShapeError when the counts differ, ValueError for a size below -1 or a second -1.
  BasicArray reshaped(const Shape& shape) const;

  /// Whether both look at the same block.
  bool shares_memory_with(const BasicArray& other) const { return buffer_ && buffer_ == other.buffer_; }
  /// Whether nobody else looks at this array's block.
  bool unique() const;

  /// The block itself, for those who keep elements but know the shape (nodes of the graph).
  const Ref<Buffer<T>>& buffer() const { return buffer_; }
  BasicArray(Ref<Buffer<T>> buffer, const Shape& shape);

 private:
  Shape shape_{0};
  std::int64_t size_ = 0;
  T* data_ = nullptr;
  Ref<Buffer<T>> buffer_;
};

using Array = BasicArray<Real>;
using Index = BasicArray<std::int64_t>;
using Mask = BasicArray<bool>;

extern template class BasicArray<Real>;
extern template class BasicArray<std::int64_t>;
extern template class BasicArray<bool>;

/// The shape that `shape`, in which one size may be -1, stands for when there are `count` elements.
/// Throws ShapeError, ValueError as BasicArray::reshaped.
Shape resolve_shape(std::string_view op, std::int64_t count, const Shape& shape);

/// The elements of both in the same order and the same shape (NaN differs from itself).
template <class T>
bool equal(const BasicArray<T>& a, const BasicArray<T>& b) {
  return a.shape() == b.shape() && std::ranges::equal(a, b);
}

/// numpy's picture of the numbers with its shape, long arrays shortened.
std::string to_string(const Array& array);
std::string to_string(const Index& array);
std::string to_string(const Mask& array);

}  // namespace xgrad::inline XGRAD_ABI
