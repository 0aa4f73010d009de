// Arrays: construction and sharing.
#include "array.h"

#include <array>
#include <charconv>
#include <new>
#include <utility>

#if __has_include(<xtensor/containers/xstorage.hpp>)
#include <xtensor/containers/xstorage.hpp>  // xtensor 0.26 moved its headers
#else
#include <xtensor/xstorage.hpp>
#endif

namespace xgrad {
namespace {

// The storage of an array's elements: xtensor's container on the pool.
template <class T>
struct XtensorBuffer : Buffer<T> {
  using Storage = xt::uvector<T, PoolAllocator<T>>;
  static constexpr std::size_t in_place = 16 / sizeof(T);  // scalars need no second block

  Storage storage;
  T small[in_place];

  XtensorBuffer() {}
  // Room for `size` uninitialised elements.
  static Ref<Buffer<T>> create(std::int64_t size) {
    auto* buffer = new (pool_allocate(sizeof(XtensorBuffer))) XtensorBuffer;
    auto owner = Ref<Buffer<T>>::adopt(buffer);
    buffer->data = buffer->small;
    if (static_cast<std::size_t>(size) > in_place) {
      buffer->storage.resize(static_cast<std::size_t>(size));
      buffer->data = buffer->storage.data();
    }
    return owner;
  }
};

}  // namespace

template <class T>
void Buffer<T>::destroy(Buffer* buffer) noexcept {
  auto* whole = static_cast<XtensorBuffer<T>*>(buffer);
  whole->~XtensorBuffer<T>();
  pool_release(whole, sizeof(XtensorBuffer<T>));
}

template <class T>
BasicArray<T> Nested<T>::array() const {
  return BasicArray<T>(shape_, values_);
}

template <class T>
BasicArray<T>::BasicArray() = default;

namespace {

// Bytes for people: 24.0 GB.
std::string readable_bytes(double bytes) {
  constexpr std::array units{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, bytes, std::chars_format::general, 3).ptr;
  return str(std::string_view(digits, static_cast<std::size_t>(end - digits)), " ", units[unit]);
}

template <class T>
Ref<Buffer<T>> room_for(const Shape& shape, std::int64_t size, detail::Caller caller) {
  try {
    return XtensorBuffer<T>::create(size);
  } catch (const std::bad_alloc&) {
    // Without the template arguments that some compilers append.
    const std::string_view said = caller.function, function = said.substr(0, said.find('<'));
    fail<LimitError>(function.starts_with("operator") ? "array" : function, "no memory for an array of shape ", shape,
                     " (", readable_bytes(static_cast<double>(size) * sizeof(T)), ")");
  }
}

}  // namespace

template <class T>
BasicArray<T>::BasicArray(const Shape& shape, detail::Caller caller)
    : shape_(shape), size_(shape.numel()), buffer_(room_for<T>(shape, size_, caller)) {
  data_ = buffer_->data;
}

template <class T>
BasicArray<T>::BasicArray(const Shape& shape, T value, detail::Caller caller) : BasicArray(shape, caller) {
  std::fill_n(data_, size_, value);
}

template <class T>
BasicArray<T>::BasicArray(const Shape& shape, std::span<const T> values) {
  if (std::cmp_not_equal(values.size(), shape.numel())) {
    fail<ShapeError>("array", values.size(), " values for shape ", shape);
  }
  *this = BasicArray(shape);
  std::ranges::copy(values, data_);
}

template <class T>
BasicArray<T>::BasicArray(Ref<Buffer<T>> buffer, const Shape& shape)
    : shape_(shape), size_(shape.numel()), data_(buffer->data), buffer_(std::move(buffer)) {}

template <class T>
BasicArray<T>::BasicArray(BasicArray&& other) noexcept
    : shape_(std::exchange(other.shape_, Shape{0})),
      size_(std::exchange(other.size_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      buffer_(std::move(other.buffer_)) {}

template <class T>
BasicArray<T>& BasicArray<T>::operator=(BasicArray&& other) noexcept {
  if (this != &other) {
    shape_ = std::exchange(other.shape_, Shape{0});
    size_ = std::exchange(other.size_, 0);
    data_ = std::exchange(other.data_, nullptr);
    buffer_ = std::move(other.buffer_);
  }
  return *this;
}

template <class T>
T* BasicArray<T>::mutable_data() {
  if (!unique()) *this = BasicArray(shape_, std::span<const T>(data_, static_cast<std::size_t>(size_)));
  return data_;
}

template <class T>
T BasicArray<T>::item() const {
  if (size_ != 1) fail<ShapeError>("item", "needs exactly one element, shape is ", shape_);
  return data_[0];
}

template <class T>
T BasicArray<T>::at(std::initializer_list<std::int64_t> indices) const {
  if (std::cmp_not_equal(indices.size(), rank())) {
    fail<ValueError>("at", indices.size(), " indices for shape ", shape_);
  }
  std::int64_t offset = 0;
  int axis = 0;
  for (const std::int64_t index : indices) {
    const std::int64_t size = shape_[axis++];
    if (index < -size || index >= size)
      fail<ValueError>("at", "index ", index, " out of range for axis of size ", size);
    offset = offset * size + (index < 0 ? index + size : index);
  }
  return data_[offset];
}

template <class T>
BasicArray<T> BasicArray<T>::reshaped(const Shape& shape) const {
  BasicArray result(*this);
  result.shape_ = resolve_shape("reshape", shape_, shape);
  return result;
}

template struct Buffer<Real>;
template struct Buffer<std::int64_t>;
template struct Buffer<bool>;
template Array Nested<Real>::array() const;
template Index Nested<std::int64_t>::array() const;
template Mask Nested<bool>::array() const;
template class BasicArray<Real>;
template class BasicArray<std::int64_t>;
template class BasicArray<bool>;

Shape resolve_shape(std::string_view op, const Shape& from, const Shape& to) {
  int open = -1;
  Shape known = to;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] >= 0) continue;
    if (to[i] != -1) fail<ValueError>(op, "negative size ", to[i], " in ", to);
    if (open >= 0) fail<ValueError>(op, "at most one -1 in ", to);
    open = i;
    known[i] = 1;
  }
  const std::int64_t count = from.numel(), rest = known.numel();
  if (open >= 0 && rest == 0) fail<ShapeError>(op, "-1 is ambiguous next to a size of 0 in ", to);
  if (open < 0 ? rest != count : count % rest != 0) {
    fail<ShapeError>(op, from, " of ", count, " elements cannot become ", to,
                     open < 0 ? std::string() : str(": they are not divisible by ", rest));
  }
  if (open >= 0) known[open] = count / rest;
  return known;
}

}  // namespace xgrad
