// Tests of core/runtime/memory.h: blocks that come back, what is counted, and references.
#include <xgrad/core/runtime/memory.h>

#include <cstring>
#include <functional>
#include <semaphore>
#include <thread>
#include <vector>

#include "support/check.h"
#include "support/extremes.h"
#include "support/pool.h"

using namespace xgrad;

namespace {

// Another thread, which does what it is told.
class Worker {
 public:
  Worker() : thread_([this] { work(); }) {}
  ~Worker() {
    task_ = nullptr;
    ready_.release();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Waits until it is done.
  void run(const std::function<void()>& task) {
    task_ = &task;
    ready_.release();
    done_.acquire();
  }

 private:
  void work() {
    while (true) {
      ready_.acquire();
      if (!task_) return;
      (*task_)();
      done_.release();
    }
  }

  const std::function<void()>* task_ = nullptr;
  std::binary_semaphore ready_{0}, done_{0};
  std::thread thread_;
};

std::int64_t bytes_held() { return pool_stats().bytes_in_use + pool_stats().bytes_cached; }

struct Counted {
  RefCount refs;
  int* destroyed;
  explicit Counted(int* count) : destroyed(count) {}
  static void destroy(Counted* object) noexcept {
    ++*object->destroyed;
    delete object;
  }
};

}  // namespace

TEST_CASE("blocks are aligned to 64 bytes and can be written to the end") {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 1024, 1025, 4096, 100'000, 3'000'000}) {
    void* block = pool_allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 64 == 0);
    std::memset(block, 0xAB, bytes);
    pool_release(block, bytes);
  }
}

