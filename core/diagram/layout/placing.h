// Where the things in the layers of a diagram stand.
#pragma once

#include <vector>

#include "layers.h"
#include "ordering.h"

namespace xgrad::detail {

/// From one side to the other.
struct Extent {
  double begin = 0;
  double end = 0;

  double size() const { return end - begin; }
  double middle() const { return (begin + end) / 2; }
};

/// Where an arrow meets the boxes at its ends, from their middles.
struct Ports {
  double upper = 0;
  double lower = 0;
};

struct Placing {
  std::vector<double> across;         ///< by item: the middle of a vertex or title, the line of a lane
  std::vector<Extent> frames_across;  ///< by frame
  std::vector<Extent> frames_along;
  std::vector<Extent> layers;  ///< along
  std::vector<Ports> ports;    ///< by arrow
  double page_across = 0;
  double page_along = 0;
};

/// Arrows are as straight as the order of things allows, those from what an operation mainly comes from first. Ports
/// of operands stand in the operation's order, others as what they lead from.
Placing placed(const Layers& layers, const Ordering& ordering, const GraphOptions& options);

}  // namespace xgrad::detail
