// Tests of core/pool.h: blocks that come back, what is counted, and references.
#include <xgrad/core/pool.h>

#include <cstring>
#include <thread>
#include <vector>

#include "support/check.h"

using namespace xgrad;

namespace {

// Under the address sanitizer every block comes from the system, so that it sees each one's birth and death.
bool pooling() {
  void* block = pool_allocate(100);
  pool_release(block, 100);
  const auto before = pool_stats().system_requests;
  pool_release(pool_allocate(100), 100);
  return pool_stats().system_requests == before;
}

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

TEST_CASE("a block that was released is handed out again without asking the system") {
  if (!pooling()) return;
  for (const std::size_t bytes : {1, 64, 100, 5000, 1'000'000}) {
    void* block = pool_allocate(bytes);
    pool_release(block, bytes);
    const auto before = pool_stats().system_requests;
    CHECK(pool_allocate(bytes) == block);
    CHECK(pool_stats().system_requests == before);
    pool_release(block, bytes);
  }
}

TEST_CASE("bytes in use are counted, and at most an eighth of a large block is wasted") {
  const auto start = pool_stats().bytes_in_use;
  for (std::size_t bytes = 1; bytes < 10'000'000; bytes += bytes / 7 + 1) {
    void* block = pool_allocate(bytes);
    const auto used = pool_stats().bytes_in_use - start;
    CHECK(used >= static_cast<std::int64_t>(bytes));
    CHECK(used <= static_cast<std::int64_t>(bytes + std::max<std::size_t>(63, bytes / 8)));
    pool_release(block, bytes);
    CHECK(pool_stats().bytes_in_use == start);
  }
}

TEST_CASE("trimming returns what waits to the system") {
  pool_release(pool_allocate(50'000), 50'000);
  pool_trim();
  const auto stats = pool_stats();
  if (pooling()) {
    pool_release(pool_allocate(50'000), 50'000);
    CHECK(pool_stats().bytes_cached > stats.bytes_cached);
    CHECK(pool_stats().system_requests > stats.system_requests);
  }
}

TEST_CASE("a block may be released by another thread than the one that took it") {
  const auto start = pool_stats().bytes_in_use;
  std::vector<void*> blocks;
  std::thread([&] {
    for (int i = 0; i < 100; ++i) blocks.push_back(pool_allocate(300));
  }).join();
  CHECK(pool_stats().bytes_in_use - start == 100 * 320);
  for (void* block : blocks) pool_release(block, 300);
  CHECK(pool_stats().bytes_in_use == start);
}

TEST_CASE("a thread that ends returns its large blocks and leaves the small ones to the next") {
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
  if (!pooling()) return;
  constexpr int large_classes = 8 + 5;  // to 2 KiB, and of the next eight those to 3000 bytes
  CHECK(after.system_requests - before.system_requests == large_classes - 1);
}

TEST_CASE("small blocks lie side by side, and the system is rarely asked for them") {
  if (!pooling()) return;
  const auto before = pool_stats().system_requests;
  std::vector<void*> blocks;
  for (int i = 0; i < 10'000; ++i) blocks.push_back(pool_allocate(200));
  CHECK(pool_stats().system_requests - before < 20);
  for (void* block : blocks) pool_release(block, 200);
}

TEST_CASE("sizes that cannot be are refused") {
  CHECK_THROWS_AS(pool_allocate(~std::size_t{0}), std::bad_alloc);
  CHECK_THROWS_AS(pool_allocate(std::size_t{1} << 63), std::bad_alloc);
  CHECK_THROWS_AS(PoolAllocator<double>().allocate(~std::size_t{0} / 4), std::bad_alloc);
  pool_release(nullptr, 100);
}

TEST_CASE("the allocator works in standard containers") {
  std::vector<int, PoolAllocator<int>> numbers;
  for (int i = 0; i < 10'000; ++i) numbers.push_back(i);
  CHECK(numbers[9999] == 9999);
  CHECK(PoolAllocator<int>() == PoolAllocator<double>());
}

TEST_CASE("what is referenced lives exactly as long as its references") {
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
    CHECK(destroyed == 0);
  }
  CHECK(destroyed == 1);
  CHECK_FALSE(Ref<Counted>::share(nullptr));
}

TEST_CASE("references are counted across threads") {
  int destroyed = 0;
  {
    const auto object = Ref<Counted>::adopt(new Counted(&destroyed));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([object] {
        for (int j = 0; j < 10'000; ++j) {
          const Ref<Counted> copy = object;
          (void)copy;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(object->refs.load() == 1);
  }
  CHECK(destroyed == 1);
}
