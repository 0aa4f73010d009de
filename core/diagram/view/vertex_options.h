// What a program may say about single vertices and modules of a diagram, in GraphOptions: what is folded, how it looks,
// which numbers it shows, and between which tensors it shows the paths.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "../../graph/tensor.h"

namespace xgrad {

struct GraphVertex;
struct GraphFrame;

/// What becomes of a module.
enum class Fold {
  by_depth,  ///< what GraphOptions::depth says
  closed,    ///< one box
  open,      ///< a frame, and the modules around it that are by_depth, too
};

/// How a vertex looks; what is empty stays as it is. Colours are #rgb, #rrggbb, or one of black, blue, brown, cyan,
/// gold, gray, green, lightgray, magenta, navy, orange, pink, purple, red, white, yellow; they are the same in every
/// theme.
struct VertexStyle {
  std::string fill = {};
  std::string line = {};
  std::string text = {};  ///< if empty with a fill: black or white, whichever can be read on it
  std::string note = {};  ///< a further line of its label
};

/// A number for each vertex: a line in its box, and the colour of the box, with a scale in the legend. It is asked of
/// every operation and leaf, before any is folded; a module shows the sum of its vertices' numbers, and a block that
/// stands for several their mean. Ready-made: kept_bytes_overlay(), elements_overlay(), multiply_adds_overlay().
struct GraphOverlay {
  std::string title;      ///< what is counted: "kept", "time"
  std::string unit = {};  ///< "ms", "B" (then written as KiB, MiB, ...), or none
  /// The number of a vertex, or none.
  std::function<std::optional<double>(const GraphVertex&)> of = {};
  /// Instead of that: the number of a node of the graph. Of a gradient rule, those of its nodes are added up.
  std::function<std::optional<double>(const Node&)> of_node = {};
};

/// Where paths begin or end: a tensor, or a name: of a vertex, with or without the path of its module, or the path of a
/// module, for all its vertices.
using GraphEnd = std::variant<Tensor, std::string>;

}  // namespace xgrad
