// The content of a diagram: one intermediate form, GraphView, that is built once from a graph. export.h and dot.h
// print it, and drawing.h writes it to files.
//
//     const GraphView view = GraphView::of({loss}, {.depth = 1});
//
// A graph can be drawn at any time, also after a backward pass has released it. Threads: while no other thread runs a
// backward pass through it, names its tensors or assigns its leaves.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../graph/tensor.h"
#include "../../profile/summary.h"

namespace xgrad {

class ValueRecorder;
struct GraphVertex;
struct GraphFrame;

enum class Direction { top_to_bottom, left_to_right };

/// For GraphOptions::depth: the deepest level of modules at which the diagram still fits on a page.
inline constexpr int automatic_depth = -1;

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

struct GraphOptions {
  std::string title = {};
  Direction direction = Direction::top_to_bottom;
  int depth = automatic_depth;  ///< modules nested deeper become one box each; 0: the outermost, a large number: none
  bool roll_up = true;          ///< equal structures (blocks.0, blocks.1, ...) are drawn once, with their count
  bool kept_memory = false;     ///< bytes that stay in memory until the backward pass
  bool expand_rules = false;    ///< gradient rules as the operations they consist of, else as one box each
  bool reshapes = false;   ///< reshape, permute, slices and the like, in diagrams with modules; expand_rules draws them
  bool equations = false;  ///< at every operation its formula: "y = tanh x", at its rule "dy/dx = 1 - y^2"
  /// Shows its record of a run: values and gradients, in full if they are few, else their mean and deviation with a
  /// histogram.
  const ValueRecorder* values = nullptr;
  bool legend = true;
  /// A program of Graphviz that lays out and draws .svg, .png and .pdf instead of the library: "dot", "neato", "fdp", ...
  std::string layout = {};
  /// An .svg plays the run once when it is opened, in at most 5 seconds: values flow forward, gradients back. The
  /// picture is complete without: on paper, and for readers who prefer reduced motion.
  bool animate = false;
  std::int64_t max_nodes = 2000;  ///< larger graphs are refused: no layout of them is readable

  std::function<Fold(const GraphFrame&)> fold = {};  ///< for each module, instead of depth alone
  std::optional<GraphOverlay> overlay = {};          ///< a number for each vertex
};

enum class GraphRole {
  input,               ///< a leaf without gradient; whole numbers and masks that an operation was given
  parameter,           ///< a leaf that gradients flow to
  constant,            ///< a leaf of the formula itself: a number, or values used only by a backward pass
  operation,           ///< of a forward pass
  gradient_operation,  ///< of a backward pass
  seed,                ///< the start of a backward pass
  module,              ///< a module, folded into one box
};

/// One vertex of a diagram.
struct GraphVertex {
  GraphRole role = GraphRole::operation;
  std::string op;                   ///< of a module: its name within the module around it
  std::string name;                 ///< as given, without the path of its frame
  std::string path;                 ///< of its module
  std::optional<Shape> shape = {};  ///< of a module: of the last result that leaves it, if any does
  std::optional<Real> number = {};  ///< a constant's value
  int order = 0;                    ///< 0: forward, 1: first gradient, 2: second gradient; of a leaf: its first use
  int frame = -1;                   ///< index in GraphView::frames, or -1
  int rule_of = -1;             ///< of a gradient rule: the vertex of its operation; of a module of such: of the module
  bool is_result = false;       ///< one of the requested tensors
  std::int64_t kept_bytes = 0;  ///< its value and other arrays it made, as far as gradient rules hold them
  int operations = 0;           ///< within a module
  int results = 0;              ///< of a module: how many of the requested tensors are within it
  std::int64_t parameters = 0;  ///< numbers in the parameters of a module
  int times = 1;                ///< how many equal ones it stands for
  std::string note = {};        ///< why a result has no graph, where one could be expected
  std::string what = {};        ///< of a module: its class and settings, "Linear 512 -> 64"
  /// The attributes of an operation: {"heads", "8"}, {"causal", ""}.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::string formula = {};     ///< of an operation: "y = tanh x"
  std::string derivative = {};  ///< of an operation and of its gradient rule: "dy/dx = 1 - y^2"
  /// With GraphOptions::values: the value, and the gradient of the result that a backward pass started from.
  SharedSummary value = {};
  SharedSummary gradient = {};
  std::string gradient_state = {};        ///< why there is none, or what is wrong with it, in short: "not run", "zero"
  bool first_nan = false;                 ///< the first of the run whose value, or else whose gradient, holds a NaN
  int step = -1;                          ///< when it was computed, counted from 0; -1: unknown
  int gradient_step = -1;                 ///< when its gradient was complete, counted on from there
  std::optional<double> overlay = {};     ///< the number of GraphOptions::overlay
  std::vector<std::string> remarks = {};  ///< further lines of its label: of an overlay, or added by hand
};

/// Whether it is a leaf: an input, a parameter or a constant.
inline bool is_leaf(const GraphVertex& vertex) { return vertex.role <= GraphRole::constant; }
/// Whether it is an operation, of a forward or a backward pass.
inline bool is_operation(const GraphVertex& vertex) {
  return vertex.role == GraphRole::operation || vertex.role == GraphRole::gradient_operation;
}

/// The data that an arrow carries.
enum class GraphFlow {
  numbers,  ///< of a tensor
  indices,  ///< whole numbers: ids, targets, lengths
  mask,     ///< truth values
};

/// An arrow, from an input to the result.
struct GraphEdge {
  int from = 0;
  int to = 0;
  int input = 0;  ///< position among the inputs of `to`
  Shape shape;    ///< of the data
  GraphFlow flow = GraphFlow::numbers;
  SharedSummary gradient = {};  ///< the gradient that came back along it: a part of the gradient of `from`
};

/// A module that is drawn as a frame around its vertices.
struct GraphFrame {
  std::string path;
  std::string title;  ///< the last part of the path
  int parent = -1;
  int order = 0;          ///< frames of a forward pass hold no gradient operations, and vice versa
  int times = 1;          ///< how many equal ones it stands for
  std::string what = {};  ///< the module's class and settings, "Linear 512 -> 64"
  int level = 1;          ///< the number of frames around it, itself included
};

/// The numbers of an overlay, for the legend: colours go from the first to the last.
struct GraphScale {
  std::string title;
  std::string unit;
  double first = 0;  ///< the least number if that is negative, else 0
  double last = 0;   ///< the greatest if that is positive, else 0
};

/// The content of a diagram. It never has a cycle: a module that would close one is not folded. Vertices are numbered
/// inputs before results, in the order of the operations' inputs, so that the same graph always gives the same diagram,
/// byte for byte, with every compiler.
struct GraphView {
  std::vector<GraphVertex> vertices;
  std::vector<GraphEdge> edges;    ///< ordered by (to, input)
  std::vector<GraphFrame> frames;  ///< parents before children
  std::optional<GraphScale> scale = {};

  /// Everything that the tensors depend on. Throws GraphError for no tensor or an undefined one; ValueError for a depth
  /// below automatic_depth, an overlay without a title, with no function or two, or with a number that is not finite;
  /// LimitError if more than max_nodes vertices remain to be drawn. Errors name `caller`.
  static GraphView of(const Tensors& results, const GraphOptions& options = {}, std::string_view caller = "graph");
};

}  // namespace xgrad
