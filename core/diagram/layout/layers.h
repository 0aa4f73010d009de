// Layers: the layers of a diagram and their items, which are boxes, frames with their titles, and the lanes of arrows.
//
// Layers are perpendicular to the direction of a diagram: one below the other if it runs down, one right of the other
// if it runs sideways. `across` is along a layer, `along` from one layer to the next. A vertex is in one layer. A frame
// is in all layers from its first vertex to its last; its title comes before them, in a layer without vertices. An
// arrow that passes layers has a lane there, straight through all of them, up to where it enters a frame. Arrows from
// the same vertex have common lanes.
#pragma once

#include "../view/labels.h"
#include "../view/view.h"
#include "geometry.h"

namespace xgrad::detail {

enum class ItemKind { vertex, frame, title, lane };

/// Something that takes space in layers.
struct Item {
  ItemKind kind = ItemKind::vertex;
  int index = 0;   ///< of the vertex, of the frame, or of an arrow of the lane
  int frame = -1;  ///< the one around it, or -1
  int first = 0;   ///< of its layers
  int last = 0;
  double across = 0;  ///< its size
  double along = 0;
  bool side_path = false;  ///< of a lane: the arrow bypasses the main input of its result
};

/// A part of one or more arrows between two neighbouring layers. A link to a vertex ends at a port.
struct Link {
  int upper = 0;  ///< item
  int lower = 0;
  int gap = 0;   ///< below the layer of this index
  int edge = 0;  ///< one of its arrows
};

/// The layers of a view. They refer to the view, which must outlive them.
class Layers {
 public:
  /// Puts the vertices of each rank into one layer.
  Layers(const GraphView& view, const GraphOptions& options, const Indexed<int>& rank_of_vertex);

  const GraphView& view;
  const bool sideways;
  int count = 0;        ///< of layers
  Indexed<Item> items;  ///< vertices, then frames, then titles, then lanes
  Indexed<Link> links;
  Indexed<Indexed<int>> ways;  ///< by arrow: its links, from above to below; none if it stays in a layer
  /// By arrow: its position among the ordered arguments of its result, the operands of an operation whose operands
  /// differ in meaning; or -1.
  Indexed<int> arguments;
  /// By vertex: the arrow to it from the input that took most operations to compute, or -1 if there are several.
  Indexed<int> main_inputs;

  int frame_item(int frame) const { return view.vertices.count() + frame; }
  int title_item(int frame) const { return frame_item(frame) + view.frames.count(); }
  /// The upper end of an arrow, and the lower one.
  int upper(const GraphEdge& edge) const { return above(edge) ? edge.from : edge.to; }
  int lower(const GraphEdge& edge) const { return above(edge) ? edge.to : edge.from; }
  bool is_flat(const GraphEdge& edge) const { return first_layer(edge.from) == first_layer(edge.to); }
  bool above(const GraphEdge& edge) const { return first_layer(edge.from) < first_layer(edge.to); }

 private:
  int first_layer(int item) const { return items[item].first; }
  void find_layers(const GraphOptions& options, const Indexed<int>& rank);
  void find_operands();
  void find_lanes();
  int frame_of_lane(int layer, int upper, int lower) const;
  LabelSize turned(const LabelSize& size) const { return sideways ? LabelSize{size.height, size.width} : size; }
};

}  // namespace xgrad::detail
