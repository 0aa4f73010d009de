// Tests of core/runtime/large_blocks.h: blocks that join, fit, and never overlap.
#include <xgrad/core/runtime/large_blocks.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "support/check.h"

using namespace xgrad;
using detail::LargeBlocks;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;

struct Block {
  unsigned char* data;
  std::size_t bytes;
  unsigned char mark;

  bool is_intact() const {
    return data[0] == mark && data[bytes - 1] == mark &&
           std::all_of(data, data + bytes, [&](unsigned char each) { return each == mark; });
  }
};

// Takes and releases blocks of many sizes in no order; false if one was written to by another.
bool use(LargeBlocks& heap, unsigned seed, int turns) {
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  bool intact = true;
  const auto release = [&](std::size_t i) {
    intact = intact && blocks[i].is_intact();
    heap.release(blocks[i].data, blocks[i].bytes);
    blocks[i] = blocks.back();
    blocks.pop_back();
  };
  for (int turn = 0; turn < turns; ++turn) {
    if (blocks.size() < 12 && random() % 3 != 0) {
      const std::size_t bytes = LargeBlocks::least + random() % (random() % 8 == 0 ? 9 * mebibyte : mebibyte / 4);
      Block block{static_cast<unsigned char*>(heap.allocate(bytes)), bytes, static_cast<unsigned char>(random())};
      if (!block.data) return false;
      std::memset(block.data, block.mark, bytes);
      blocks.push_back(block);
    } else if (!blocks.empty()) {
      release(random() % blocks.size());
    }
  }
  while (!blocks.empty()) release(0);
  return intact;
}

}  // namespace

TEST_CASE("what neighbours leave serves one that is larger than each") {
  LargeBlocks heap;
  void *const first = heap.allocate(2 * mebibyte), *const second = heap.allocate(3 * mebibyte);
  void *const third = heap.allocate(2 * mebibyte), *const last = heap.allocate(mebibyte);
  const auto before = heap.counts();
  heap.release(third, 2 * mebibyte);
  heap.release(first, 2 * mebibyte);
  heap.release(second, 3 * mebibyte);  // joins both
  CHECK(heap.counts().bytes_cached == std::int64_t{7 * mebibyte});
  CHECK(heap.allocate(7 * mebibyte) == first);
  CHECK(heap.counts().system_requests == before.system_requests);
  CHECK(heap.counts().bytes_in_use == before.bytes_in_use);
  CHECK(heap.counts().bytes_cached == 0);
  heap.release(first, 7 * mebibyte);
  heap.release(last, mebibyte);
  CHECK(heap.counts().bytes_in_use == 0);
}

TEST_CASE("of the blocks that are large enough, the shortest is taken") {
  LargeBlocks heap;
  const std::vector<std::size_t> sizes{5, 2, 4, 2, 3, 2};
  std::vector<void*> blocks;
  for (const std::size_t size : sizes) blocks.push_back(heap.allocate(size * mebibyte));
  for (const std::size_t i : {0, 2, 4}) heap.release(blocks[i], sizes[i] * mebibyte);
  CHECK(heap.allocate(3 * mebibyte - 100) == blocks[4]);
  CHECK(heap.allocate(3 * mebibyte - 100) == blocks[2]);
  CHECK(heap.allocate(3 * mebibyte - 100) == blocks[0]);
}

TEST_CASE("the last block grows into what was never used, and one that no memory can hold is refused") {
  LargeBlocks heap;
  CHECK(heap.allocate(std::size_t{1} << 62) == nullptr);
  CHECK(heap.counts().system_requests == 0);
  void* const first = heap.allocate(2 * mebibyte);
  heap.release(first, 2 * mebibyte);
  CHECK(heap.allocate(20 * mebibyte) == first);
  CHECK(heap.counts().system_requests == 1);
}

TEST_CASE("large blocks are aligned, and a small part of them is wasted") {
  LargeBlocks heap;
  for (std::size_t bytes = LargeBlocks::least; bytes < 300 * mebibyte; bytes += bytes / 5 + 1) {
    void* const block = heap.allocate(bytes);
    REQUIRE(block);
    CHECK(reinterpret_cast<std::uintptr_t>(block) % 4096 == 0);
    CHECK(heap.counts().bytes_in_use >= static_cast<std::int64_t>(bytes));
    CHECK(heap.counts().bytes_in_use < static_cast<std::int64_t>(bytes + bytes / 50));
    heap.release(block, bytes);
  }
}

TEST_CASE("large blocks never overlap, in whatever order and on whatever thread they come and go") {
  LargeBlocks heap;
  for (unsigned seed = 1; seed <= 5; ++seed) CHECK(use(heap, seed, 400));
  const auto counts = heap.counts();
  CHECK(counts.bytes_in_use == 0);
  CHECK(counts.system_requests <= 3);
  heap.trim();
  CHECK(heap.counts().bytes_cached == 0);
  std::vector<char> intact(4);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 4; ++i) threads.emplace_back([&, i] { intact[i] = use(heap, 10 + i, 150); });
  for (std::thread& thread : threads) thread.join();
  CHECK(std::ranges::count(intact, 1) == 4);
  CHECK(heap.counts().bytes_in_use == 0);
}

TEST_CASE("trimming keeps what is in use") {
  LargeBlocks heap;
  std::vector<Block> blocks;
  for (int i = 0; i < 6; ++i) {
    Block block{static_cast<unsigned char*>(heap.allocate(2 * mebibyte)), 2 * mebibyte,
                static_cast<unsigned char>(i + 1)};
    std::memset(block.data, block.mark, block.bytes);
    blocks.push_back(block);
  }
  for (const std::size_t i : {1, 3, 5}) heap.release(blocks[i].data, blocks[i].bytes);
  heap.trim();
  CHECK(heap.counts().bytes_cached == 0);
  for (const std::size_t i : {0, 2, 4}) CHECK(blocks[i].is_intact());
  CHECK(heap.allocate(2 * mebibyte) == blocks[1].data);
  heap.release(blocks[1].data, 2 * mebibyte);
  CHECK(heap.counts().bytes_cached == std::int64_t{2 * mebibyte});
  for (const std::size_t i : {0, 2, 4}) heap.release(blocks[i].data, blocks[i].bytes);
}
