// Ordering: the order of items within each layer of a diagram, with few crossings of arrows.
#pragma once

#include "layers.h"

namespace xgrad::detail {

/// The items of each frame and of each layer, from left to right. Two items have the same order in all layers that both
/// are in.
struct Ordering {
  Indexed<Indexed<int>> frames;  ///< by index of the frame + 1, the page first
  Indexed<Indexed<int>> layers;  ///< vertices, titles and lanes

  const Indexed<int>& in_frame(int frame) const { return frames[frame + 1]; }
  const Indexed<int>& in_layer(int layer) const { return layers[layer]; }
};

/// The order of the vertices' indices, in which one item after the other is moved to where fewest arrows cross, as long
/// as that helps. Frames are right of the frames that they are computed from. Where it costs few crossings, frames and
/// vertices are in the order of their indices.
Ordering ordered(const Layers& layers);

}  // namespace xgrad::detail
