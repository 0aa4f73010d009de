// Arrays: construction and sharing.
#include "array.h"

#include <sys/mman.h>

#include <cstdint>
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
  // A buffer of `size` uninitialised elements, which may be more than there are addresses.
  static Ref<Buffer<T>> create(std::int64_t size) {
    if (!std::in_range<std::ptrdiff_t>(size)) throw std::bad_alloc();
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

template <class T>
Ref<Buffer<T>> allocated(const Shape& shape, std::int64_t size, detail::Caller caller) {
  try {
    return XtensorBuffer<T>::create(size);
  } catch (const std::bad_alloc&) {
    // Without the template arguments that some compilers append.
    const std::string_view name = caller.function, function = name.substr(0, name.find('<'));
    fail<LimitError>(function.starts_with("operator") ? "array" : function, "no memory for an array of shape ", shape,
                     " (", detail::bytes_text(static_cast<double>(size) * sizeof(T)), ")");
  }
}

}  // namespace

template <class T>
void Buffer<T>::destroy(Buffer* buffer) noexcept {
  auto* own = static_cast<XtensorBuffer<T>*>(buffer);
  own->~XtensorBuffer<T>();
  pool_release(own, sizeof(XtensorBuffer<T>));
}

template <class T>
Nested<T>::Nested(std::initializer_list<Nested> parts) {
  if (parts.size() > 0) shape_ = parts.begin()->shape_;
  for (const Nested& part : parts) {
    if (part.shape_ != shape_)
      fail<ShapeError>("tensor", "parts of shapes ", shape_, " and ", part.shape_, " in one list");
    values_.insert(values_.end(), part.values_.begin(), part.values_.end());
  }
  shape_.insert(0, static_cast<std::int64_t>(parts.size()));
}

template <class T>
BasicArray<T> Nested<T>::array() const {
  return BasicArray<T>(shape_, values_);
}

template <class T>
BasicArray<T>::BasicArray() = default;

template <class T>
BasicArray<T>::BasicArray(const Shape& shape, detail::Caller caller)
    : shape_(shape), size_(shape.numel()), buffer_(allocated<T>(shape, size_, caller)) {
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
template class Nested<Real>;
template class Nested<std::int64_t>;
template class Nested<bool>;
template class BasicArray<Real>;
template class BasicArray<std::int64_t>;
template class BasicArray<bool>;

Shape resolve_shape(std::string_view op, const Shape& from, const Shape& to) {
  int open = -1;
  Shape result = to;
  for (int i = 0; i < to.rank(); ++i) {
    if (to[i] >= 0) continue;
    if (to[i] != -1) fail<ValueError>(op, "negative size ", to[i], " in ", to);
    if (open >= 0) fail<ValueError>(op, "at most one -1 in ", to);
    open = i;
    result[i] = 1;
  }
  const std::int64_t count = from.numel(), others = result.numel();
  if (open >= 0 && others == 0) fail<ShapeError>(op, "-1 is ambiguous next to a size of 0 in ", to);
  if (open < 0 ? others != count : count % others != 0) {
    fail<ShapeError>(op, from, " of ", count, " elements cannot become ", to,
                     open < 0 ? std::string() : str(": they are not divisible by ", others));
  }
  if (open >= 0) result[open] = count / others;
  return result;
}

void detail::use_huge_pages(const Array& array) noexcept {
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  constexpr int collapse = 25;  // MADV_COLLAPSE, which older headers do not name
  const auto first = reinterpret_cast<std::uintptr_t>(array.begin()),
             last = reinterpret_cast<std::uintptr_t>(array.end());
  const std::uintptr_t begin = (first + page - 1) / page * page, end = last / page * page;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, collapse);
}

}  // namespace xgrad
