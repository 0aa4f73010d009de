// Numbers in braces.
#include "nested.h"

#include "../base/error.h"

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

template Nested<Real>::Nested(std::initializer_list<Nested>);
template Nested<std::int64_t>::Nested(std::initializer_list<Nested>);
template Nested<bool>::Nested(std::initializer_list<Nested>);

}  // namespace xgrad
