// The network simplex method: numbers at minimum distances, as near to each other as possible.
#pragma once

#include <cstdint>
#include "../view/indexed.h"

namespace xgrad::detail {

/// `to` is at least `length` more than `from`; any excess costs `weight` per unit.
struct Distance {
  int from;
  int to;
  std::int64_t length;
  std::int64_t weight;
};

/// Numbers x[0], ..., x[count - 1], the least of them 0, with the least sum of weight (x[to] - x[from]) (Gansner,
/// Koutsofios, North, Vo 1993). The distances must form no cycle, and lead from the root to every number that any leads
/// to. After a bounded number of exchanges, which graphs of thousands of numbers reach, the numbers satisfy all
/// distances, but may be farther apart than necessary.
Indexed<std::int64_t> as_near_as_possible(int count, int root, const Indexed<Distance>& distances);

}  // namespace xgrad::detail
