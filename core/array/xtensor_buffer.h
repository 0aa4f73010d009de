// The storage of an array's elements: xtensor's container on the pool, or one that was handed over. Only array.cpp and
// xtensor.h look inside.
#pragma once

#include <memory>

#include "../runtime/memory.h"

#if __has_include(<xtensor/containers/xstorage.hpp>)
#include <xtensor/containers/xstorage.hpp>  // xtensor 0.26 moved its headers
#else
#include <xtensor/xstorage.hpp>
#endif

namespace xgrad {

template <class T>
struct XtensorBuffer : Buffer<T> {
  using Storage = xt::uvector<T, PoolAllocator<T>>;
  static constexpr std::size_t in_place = 16 / sizeof(T);  // scalars need no second block

  /// A container that was handed over, and its deleter.
  struct Guest {
    void* container;
    void (*destroy)(void*);
  };

  Storage storage;
  union {
    T small[in_place];
    Guest guest;
  };

  XtensorBuffer() {}
  ~XtensorBuffer() {
    if (this->data != small && this->data != storage.data()) guest.destroy(guest.container);
  }
  /// Room for `size` uninitialised elements.
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
  /// Takes over a container of contiguous elements, whatever its allocator.
  template <class Container>
  static Ref<Buffer<T>> host(Container&& source) {
    auto owner = create(0);
    auto* buffer = static_cast<XtensorBuffer*>(owner.get());
    auto container = std::make_unique<Container>(std::move(source));
    buffer->data = container->data();
    buffer->guest = {container.release(), [](void* given) { delete static_cast<Container*>(given); }};
    return owner;
  }
};

}  // namespace xgrad
