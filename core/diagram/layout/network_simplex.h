// Numbers at minimum distances that are as near to each other as possible.
#pragma once

#include <cstdint>
#include <vector>

#include "../../base/config.h"

namespace xgrad::detail {

/// `to` is at least `length` more than `from`; any excess costs `weight` per unit.
struct Distance {
  int from;
  int to;
  std::int64_t length;
  std::int64_t weight;
};

/// Numbers x[0], ..., x[count-1], the least of them 0, with the least sum of weight * (x[to] - x[from]), by the network simplex
/// method (Gansner, Koutsofios, North, Vo 1993). The distances form no cycle and connect all numbers. After a bounded number of
/// steps, reached by graphs of thousands of numbers, it returns its result so far, which satisfies all distances.
std::vector<std::int64_t> as_near_as_possible(int count, const std::vector<Distance>& distances);

}  // namespace xgrad::detail
