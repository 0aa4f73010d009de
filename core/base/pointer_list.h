// PointerList: distinct pointers in the order of insertion, with fast lookup.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "assert.h"
#include "config.h"

namespace xgrad::detail {

/// A list of distinct pointers with a hash index (open addressing). For few pointers and mostly successful lookups it
/// is faster than a std::unordered_map. Threads: many may search while none adds.
template <class T>
class PointerList {
 public:
  static constexpr int none = -1;

  explicit PointerList(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 8)) {}

  /// The position of a pointer, or none.
  int find(const T* pointer) const {
    for (std::size_t i = start(pointer);; i = next(i)) {
      if (slots_[i].pointer == pointer) return slots_[i].position;
      if (!slots_[i].pointer) return none;
    }
  }
  /// The position of a pointer, which is appended if it is new.
  int add(T* pointer) {
    XGRAD_ASSERT(pointer);  // nullptr marks an empty slot
    if (const int position = find(pointer); position != none) return position;
    const int position = static_cast<int>(all_.size());
    all_.push_back(pointer);
    if (2 * all_.size() > slots_.size()) grow();
    insert(pointer, position);
    return position;
  }
  const std::vector<T*>& all() const { return all_; }

 private:
  struct Slot {
    const T* pointer = nullptr;
    int position = none;
  };
  std::size_t start(const T* pointer) const {
    return (reinterpret_cast<std::uintptr_t>(pointer) * 0x9E3779B97F4A7C15u >> 20) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void insert(const T* pointer, int position) {
    std::size_t i = start(pointer);
    while (slots_[i].pointer) i = next(i);
    slots_[i] = {pointer, position};
  }
  void grow() {
    slots_.assign(2 * slots_.size(), Slot());
    for (std::size_t i = 0; i + 1 < all_.size(); ++i) insert(all_[i], static_cast<int>(i));
  }

  std::vector<Slot> slots_;
  std::vector<T*> all_;
};

}  // namespace xgrad::detail
