// The recycling pool that all arrays and graph nodes are made of, and counted references to what lives in it.
//
// A training loop asks for the same sizes again and again. The pool hands a block back out of a list of its size class
// instead of asking the operating system, so that a loop in its steady state makes no system call and touches no new
// page. Each thread has lists of its own, so that it takes no lock; a block may be released by another thread than the
// one that took it, and what a thread gets back beyond what it has asked for itself goes to lists that all threads
// share. Blocks of a mebibyte and more come from a heap that all threads share (large_blocks.h), where what one size
// has left serves another.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "../base/config.h"

namespace xgrad {

/// What a block is for. Small blocks for nodes have lists of their own: a graph gives them back in its own order, in
/// which the next graph then takes them, and the processor reads ahead. Among blocks that come and go in between that
/// order is lost, and a graph of small operations takes twice as long.
enum class PoolUse { values, nodes };

/// At least `bytes` bytes, aligned to 64. Throws std::bad_alloc when the system has none left.
void* pool_allocate(std::size_t bytes, PoolUse use = PoolUse::values);
/// Gives a block back; `bytes` and `use` as at its allocation. Threads: any may call these and those below.
void pool_release(void* block, std::size_t bytes, PoolUse use = PoolUse::values) noexcept;

/// What the pools of all threads hold.
struct PoolStats {
  std::int64_t bytes_in_use = 0;     ///< handed out
  std::int64_t bytes_cached = 0;     ///< waiting to be handed out again
  std::int64_t system_requests = 0;  ///< times that the operating system was asked for memory
};
PoolStats pool_stats();
/// Returns what waits in the lists of this thread, in those that threads share and among the large blocks to the
/// operating system, blocks of at most 1 KiB excepted. An allocation that the system refuses does so by itself and asks
/// again.
void pool_trim();

/// A standard allocator on the pool.
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
  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
};

/// A count of references, safe to share between threads.
class RefCount {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  /// True when this was the last reference.
  bool drop() noexcept {
    if (count_.load(std::memory_order_acquire) == 1) return true;  // nobody else can be adding one
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  std::int32_t load() const noexcept { return count_.load(std::memory_order_acquire); }

 private:
  std::atomic<std::int32_t> count_{1};
};

/// Threads: copies may belong to different threads; one pointer is read by many or changed by one, as a plain one.
/// A counted pointer to a T that has `RefCount refs` and a `static void T::destroy(T*) noexcept`.
template <class T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  /// Takes over the reference that a new object is born with.
  static Ref adopt(T* object) noexcept {
    Ref ref;
    ref.object_ = object;
    return ref;
  }
  /// One more reference to an object that is already held elsewhere.
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

  /// For a pointer that is given its object once, while other threads look at it: the object, or nullptr so far.
  T* published() const noexcept {
    return std::atomic_ref<T*>(const_cast<T*&>(object_)).load(std::memory_order_acquire);
  }
  /// The object from now on, unless another thread was faster; then `first` keeps its own.
  void publish(Ref& first) noexcept {
    T* none = nullptr;
    if (std::atomic_ref<T*>(object_).compare_exchange_strong(none, first.object_, std::memory_order_acq_rel)) {
      first.object_ = nullptr;
    }
  }

  friend bool operator==(const Ref& a, const Ref& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

// A block of elements, shared by the arrays that look at it. Behind it is xtensor's own container
// (core/array/xtensor_buffer.h).
template <class T>
struct Buffer {
  RefCount refs;
  bool borrowed = false;  ///< somebody else's memory, which is not written over
  T* data = nullptr;
  static void destroy(Buffer* buffer) noexcept;
};

}  // namespace xgrad
