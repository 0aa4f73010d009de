// The steps of a layout: the layers of a diagram, the order within each, coordinates, and the routes of arrows.
//
// Layers are perpendicular to the direction of a diagram: one below the other if it runs down, one right of the other
// if it runs sideways. `across` is along a layer, `along` from one layer to the next. A vertex is in one layer. A frame
// is in all layers from its first vertex to its last; its title comes before them, in a layer without vertices. An
// arrow that passes layers has a lane there, straight through all of them, up to where it enters a frame. Arrows from
// the same vertex have common lanes.
#pragma once

#include "../view/labels.h"

namespace xgrad {
struct GraphCurve;

namespace detail {

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

/// The rank of each vertex, counted from 0 without gaps, such that arrows are short. A gradient rule has the rank of
/// its operation, and a gradient the rank of the values that it depends on. The source of an arrow into a frame is
/// above everything in the frame.
Indexed<int> ranks_of(const GraphView& view);

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

/// The items of each frame and of each layer, from left to right. Two items have the same order in all layers that both
/// are in.
struct Ordering {
  Indexed<Indexed<int>> frames;  ///< by index of the frame + 1, the page first
  Indexed<Indexed<int>> layers;  ///< vertices, titles and lanes

  const Indexed<int>& in_frame(int frame) const { return frames[frame + 1]; }
};

/// The order of the vertices' indices, in which one item after the other is moved to where fewest arrows cross, as long
/// as that helps. Frames are right of the frames that they are computed from. Where it costs few crossings, frames and
/// vertices are in the order of their indices.
Ordering ordered(const Layers& layers);

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

/// The curves of all arrows, with x across the page and y along it. An arrow leaves a box in the middle of its side,
/// turns between layers only, runs straight along its lanes, and enters its result at its port. So no part of it runs
/// back or touches a box or a title. Within a layer it runs straight, or around obstacles.
Indexed<GraphCurve> routes(const Layers& layers, const Placing& placing, const Ordering& ordering);

}  // namespace detail
}  // namespace xgrad
