// Placing: the coordinates of items in the layers of a diagram.
#pragma once

#include "layers.h"
#include "ordering.h"

namespace xgrad::detail {

/// The extent from one side to the other.
struct Extent {
  double begin = 0;
  double end = 0;

  double size() const { return end - begin; }
  double middle() const { return (begin + end) / 2; }
};

/// The positions where an arrow meets the boxes at its ends, relative to their centres.
struct Ports {
  double upper = 0;
  double lower = 0;
};

/// The coordinates of a diagram, in pixels.
struct Placing {
  Indexed<double> across;         ///< by item: the middle of a vertex or title, the line of a lane
  Indexed<Extent> frames_across;  ///< by frame
  Indexed<Extent> frames_along;
  Indexed<Extent> layers;  ///< along
  Indexed<Ports> ports;    ///< by arrow
  double page_across = 0;
  double page_along = 0;
};

/// The coordinates with arrows as straight as the order of items allows, above all arrows from the main input of an
/// operation. Ports of operands are in the operation's order, others in the order of their sources.
Placing placed(const Layers& layers, const Ordering& ordering);

}  // namespace xgrad::detail
