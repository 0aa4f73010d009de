// The recycling pool: size classes, a list of free blocks per class and thread, and a shared one per class.
#include "memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define XGRAD_POOL_OFF 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define XGRAD_POOL_OFF 1
#endif
#endif

// Of the address sanitizer; null unless the program is compiled with it. The library then need not be. The linker of
// macOS has no reference that may stay null, so there they always are.
// NOLINTBEGIN(bugprone-reserved-identifier)
#ifdef __APPLE__
constexpr void (*__asan_poison_memory_region)(const volatile void*, std::size_t) = nullptr;
constexpr void (*__asan_unpoison_memory_region)(const volatile void*, std::size_t) = nullptr;
#else
extern "C" {
[[gnu::weak]] void __asan_poison_memory_region(const volatile void* block, std::size_t bytes);
[[gnu::weak]] void __asan_unpoison_memory_region(const volatile void* block, std::size_t bytes);
}
#endif
// NOLINTEND(bugprone-reserved-identifier)

namespace xgrad {
namespace {

constexpr std::size_t grain = 64;  // alignment, and the smallest block

constexpr bool pooling =
#ifdef XGRAD_POOL_OFF
    false;  // so that the address sanitizer sees every allocation and release
#else
    true;
#endif

// A counter with one writing thread, so that counting costs no bus lock; other threads may read it.
class Counter {
 public:
  void add(std::int64_t change) { value_.store(value() + change, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct Counters {
  Counter bytes_in_use, bytes_cached, system_requests;

  void add(const Counters& other) {
    bytes_in_use.add(other.bytes_in_use.value());
    bytes_cached.add(other.bytes_cached.value());
    system_requests.add(other.system_requests.value());
  }
};

// Classes: multiples of 64 bytes up to 1 KiB, first those of values, then those of nodes; then eight steps to each
// doubling, so that at most 1/8 is wasted.
constexpr int small_sizes = 16;
constexpr int small_classes = 2 * small_sizes;
constexpr int class_count =
    small_classes + 8 * (std::numeric_limits<std::size_t>::digits - 12);  // to a quarter of all sizes

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes, PoolUse use) {
  if (bytes <= grain * small_sizes) {
    const std::size_t units = bytes == 0 ? 1 : (bytes + grain - 1) / grain;
    return {static_cast<int>(units) - 1 + (use == PoolUse::nodes ? small_sizes : 0), units * grain};
  }
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const std::size_t step = std::size_t{1} << (top - 3);
  const std::size_t steps = (bytes - (std::size_t{1} << top) + step - 1) / step;  // 1 ... 8
  return {small_classes + 8 * (top - 10) + static_cast<int>(steps) - 1, (std::size_t{1} << top) + steps * step};
}

std::size_t bytes_of_class(int index) {
  if (index < small_classes) return grain * static_cast<std::size_t>(index % small_sizes + 1);
  const int top = 10 + (index - small_classes) / 8, steps = (index - small_classes) % 8 + 1;
  return (std::size_t{1} << top) + static_cast<std::size_t>(steps) * (std::size_t{1} << (top - 3));
}

struct FreeBlock {
  FreeBlock* next;
};

// Free blocks of a class that pass from one thread to another. This header lies in the first of them.
struct Batch : FreeBlock {
  Batch* next_batch;
  std::int64_t count;
};
static_assert(sizeof(Batch) <= grain);

// The number of blocks that pass at once: many small ones for one lock; large ones do not wait for others.
std::int64_t batch_of_class(int index) {
  constexpr std::int64_t most = 32, most_bytes = 1 << 16;
  if (index < small_classes) return most;
  return std::clamp(most_bytes / static_cast<std::int64_t>(bytes_of_class(index)), std::int64_t{0}, most);
}

std::int64_t bytes_of(int index, std::int64_t count) {
  return static_cast<std::int64_t>(bytes_of_class(index)) * count;
}

// Blocks released by some threads, available to all.
class SharedLists {
 public:
  // Whether there are blocks of this class: read without a lock, so possibly out of date.
  bool has(int index) const { return list(index).load(std::memory_order_relaxed) != nullptr; }
  void give(int index, Batch* batch) {
    const std::lock_guard lock(mutex_);
    batch->next_batch = list(index).load(std::memory_order_relaxed);
    list(index).store(batch, std::memory_order_relaxed);
    counters_.bytes_cached.add(bytes_of(index, batch->count));
  }
  // nullptr if other threads were faster.
  Batch* take(int index) {
    const std::lock_guard lock(mutex_);
    Batch* batch = list(index).load(std::memory_order_relaxed);
    if (batch) {
      list(index).store(batch->next_batch, std::memory_order_relaxed);
      counters_.bytes_cached.add(-bytes_of(index, batch->count));
    }
    return batch;
  }
  // For a block of a thread that has no pool.
  void release(int index, void* block) {
    {
      const std::lock_guard lock(mutex_);
      counters_.bytes_in_use.add(-bytes_of(index, 1));
    }
    if (!pooling) return std::free(block);
    give(index, new (block) Batch{{nullptr}, nullptr, 1});
  }
  void trim() {
    for (int index = small_classes; index < class_count; ++index) {
      while (has(index)) {
        Batch* batch = take(index);
        for (FreeBlock* block = batch; block;) std::free(std::exchange(block, block->next));
      }
    }
  }
  const Counters& counters() const { return counters_; }

 private:
  std::atomic<Batch*>& list(int index) { return lists_[static_cast<std::size_t>(index)]; }
  const std::atomic<Batch*>& list(int index) const { return lists_[static_cast<std::size_t>(index)]; }

  std::mutex mutex_;  // guards everything below
  std::array<std::atomic<Batch*>, class_count> lists_{};
  Counters counters_;
};

// Never destroyed: static objects may release blocks late.
SharedLists& shared_lists() {
  static SharedLists& only = *new SharedLists;
  return only;
}

// The lists of one thread. Small blocks are cut from slabs one after the other, and never go back to the system. (A
// block that one thread hands out and another takes back counts negative there; the sum is right.)
//
// A thread holds as many free blocks of a class as it has requested from the system, plus a batch; any surplus, which
// comes from other threads, goes to the shared lists. So a single thread holds all it ever used and never takes a lock,
// and blocks that move between threads do not pile up: the allocating thread finds them in the shared lists and asks
// the system only while these are empty.
class Pool {
 public:
  Pool() {
    for (int index = 0; index < class_count; ++index)
      free_[static_cast<std::size_t>(index)].capacity = batch_of_class(index);
  }

  void* allocate(std::size_t bytes, PoolUse use) {
    const SizeClass size = size_class(bytes, use);
    const auto counted = static_cast<std::int64_t>(size.bytes);
    List& list = free_[static_cast<std::size_t>(size.index)];
    void* block = nullptr;
    if (list.first || (pooling && shared_lists().has(size.index) && refill(size.index))) {
      counters_.bytes_cached.add(-counted);
      block = std::exchange(list.first, list.first->next);
      // Fetches the next block while this one is filled.
      __builtin_prefetch(list.first, 1);
      if (size.bytes > grain) __builtin_prefetch(reinterpret_cast<const char*>(list.first) + grain, 1);
    } else if (size.index < small_classes && pooling) {
      block = cut(size.bytes);
    } else {
      block = ask_system(pooling ? size.bytes : (bytes + grain) / grain * grain);
    }
    ++list.capacity;
    counters_.bytes_in_use.add(counted);
    if (__asan_unpoison_memory_region) [[unlikely]]
      __asan_unpoison_memory_region(block, bytes);
    return block;
  }
  void release(void* block, std::size_t bytes, PoolUse use) {
    const SizeClass size = size_class(bytes, use);
    const auto counted = static_cast<std::int64_t>(size.bytes);
    counters_.bytes_in_use.add(-counted);
    if (!pooling) return std::free(block);
    if (__asan_poison_memory_region) [[unlikely]]
      __asan_poison_memory_region(block, size.bytes);
    List& list = free_[static_cast<std::size_t>(size.index)];
    list.first = new (block) FreeBlock{list.first};
    counters_.bytes_cached.add(counted);
    if (--list.capacity < 0) [[unlikely]]
      pass_on(size.index);
  }
  void trim() {
    for (int index = small_classes; index < class_count; ++index) {
      for (FreeBlock*& first = free_[static_cast<std::size_t>(index)].first; first;) {
        std::free(std::exchange(first, first->next));
        counters_.bytes_cached.add(-bytes_of(index, 1));
      }
    }
  }
  // When its thread ends: large blocks go back to the system, small ones to other threads.
  void retire() {
    trim();
    for (int index = 0; index < class_count; ++index) {
      List& list = free_[static_cast<std::size_t>(index)];
      while (list.first) pass_on(index);
      list.capacity = batch_of_class(index);
    }
  }
  const Counters& counters() const { return counters_; }

 private:
  struct List {
    FreeBlock* first = nullptr;
    std::int64_t capacity = 0;  // how many more blocks this thread holds before it passes some on
  };

  void* cut(std::size_t bytes) {
    if (static_cast<std::size_t>(slab_end_ - slab_) < bytes) {
      slab_ = static_cast<char*>(ask_system(next_slab_));
      slab_end_ = slab_ + next_slab_;
      next_slab_ = std::min<std::size_t>(2 * next_slab_, 1 << 20);
    }
    return std::exchange(slab_, slab_ + bytes);
  }
  // Before it gives up, it returns the free blocks of other sizes to the system.
  void* ask_system(std::size_t bytes) {
    void* block = std::aligned_alloc(grain, bytes);
    if (!block) {
      trim();
      shared_lists().trim();
      block = std::aligned_alloc(grain, bytes);
    }
    if (!block) throw std::bad_alloc();
    counters_.system_requests.add(1);
    return block;
  }
  // Moves a batch, or as many as there are, to the shared lists.
  void pass_on(int index) {
    List& list = free_[static_cast<std::size_t>(index)];
    FreeBlock* last = list.first;
    std::int64_t count = 1;
    for (const std::int64_t most = batch_of_class(index); count < most && last->next; ++count) last = last->next;
    FreeBlock* others = std::exchange(last->next, nullptr);
    FreeBlock* second = list.first->next;
    auto* batch = new (list.first) Batch{{second}, nullptr, count};
    list.first = others;
    list.capacity += count;
    counters_.bytes_cached.add(-bytes_of(index, count));
    shared_lists().give(index, batch);
  }
  // Takes a batch from the shared lists; false if others were faster.
  bool refill(int index) {
    Batch* batch = shared_lists().take(index);
    if (!batch) return false;
    List& list = free_[static_cast<std::size_t>(index)];
    list.capacity -= batch->count;
    counters_.bytes_cached.add(bytes_of(index, batch->count));
    list.first = batch;
    return true;
  }

  std::array<List, class_count> free_;
  Counters counters_;
  char* slab_ = nullptr;
  char* slab_end_ = nullptr;
  std::size_t next_slab_ = 1 << 15;
};

// All pools. Those whose threads have ended wait for the next thread. Never destroyed: static objects may release
// blocks late.
struct Registry {
  std::mutex mutex;
  std::vector<Pool*> pools, idle;

  // The caller holds the mutex.
  Pool& an_idle_pool() {
    if (idle.empty()) {
      auto pool = std::make_unique<Pool>();
      pools.reserve(pools.size() + 1);
      idle.reserve(pools.size() + 1);  // so that a thread that ends can always leave its pool here
      pools.push_back(pool.get());
      idle.push_back(pool.release());
    }
    return *idle.back();
  }
};
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

// A plain pointer, so that blocks released after the thread's pool is gone (by static objects) are still taken.
thread_local constinit Pool* local_pool = nullptr;

struct PoolOwner {
  PoolOwner() {
    const std::lock_guard lock(registry().mutex);
    local_pool = &registry().an_idle_pool();
    registry().idle.pop_back();
  }
  ~PoolOwner() {
    Pool* mine = std::exchange(local_pool, nullptr);
    mine->retire();
    const std::lock_guard lock(registry().mutex);
    registry().idle.push_back(mine);
  }
};

// f of this thread's pool, or while the thread is being torn down, of an idle one.
template <class F>
auto with_pool(const F& f) {
  if (!local_pool) [[unlikely]] {
    static thread_local PoolOwner owner;
    if (!local_pool) {
      const std::lock_guard lock(registry().mutex);
      return f(registry().an_idle_pool());
    }
  }
  return f(*local_pool);
}

}  // namespace

void* pool_allocate(std::size_t bytes, PoolUse use) {
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) / 2) throw std::bad_alloc();
  return with_pool([=](Pool& pool) { return pool.allocate(bytes, use); });
}

void pool_release(void* block, std::size_t bytes, PoolUse use) noexcept {
  if (!block) return;
  try {
    with_pool([=](Pool& pool) { pool.release(block, bytes, use); });
  } catch (const std::bad_alloc&) {  // there is no memory for this thread's pool
    shared_lists().release(size_class(bytes, use).index, block);
  }
}

PoolStats pool_stats() {
  const std::lock_guard lock(registry().mutex);
  Counters sum;
  sum.add(shared_lists().counters());
  for (const Pool* each : registry().pools) sum.add(each->counters());
  return {sum.bytes_in_use.value(), sum.bytes_cached.value(), sum.system_requests.value()};
}

void detail::pool_trim() {
  with_pool([](Pool& pool) { pool.trim(); });
  shared_lists().trim();
}

}  // namespace xgrad