TEST_CASE("a block that was released is handed out again without asking the system, until memory is trimmed") {
  if (!testing::pool_keeps_blocks()) return;
  for (const std::size_t bytes : {1, 64, 100, 5000, 50'000, 1'000'000}) {
    void* block = pool_allocate(bytes);
    pool_release(block, bytes);
    const auto before = pool_stats();
    CHECK(pool_allocate(bytes) == block);
    CHECK(pool_stats().system_requests == before.system_requests);
    pool_release(block, bytes);
    if (bytes != 50'000) continue;
    detail::pool_trim();
    const auto trimmed = pool_stats();
    pool_release(pool_allocate(bytes), bytes);
    CHECK(pool_stats().bytes_cached > trimmed.bytes_cached);
    CHECK(pool_stats().system_requests > before.system_requests);
  }
}

TEST_CASE("bytes in use are counted, and at most an eighth of a large block is wasted") {
  const auto start = pool_stats().bytes_in_use;
  CHECK(start % 64 == 0);
  for (std::size_t bytes = 1; bytes < 10'000'000; bytes += bytes / 7 + 1) {
    void* block = pool_allocate(bytes);
    const auto used = pool_stats().bytes_in_use - start;
    CHECK(used >= static_cast<std::int64_t>(bytes));
    CHECK(used <= static_cast<std::int64_t>(bytes + std::max<std::size_t>(63, bytes / 8)));
    pool_release(block, bytes);
    CHECK(pool_stats().bytes_in_use == start);
  }
}

TEST_CASE("what one thread makes and another drops does not pile up, in either direction") {
  if (!testing::pool_keeps_blocks()) return;
  constexpr std::int64_t count = 50;
  using Row = std::pair<std::size_t, PoolUse>;
  for (const Row& row : {Row{64, PoolUse::nodes}, Row{64, PoolUse::values}, Row{1000, PoolUse::values},
                        Row{1100, PoolUse::values}, Row{60'000, PoolUse::values}, Row{1'000'000, PoolUse::values}}) {
    const auto bytes = row.first;
    const PoolUse use = row.second;
    CAPTURE(bytes);
    Worker worker;
    std::vector<void*> blocks;
    const auto make = [&] {
      for (std::int64_t i = 0; i < count; ++i) blocks.push_back(pool_allocate(bytes, use));
    };
    const auto drop = [&] {
      for (void* block : blocks) pool_release(block, bytes, use);
      blocks.clear();
    };
    detail::pool_trim();
    const auto start = bytes_held();
    PoolStats warm;
    for (int turn = 0; turn < 8; ++turn) {
      if (turn == 6) warm = pool_stats();
      for (int step = 0; step < 20; ++step) {
        turn % 2 ? worker.run(make) : make();
        turn % 2 ? drop() : worker.run(drop);
      }
    }
    CHECK(pool_stats().system_requests == warm.system_requests);
    CHECK(pool_stats().bytes_in_use == warm.bytes_in_use);
    // Each of the two may keep what it needed itself, and a batch.
    CHECK(bytes_held() - start <= static_cast<std::int64_t>(4 * count * (bytes + bytes / 8 + 64)));
    detail::pool_trim();
  }
}

TEST_CASE("a thread on its own keeps all that it ever used at once") {
  if (!testing::pool_keeps_blocks()) return;
  std::thread([] {
    std::vector<std::pair<void*, std::size_t>> blocks;
    const auto use = [&] {
      for (std::size_t bytes = 1; bytes < 3'000'000; bytes += bytes / 3 + 1) {
        for (int i = 0; i < (bytes < 1000 ? 500 : 3); ++i) blocks.emplace_back(pool_allocate(bytes), bytes);
      }
      for (const auto& [block, bytes] : blocks) pool_release(block, bytes);
      blocks.clear();
    };
    use();
    const auto before = pool_stats();
    for (int i = 0; i < 3; ++i) use();
    CHECK(pool_stats().system_requests == before.system_requests);
    CHECK(pool_stats().bytes_cached == before.bytes_cached);
  }).join();
}

TEST_CASE("what waits for other sizes makes room when the system has no memory left") {
#ifdef XGRAD_MEMORY_UNLIMITED
  MESSAGE("skipped: sanitizers need more memory than any limit, and emulators set none");
#else
  constexpr std::size_t mebibyte = 1 << 20;
  void* kept = pool_allocate(100 * mebibyte);
  const testing::MemoryLimit limit(10 * mebibyte);
  CHECK_THROWS_AS(pool_allocate(80 * mebibyte), std::bad_alloc);
  pool_release(kept, 100 * mebibyte);
  CHECK_NOTHROW(pool_release(pool_allocate(80 * mebibyte), 80 * mebibyte));
#endif
}

TEST_CASE("a thread that ends returns its large blocks and leaves the small ones to the next") {
  detail::pool_trim();
  const auto run = [] {
    std::thread([] {
      for (int i = 1; i < 3000; ++i)
        pool_release(pool_allocate(static_cast<std::size_t>(i)), static_cast<std::size_t>(i));
    }).join();
  };
  run();
  const auto before = pool_stats();
  run();
  const auto after = pool_stats();
  CHECK(after.bytes_cached == before.bytes_cached);
  CHECK(after.bytes_in_use == before.bytes_in_use);
}

TEST_CASE("a block may be taken and released when its thread's pool is gone") {
  struct Late {
    std::vector<std::pair<void*, std::size_t>> blocks;
    ~Late() {  // after the pool, whose first use is later than that of this object
      for (const auto& [block, bytes] : blocks) {
        std::memset(block, 0xAB, bytes);
        pool_release(block, bytes);
        void* other = pool_allocate(2 * bytes);
        std::memset(other, 0xAB, 2 * bytes);
        pool_release(other, 2 * bytes);
      }
    }
  };
  const auto start = pool_stats().bytes_in_use;
  std::thread([] {
    thread_local Late late;
    late.blocks.clear();
    for (const std::size_t bytes : {100, 5000, 100'000}) late.blocks.emplace_back(pool_allocate(bytes), bytes);
  }).join();
  CHECK(pool_stats().bytes_in_use == start);
  detail::pool_trim();
  CHECK(pool_stats().bytes_in_use == start);
}

TEST_CASE("small blocks lie side by side, and the system is rarely asked for them") {
  if (!testing::pool_keeps_blocks()) return;
  const auto before = pool_stats().system_requests;
  std::vector<void*> blocks;
  for (int i = 0; i < 10'000; ++i) blocks.push_back(pool_allocate(200));
  CHECK(pool_stats().system_requests - before < 20);
  for (void* block : blocks) pool_release(block, 200);
}

TEST_CASE("sizes that cannot be are refused, and the allocator works in standard containers") {
  CHECK_THROWS_AS(pool_allocate(~std::size_t{0}), std::bad_alloc);
  CHECK_THROWS_AS(pool_allocate(~std::size_t{0} / 2 + 1), std::bad_alloc);
  CHECK_THROWS_AS(PoolAllocator<double>().allocate(~std::size_t{0} / 4), std::bad_alloc);
  pool_release(nullptr, 100);
  std::vector<int, PoolAllocator<int>> numbers;
  for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
  CHECK(numbers[9999] == 9999);
  CHECK((PoolAllocator<int>() == PoolAllocator<double>()));
}

TEST_CASE("what is referenced lives exactly as long as its references, also across threads") {
  int destroyed = 0;
  {
    const auto first = Ref<Counted>::adopt(new Counted(&destroyed));
    CHECK(first->refs.load() == 1);
    Ref<Counted> second = first;
    const auto third = Ref<Counted>::share(first.get());
    CHECK(first->refs.load() == 3);
    CHECK(second == third);
    second = nullptr;
    CHECK(first->refs.load() == 2);
    second = first;
    Ref<Counted>& same = second;
    second = same;
    const Ref<Counted> moved = std::move(second);
    CHECK(first->refs.load() == 3);
    CHECK_FALSE(second);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([first] {
        for (int j = 0; j < 10'000; ++j) [[maybe_unused]] const Ref<Counted> copy = first;
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(first->refs.load() == 3);
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
  CHECK_FALSE(Ref<Counted>::share(nullptr));
}
