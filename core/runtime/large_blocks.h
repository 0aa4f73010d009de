// The heap of the pool's large blocks: regions of memory that are split and merged, so that memory freed by one size
// serves another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "../base/config.h"

namespace xgrad::detail {

/// A heap for blocks so large that a lock costs nothing compared with filling them. A free block merges with its free
/// neighbours; a request takes the beginning of the free block that fits best (Knuth, "The Art of Computer
/// Programming", volume 1, section 2.5: boundary tags, which lie in a table here, beside the memory).
/// Threads: any may call anything.
class LargeBlocks {
 public:
  /// The size in bytes from which on a block is large.
  static constexpr std::size_t least = std::size_t{1} << 20;

  /// A block of at least `bytes`, aligned to 4 KiB, or nullptr if nothing fits and the system refuses.
  void* allocate(std::size_t bytes) noexcept;
  /// `bytes` as at its allocation.
  void release(void* block, std::size_t bytes) noexcept;
  /// Gives the memory of all free blocks back to the system.
  void trim() noexcept;

  struct Counts {
    std::int64_t bytes_in_use = 0;
    std::int64_t bytes_cached = 0;  ///< used before and not trimmed
    std::int64_t system_requests = 0;
  };
  Counts counts() const;

 private:
  static constexpr std::size_t grain = std::size_t{1} << 14;
  static constexpr std::size_t usual_region = std::size_t{1} << 26;

  struct Free {
    void operator()(char* memory) const noexcept;
  };
  // Sizes in grains. Memory beyond `top` was never used, so the system has not backed it with pages.
  struct Region {
    std::unique_ptr<char, Free> memory;
    std::int32_t size = 0, top = 0;
    std::int32_t longest = 0;  // no free block is longer
    // For the first and the last grain of a block: how long it is, negative if it is free.
    std::unique_ptr<std::int32_t[]> lengths;
  };
  // A place for a block: `length` grains from `begin` on, which are free.
  struct Place {
    Region* region = nullptr;
    std::int32_t begin = 0, length = 0;
  };

  static std::int32_t grains(std::size_t bytes) { return static_cast<std::int32_t>((bytes + grain - 1) / grain); }
  static std::int32_t free_at_top(const Region& region);
  static void set_free(Region& region, std::int32_t begin, std::int32_t length);
  Place best_free(std::int32_t length);
  Place behind_top(std::int32_t length);
  bool add_region(std::int32_t length) noexcept;
  void* take(const Place& place, std::int32_t length);

  mutable std::mutex mutex_;  // guards everything below
  std::vector<Region> regions_;
  Counts counts_;
};

}  // namespace xgrad::detail
