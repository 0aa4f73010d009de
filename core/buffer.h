// What an array's elements live in: xtensor's container on the pool. Only array.cpp and xtensor.h look inside.
#pragma once

#include <xgrad/core/array.h>

#if __has_include(<xtensor/containers/xstorage.hpp>)
#include <xtensor/containers/xstorage.hpp>  // xtensor 0.26 moved its headers
#else
#include <xtensor/xstorage.hpp>
#endif

namespace xgrad::inline XGRAD_ABI {

template <class T>
struct Buffer {
  using Storage = xt::uvector<T, PoolAllocator<T>>;
  static constexpr std::size_t in_place = 16 / sizeof(T);  // scalars need no second block

  RefCount refs;
  T* data = nullptr;
  Storage storage;
  T small[in_place];

  static Buffer* create(std::int64_t size) {
    auto* buffer = new (pool_allocate(sizeof(Buffer))) Buffer;
    if (static_cast<std::size_t>(size) <= in_place) {
      buffer->data = buffer->small;
    } else {
      try {
        buffer->storage.resize(static_cast<std::size_t>(size));
      } catch (...) {
        destroy(buffer);
        throw;
      }
      buffer->data = buffer->storage.data();
    }
    return buffer;
  }
  static Buffer* adopt(Storage&& storage) {
    auto* buffer = new (pool_allocate(sizeof(Buffer))) Buffer;
    buffer->storage = std::move(storage);
    buffer->data = buffer->storage.data();
    return buffer;
  }
  static void destroy(Buffer* buffer) noexcept {
    buffer->~Buffer();
    pool_release(buffer, sizeof(Buffer));
  }
};

}  // namespace xgrad::inline XGRAD_ABI
