// The recycling pool: size classes, a list of free blocks per class and thread.
#include <xgrad/core/pool.h>

#include <array>
#include <bit>
#include <cstdlib>
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

namespace xgrad::inline XGRAD_ABI {
namespace {

constexpr std::size_t grain = 64;  // alignment, and the smallest block

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

// Classes: multiples of 64 bytes up to 1 KiB, then eight steps to each doubling, so that at most 1/8 is wasted.
constexpr int small_classes = 16;
constexpr int class_count = small_classes + 8 * 54;

struct SizeClass {
  int index;
  std::size_t bytes;
};

SizeClass size_class(std::size_t bytes) {
  if (bytes <= grain * small_classes) {
    const std::size_t units = bytes == 0 ? 1 : (bytes + grain - 1) / grain;
    return {static_cast<int>(units) - 1, units * grain};
  }
  const int top = std::bit_width(bytes - 1) - 1;  // 2^top < bytes <= 2^(top+1)
  const std::size_t step = std::size_t{1} << (top - 3);
  const std::size_t steps = (bytes - (std::size_t{1} << top) + step - 1) / step;  // 1 ... 8
  return {small_classes + 8 * (top - 10) + static_cast<int>(steps) - 1, (std::size_t{1} << top) + steps * step};
}

// Of a large class.
std::size_t bytes_of_class(int index) {
  const int top = 10 + (index - small_classes) / 8, steps = (index - small_classes) % 8 + 1;
  return (std::size_t{1} << top) + static_cast<std::size_t>(steps) * (std::size_t{1} << (top - 3));
}

constexpr bool pooling =
#ifdef XGRAD_POOL_OFF
    false;  // the address sanitizer is to see every block's birth and death
#else
    true;
#endif

struct FreeBlock {
  FreeBlock* next;
};

void* ask_system(std::size_t bytes) {
  void* block = std::aligned_alloc(grain, bytes);
  if (!block) throw std::bad_alloc();
  return block;
}

// The lists of one thread. Small blocks are cut from slabs, side by side, and never go back to the system. (What a
// thread hands out and another takes back counts negative there; the sum is right.)
class Pool {
 public:
  void* allocate(std::size_t bytes) {
    const SizeClass size = size_class(bytes);
    const auto counted = static_cast<std::int64_t>(size.bytes);
    void* block = nullptr;
    if (FreeBlock*& list = free_[static_cast<std::size_t>(size.index)]; list) {
      counters_.bytes_cached.add(-counted);
      block = std::exchange(list, list->next);
      // The next one arrives while this one is filled.
      __builtin_prefetch(list, 1);
      if (size.bytes > grain) __builtin_prefetch(reinterpret_cast<const char*>(list) + grain, 1);
    } else if (size.index < small_classes && pooling) {
      block = cut(size.bytes);
    } else {
      block = ask_system(pooling ? size.bytes : (bytes + grain) / grain * grain);
      counters_.system_requests.add(1);
    }
    counters_.bytes_in_use.add(counted);
    return block;
  }
  void release(void* block, std::size_t bytes) {
    const SizeClass size = size_class(bytes);
    const auto counted = static_cast<std::int64_t>(size.bytes);
    counters_.bytes_in_use.add(-counted);
    if (!pooling) return std::free(block);
    FreeBlock*& list = free_[static_cast<std::size_t>(size.index)];
    list = new (block) FreeBlock{list};
    counters_.bytes_cached.add(counted);
  }
  void trim() {
    for (int index = small_classes; index < class_count; ++index) {
      for (FreeBlock*& list = free_[static_cast<std::size_t>(index)]; list;) {
        std::free(std::exchange(list, list->next));
        counters_.bytes_cached.add(-static_cast<std::int64_t>(bytes_of_class(index)));
      }
    }
  }
  const Counters& counters() const { return counters_; }

 private:
  void* cut(std::size_t bytes) {
    if (static_cast<std::size_t>(slab_end_ - slab_) < bytes) {
      slab_ = static_cast<char*>(ask_system(next_slab_));
      slab_end_ = slab_ + next_slab_;
      next_slab_ = std::min<std::size_t>(2 * next_slab_, 1 << 20);
      counters_.system_requests.add(1);
    }
    return std::exchange(slab_, slab_ + bytes);
  }

  std::array<FreeBlock*, class_count> free_{};
  Counters counters_;
  char* slab_ = nullptr;
  char* slab_end_ = nullptr;
  std::size_t next_slab_ = 1 << 15;
};

// All pools. Those whose threads have ended wait for the next thread. Never destroyed: static objects may release late.
struct Registry {
  std::mutex mutex;
  std::vector<Pool*> pools, idle;

  // The caller holds the mutex.
  Pool& an_idle_pool() {
    if (idle.empty()) {
      pools.push_back(new Pool);
      idle.push_back(pools.back());
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
    mine->trim();
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

void* pool_allocate(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) / 2) throw std::bad_alloc();
  return with_pool([bytes](Pool& pool) { return pool.allocate(bytes); });
}

void pool_release(void* block, std::size_t bytes) noexcept {
  if (block) with_pool([block, bytes](Pool& pool) { pool.release(block, bytes); });
}

PoolStats pool_stats() {
  const std::lock_guard lock(registry().mutex);
  Counters sum;
  for (const Pool* each : registry().pools) sum.add(each->counters());
  return {sum.bytes_in_use.value(), sum.bytes_cached.value(), sum.system_requests.value()};
}

void pool_trim() {
  with_pool([](Pool& pool) { pool.trim(); });
}

}  // namespace xgrad::inline XGRAD_ABI
