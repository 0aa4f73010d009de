// Options for single vertices and modules of a diagram, in GraphOptions: folding, numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "../../graph/tensor.h"

namespace xgrad {

struct GraphVertex;
struct GraphFrame;

/// The folding of a module.
enum class Fold {
  by_depth,  ///< as GraphOptions::depth says
  closed,    ///< one box
  open,      ///< a frame, and the modules around it that are by_depth, too
};

/// A number for each vertex: a line in its box, and the colour of the box, with a scale in the legend. It is called for
/// every operation and leaf before folding; a module shows the sum of its vertices' numbers, and a block that stands
/// for several their mean. Ready-made: time_overlay(), multiply_adds_overlay().
struct GraphOverlay {
  std::string title;      ///< the quantity: "kept", "time"
  std::string unit = {};  ///< "ms", "B" (then written as KiB, MiB, ...), or none
  /// The number of a vertex, or none.
  std::function<std::optional<double>(const GraphVertex&)> of = {};
  /// Instead of `of`: the number of a node of the graph. For a gradient rule, those of its nodes are added up.
  std::function<std::optional<double>(const Node&)> of_node = {};
};

}  // namespace xgrad
