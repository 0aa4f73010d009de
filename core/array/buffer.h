// The block that an array's elements live in.
#pragma once

#include "../runtime/memory.h"

namespace xgrad {

/// A block of elements, shared by the arrays that look at it. Behind it is xtensor's own container (xtensor_buffer.h).
template <class T>
struct Buffer {
  RefCount refs;
  T* data = nullptr;
  static void destroy(Buffer* buffer) noexcept;
};

}  // namespace xgrad
