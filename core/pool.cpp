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

constexpr bool pooling =
#ifdef XGRAD_POOL_OFF
    false;  // the address sanitizer is to see every block's birth and death
#else
    true;
#endif

struct FreeBlock {
  FreeBlock* next;
};

// The lists of one thread. (What a thread hands out and another takes back counts negative there; the sum is right.)
struct Pool {
  std::array<FreeBlock*, class_count> free{};
  Counters counters;

  void trim() {
    for (FreeBlock*& list : free) {
      while (list) std::free(std::exchange(list, list->next));
    }
    counters.bytes_cached.add(-counters.bytes_cached.value());
  }
};

// All pools, and the counters of those whose threads have ended. Never destroyed: static objects may release late.
struct Registry {
  std::mutex mutex;
  std::vector<Pool*> pools;
  Counters retired;
};
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

// A plain pointer, so that blocks released after the thread's pool is gone (by static objects) are still taken.
thread_local constinit Pool* local_pool = nullptr;

struct PoolOwner {
  PoolOwner() {
    local_pool = new Pool;
    const std::lock_guard lock(registry().mutex);
    registry().pools.push_back(local_pool);
  }
  ~PoolOwner() {
    Pool* mine = std::exchange(local_pool, nullptr);
    mine->trim();
    const std::lock_guard lock(registry().mutex);
    std::erase(registry().pools, mine);
    registry().retired.add(mine->counters);
    delete mine;
  }
};

// The pool of this thread; nullptr while the thread is being torn down.
Pool* pool() {
  if (!local_pool) [[unlikely]] {
    static thread_local PoolOwner owner;
  }
  return local_pool;
}

std::size_t rounded_up(std::size_t bytes) { return bytes == 0 ? grain : (bytes + grain - 1) / grain * grain; }

void* ask_system(std::size_t bytes) {
  void* block = std::aligned_alloc(grain, bytes);
  if (!block) throw std::bad_alloc();
  return block;
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(PTRDIFF_MAX) / 2) throw std::bad_alloc();
  const SizeClass size = size_class(bytes);
  const auto counted = static_cast<std::int64_t>(size.bytes);
  Pool* mine = pool();
  if (!mine) return ask_system(rounded_up(bytes));
  if (FreeBlock*& list = mine->free[size.index]; list) {
    mine->counters.bytes_cached.add(-counted);
    mine->counters.bytes_in_use.add(counted);
    return std::exchange(list, list->next);
  }
  void* block = ask_system(pooling ? size.bytes : rounded_up(bytes));
  mine->counters.system_requests.add(1);
  mine->counters.bytes_in_use.add(counted);
  return block;
}

void pool_release(void* block, std::size_t bytes) noexcept {
  if (!block) return;
  const SizeClass size = size_class(bytes);
  const auto counted = static_cast<std::int64_t>(size.bytes);
  Pool* mine = pool();
  if (mine) mine->counters.bytes_in_use.add(-counted);
  if (!mine || !pooling) return std::free(block);
  mine->free[size.index] = new (block) FreeBlock{mine->free[size.index]};
  mine->counters.bytes_cached.add(counted);
}

PoolStats pool_stats() {
  const std::lock_guard lock(registry().mutex);
  Counters sum;
  sum.add(registry().retired);
  for (const Pool* each : registry().pools) sum.add(each->counters);
  return {sum.bytes_in_use.value(), sum.bytes_cached.value(), sum.system_requests.value()};
}

void pool_trim() {
  if (Pool* mine = pool()) mine->trim();
}

}  // namespace xgrad::inline XGRAD_ABI
