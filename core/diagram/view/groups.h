// Groups of modules, calls and operations that repeat, such as a cell and a map in a loop over time, or layers with an
// activation after each of them.
#pragma once

#include <vector>

#include "view.h"

namespace xgrad::detail {

/// A group of modules and operations that repeats, in one pass: each repetition uses the results of the one before.
struct Group {
  std::vector<int> frames;                ///< of its repetitions, in the order of the forward pass
  std::vector<std::vector<int>> members;  ///< by repetition, counterparts at the same place; without
                                          ///< the parameters that all calls of a module share
};

/// Puts each repetition of a group into a frame of its own, `step (1)`, `step (2)`, ..., at this level. A group has a
/// module, and modules or operations besides it that lead from one repetition to the next; three or more repetitions
/// follow each other, with equal operations, shapes, settings and wiring.
std::vector<Group> framed_groups(GraphView& view, int level);

}  // namespace xgrad::detail
