// Replaces operator new, operator delete and aligned_alloc, which the pool calls.
#include "failing.h"

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include <xgrad/core/runtime/memory.h>

namespace xgrad::testing {
namespace {

std::atomic<std::int64_t> requests{0}, first_refused{0}, last_refused{0}, blocks{0};
std::atomic<bool> counting{false};

bool refused() {
  if (!counting) return false;
  const std::int64_t number = requests.fetch_add(1) + 1;
  return first_refused <= number && number <= last_refused;
}

void* allocate(std::size_t alignment, std::size_t bytes) {
  void* block = nullptr;
  if (refused() || posix_memalign(&block, alignment, bytes) != 0) return nullptr;
  return block;
}

void* allocate_or_throw(std::size_t alignment, std::size_t bytes) {
  void* block = allocate(alignment, bytes);
  if (!block) throw std::bad_alloc();
  blocks.fetch_add(1);
  return block;
}

void release(void* block) {
  if (!block) return;
  blocks.fetch_sub(1);
  std::free(block);
}

}  // namespace

FailingMemory::FailingMemory(std::int64_t number, Refuse what) {
  requests = 0;
  first_refused = number;
  last_refused = what == Refuse::one ? number : std::numeric_limits<std::int64_t>::max();
  counting = true;
}

FailingMemory::~FailingMemory() { counting = false; }

bool FailingMemory::reached() const { return requests >= first_refused; }

std::int64_t blocks_in_use() { return blocks + pool_stats().bytes_in_use; }

}  // namespace xgrad::testing

using xgrad::testing::allocate_or_throw;
using xgrad::testing::release;

extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return xgrad::testing::allocate(alignment, bytes);
}

// The forms for lists call these. Those that throw nothing do, too, but not those of the address sanitizer.
void* operator new(std::size_t bytes) { return allocate_or_throw(alignof(std::max_align_t), bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(static_cast<std::size_t>(alignment), bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  try {
    return allocate_or_throw(alignof(std::max_align_t), bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, std::align_val_t) noexcept { release(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { release(block); }
