// Numbers in braces.
#include "nested.h"

#include "array.h"

namespace xgrad {

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

template class Nested<Real>;
template class Nested<std::int64_t>;
template class Nested<bool>;

}  // namespace xgrad
