// The memory pool of all arrays and graph nodes, and reference-counted pointers to the objects in it.
//
// A training loop asks for the same sizes again and again. The pool reuses a free block of the size class instead of
// asking the operating system, so a loop in its steady state makes no system call and touches no new page. Each thread
// has its own lists and takes no lock. Any thread may release a block. Blocks that a thread gets back beyond those that
// it requested go to shared lists.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "../base/config.h"

namespace xgrad {

/// The purpose of a block. Small blocks for nodes have separate lists: a graph releases them in its own order, and the
/// next graph takes them in that order, so that the processor reads ahead. Mixed with other blocks a graph of small
/// operations takes twice as long.
enum class PoolUse { values, nodes };

/// A block of at least `bytes` bytes, aligned to 64. Throws std::bad_alloc when the system has no memory left.
void* pool_allocate(std::size_t bytes, PoolUse use = PoolUse::values);
/// Gives a block back; `bytes` and `use` must be as at its allocation. Thread-safe, as all functions here.
void pool_release(void* block, std::size_t bytes, PoolUse use = PoolUse::values) noexcept;

/// The memory in the pools of all threads.
struct [[nodiscard]] PoolStats {
  std::int64_t bytes_in_use = 0;     ///< handed out
  std::int64_t bytes_cached = 0;     ///< waiting to be handed out again
  std::int64_t system_requests = 0;  ///< times that the operating system was asked for memory
};
PoolStats pool_stats();

namespace detail {
/// Returns the free blocks of this thread and of the shared lists to the operating system, except blocks of at most
/// 1 KiB. An allocation that the system refuses calls this itself and asks again.
void pool_trim();
}  // namespace detail

/// A standard allocator that uses the pool.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    static_assert(alignof(T) <= 64, "the pool's blocks are aligned to 64 bytes, and this type wants more");
    if (n > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(pool_allocate(n * sizeof(T)));
  }
  void deallocate(T* block, std::size_t n) noexcept { pool_release(block, n * sizeof(T)); }
  template <class U>
  bool operator==(const PoolAllocator<U>&) const {
    return true;
  }
};

/// A thread-safe reference count.
class RefCount {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// Drops a reference; true if it was the last.
  bool drop() noexcept {
    if (count_.load(std::memory_order_acquire) == 1) return true;  // no other thread can be adding one
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  std::int32_t load() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int32_t> count_{1};
};

/// A reference-counted pointer to a T that has `RefCount refs` and a `static void T::destroy(T*) noexcept`.
/// Threads: copies may belong to different threads; many threads may read one pointer, or one may change it.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  /// The pointer that takes over the initial reference of a new object.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  /// A new reference to an object that is already held elsewhere.
  static Ref share(T* object) noexcept {
    if (object) object->refs.add();
    return adopt(object);
  }
  Ref(const Ref& other) noexcept : object_(other.object_) {
    if (object_) object_->refs.add();
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ && object_->refs.drop()) T::destroy(object_);
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

  /// The object of a pointer that another thread sets once with publish(), or nullptr so far.
  T* published() const noexcept {
    return __atomic_load_n(&object_, __ATOMIC_ACQUIRE);  // std::atomic_ref is missing from libc++ before 19
  }
  /// Sets the pointer to the object of `first`, unless another thread was faster; then `first` still holds its object.
  void publish(Ref& first) noexcept {
    T* expected = nullptr;
    if (__atomic_compare_exchange_n(&object_, &expected, first.object_, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
      first.object_ = nullptr;
    }
  }

  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

// A block of elements, shared by arrays. It is implemented by xtensor's own container (core/array/array.cpp).
template <class T>
struct Buffer {
  RefCount refs;
  T* data = nullptr;
  static void destroy(Buffer* buffer) noexcept;
};

}  // namespace xgrad
