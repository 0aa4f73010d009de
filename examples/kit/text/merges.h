// Merges, the step of byte pair encoding: pairs of neighbours that become one token.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include <xgrad/core/base/error.h>

namespace xgrad::kit {

/// Pairs of ids that become one id, in the order in which they were learnt.
///
/// Threads: many may read from one object.
class Merges {
 public:
  /// Adds a pair to merge after all added before.
  void add(std::int64_t left, std::int64_t right, std::int64_t result);

  /// Merges the ids of a word in place: of all pairs of neighbours the one that was learnt first, the leftmost of
  /// several, until there is none left. Takes n log n steps for n ids.
  void apply(std::vector<std::int64_t>& word) const;

 private:
  struct Merge {
    std::int64_t rank;
    std::int64_t result;
  };
  const Merge* find(std::int64_t left, std::int64_t right) const;

  std::unordered_map<std::uint64_t, Merge> merges_;  // by both ids
};

}  // namespace xgrad::kit
