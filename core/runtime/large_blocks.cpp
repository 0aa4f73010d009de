// A heap of regions, each with a table of the lengths of its blocks.
#include "large_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <utility>

namespace xgrad::detail {

void LargeBlocks::Free::operator()(char* memory) const noexcept { std::free(memory); }

// The length of the free block that ends at the top.
std::int32_t LargeBlocks::free_at_top(const Region& region) {
  return region.top == 0 ? 0 : std::max(0, -region.lengths[static_cast<std::size_t>(region.top - 1)]);
}

void LargeBlocks::set_free(Region& region, std::int32_t begin, std::int32_t length) {
  if (length == 0) return;
  region.lengths[static_cast<std::size_t>(begin)] = -length;
  region.lengths[static_cast<std::size_t>(begin + length - 1)] = -length;
  region.longest = std::max(region.longest, length);
}

// The first of the shortest free blocks that are long enough.
LargeBlocks::Place LargeBlocks::best_free(std::int32_t length) {
  Place best{.length = std::numeric_limits<std::int32_t>::max()};
  for (Region& region : regions_) {
    if (region.longest < length) continue;
    std::int32_t longest = 0;
    for (std::int32_t at = 0; at < region.top;) {
      const std::int32_t here = region.lengths[static_cast<std::size_t>(at)], free = std::max(0, -here);
      longest = std::max(longest, free);
      if (free >= length && free < best.length) best = {&region, at, free};
      at += std::abs(here);
    }
    region.longest = longest;
  }
  return best;
}

// The first region that has room after its top, together with the free block before it.
LargeBlocks::Place LargeBlocks::behind_top(std::int32_t length) {
  for (Region& region : regions_) {
    const std::int32_t before = free_at_top(region);
    if (before + region.size - region.top >= length) return {&region, region.top - before, before};
  }
  return {};
}

bool LargeBlocks::add_region(std::int32_t length) noexcept {
  for (const std::int32_t size : {std::max(length, grains(usual_region)), length}) {
    Region region;
    region.size = size;
    region.memory.reset(static_cast<char*>(std::aligned_alloc(grain, static_cast<std::size_t>(size) * grain)));
    if (!region.memory) continue;
    try {
      region.lengths = std::make_unique<std::int32_t[]>(static_cast<std::size_t>(size));
      regions_.push_back(std::move(region));
    } catch (const std::bad_alloc&) {
      return false;
    }
    ++counts_.system_requests;
    return true;
  }
  return false;
}

void* LargeBlocks::take(const Place& place, std::int32_t length) {
  Region& region = *place.region;
  const std::int32_t recycled = std::min(place.length, length);
  region.lengths[static_cast<std::size_t>(place.begin)] = length;
  region.lengths[static_cast<std::size_t>(place.begin + length - 1)] = length;
  set_free(region, place.begin + length, place.length - recycled);
  region.top = std::max(region.top, place.begin + length);
  counts_.bytes_in_use += length * std::int64_t{grain};
  counts_.bytes_cached = std::max<std::int64_t>(0, counts_.bytes_cached - recycled * std::int64_t{grain});
  return region.memory.get() + static_cast<std::size_t>(place.begin) * grain;
}

void* LargeBlocks::allocate(std::size_t bytes) noexcept {
  if (bytes > std::size_t{std::numeric_limits<std::int32_t>::max()} * grain) return nullptr;
  const std::int32_t length = grains(bytes);
  const std::lock_guard lock(mutex_);
  if (const Place place = best_free(length); place.region) return take(place, length);
  if (const Place place = behind_top(length); place.region) return take(place, length);
  return add_region(length) ? take({.region = &regions_.back()}, length) : nullptr;
}

void LargeBlocks::release(void* block, std::size_t bytes) noexcept {
  const std::int32_t length = grains(bytes);
  const std::lock_guard lock(mutex_);
  Region& region = *std::ranges::find_if(regions_, [&](const Region& each) {
    const char* const begin = each.memory.get();
    return std::less_equal<>()(begin, block) &&
           std::less<>()(block, begin + static_cast<std::size_t>(each.size) * grain);
  });
  std::int32_t begin =
      static_cast<std::int32_t>((static_cast<char*>(block) - region.memory.get()) / std::ptrdiff_t{grain});
  std::int32_t end = begin + length;
  if (begin > 0) begin -= std::max(0, -region.lengths[static_cast<std::size_t>(begin - 1)]);
  if (end < region.top) end += std::max(0, -region.lengths[static_cast<std::size_t>(end)]);
  set_free(region, begin, end - begin);
  counts_.bytes_in_use -= length * std::int64_t{grain};
  counts_.bytes_cached += length * std::int64_t{grain};
}

void LargeBlocks::trim() noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(regions_, [](const Region& region) { return region.top == free_at_top(region); });
  for (Region& region : regions_) {
    for (std::int32_t at = 0; at < region.top;) {
      const std::int32_t here = region.lengths[static_cast<std::size_t>(at)];
      if (here < 0) {
        madvise(region.memory.get() + static_cast<std::size_t>(at) * grain, static_cast<std::size_t>(-here) * grain,
                MADV_DONTNEED);
      }
      at += std::abs(here);
    }
    region.top -= free_at_top(region);
  }
  counts_.bytes_cached = 0;
}

LargeBlocks::Counts LargeBlocks::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace xgrad::detail
