// GraphView: the content of a diagram, built once from a graph. The files of core/diagram/render print it (svg.h,
// html.h, export.h) and save it (drawing.h).
//
//     const GraphView view = GraphView::of({loss}, {.depth = 1});
//
// A graph can be drawn at any time, also after a backward pass has released it. Threads: while a graph is drawn no
// other thread may run a backward pass through it, name its tensors or assign its leaves.
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
#include "indexed.h"

namespace xgrad {

class ValueRecorder;
struct GraphVertex;
struct GraphFrame;

enum class Direction { top_to_bottom, left_to_right };

/// For GraphOptions::depth: the greatest depth at which the diagram still fits on a page.
inline constexpr int automatic_depth = -1;

/// The folding of a module.
enum class Fold {
  by_depth,  ///< a box if it is nested deeper than GraphOptions::depth, else a frame
  closed,    ///< a box
  open,      ///< a frame; the modules around it that are by_depth become frames, too
};

/// A value for each vertex: a line in its box, and the colour of the box, with a scale in the legend. The function is
/// called for every operation and leaf before folding. A module shows the sum of the values of its vertices; a block
/// that stands for several shows their mean. Ready-made: time_overlay(), multiply_adds_overlay().
struct GraphOverlay {
  std::string title;      ///< the quantity: "kept", "time"
  std::string unit = {};  ///< "ms", "B" (then written as KiB, MiB, ...), or none
  /// The value of a vertex, or none.
  std::function<std::optional<double>(const GraphVertex&)> of = {};
  /// Instead of `of`: the value of a node of the graph. The value of a gradient rule is the sum over its nodes.
  std::function<std::optional<double>(const Node&)> of_node = {};
};

struct GraphOptions {
  std::string title = {};
  Direction direction = Direction::top_to_bottom;
  int depth = automatic_depth;  ///< modules nested deeper become boxes; 0: all modules, a large number: none
  bool roll_up = true;          ///< equal structures (blocks.0, blocks.1, ...) are drawn once, with their count
  bool saved_memory = false;    ///< bytes that stay in memory until the backward pass
  bool expand_rules = false;    ///< gradient rules as the operations they consist of, else as one box each
  /// Draws reshape, permute, slices and the like, which diagrams with modules omit. Expanded rules always show them.
  bool reshapes = false;
  bool equations = false;  ///< the formula at every operation, "y = tanh x", and at its rule, "dy/dx = 1 - y^2"
  /// The record of a run to show: values and gradients, all elements if they are few, else mean and standard deviation
  /// with a histogram.
  const ValueRecorder* values = nullptr;
  bool legend = true;
  /// An .svg plays the run once when it is opened, in at most 5 seconds: values flow forward, gradients back. On paper,
  /// and for readers who prefer reduced motion, the picture stands still and is complete.
  bool animate = false;
  std::int64_t max_nodes = 2000;  ///< larger graphs are refused, because no layout of them is readable

  std::function<Fold(const GraphFrame&)> fold = {};  ///< for each module, instead of depth alone
  std::optional<GraphOverlay> overlay = {};          ///< a value for each vertex
};

enum class GraphRole {
  input,               ///< a leaf without gradient; an array of integers or a mask that an operation was given
  parameter,           ///< a leaf that gradients flow to
  constant,            ///< a number in a formula, or a leaf that only a backward pass uses
  operation,           ///< of a forward pass
  gradient_operation,  ///< of a backward pass
  seed,                ///< the start of a backward pass
  module,              ///< a module, folded into one box
};

/// The data that a vertex gives and an arrow carries.
enum class GraphFlow {
  numbers,  ///< the elements of a tensor
  indices,  ///< integers: ids, targets, lengths
  mask,     ///< booleans
};

/// What a vertex says beyond its name: the lines of its label and of its tooltip.
struct GraphText {
  std::string what = {};  ///< of a module: its class and attributes, "Linear 512 -> 64"
  /// The attributes of an operation: {"heads", "8"}, {"causal", ""}.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::string formula = {};               ///< of an operation: "y = tanh x"
  std::string derivative = {};            ///< of an operation and of its gradient rule: "dy/dx = 1 - y^2"
  std::string note = {};                  ///< why a result has no graph, where one could be expected
  std::vector<std::string> remarks = {};  ///< further lines, from an overlay or added by hand
};

/// What a run recorded of a vertex (GraphOptions::values).
struct GraphRecord {
  SharedSummary value = {};
  SharedSummary gradient = {};      ///< of the result that a backward pass started from
  std::string gradient_state = {};  ///< why the gradient is missing, or its fault: "zero, stopped by relu"
  bool first_nan = false;           ///< the first of the run whose value, or else gradient, holds a NaN
  int step = -1;                    ///< when it was computed, counted from 0; -1: unknown
  int gradient_step = -1;           ///< when its gradient was complete, counted on from the last value

  /// Adds the record of a part: whether and when anything in it happened, not its numbers.
  void absorb(const GraphRecord& part);
};

/// What a vertex adds to the module around it.
struct GraphTotals {
  std::int64_t saved_bytes = 0;        ///< the arrays that it made and that are saved for backward
  int operations = 0;                  ///< of a module: how many are within it
  int results = 0;                     ///< how many of the requested tensors it is, or are within it
  std::int64_t parameters = 0;         ///< of a module: the number of elements of its parameters
  std::optional<double> overlay = {};  ///< the value of GraphOptions::overlay

  /// Adds the totals of a part that stands for `times` equal ones.
  void absorb(const GraphTotals& part, int times);
};

/// One vertex of a diagram.
struct GraphVertex {
  // What it is.
  GraphRole role = GraphRole::operation;
  std::string op = {};                ///< of a module: its name within the module around it
  std::string name = {};              ///< the given name, without the path of its frame
  std::string path = {};              ///< of its module
  std::optional<Shape> shape = {};    ///< of the result; of a module: of the last result that leaves it, if any does
  std::optional<Real> constant = {};  ///< its value, if it is a number in a formula
  int order = 0;  ///< 0: forward, 1: first gradient, 2: second gradient; of a leaf: of its first use
  GraphFlow flow = GraphFlow::numbers;
  bool is_result = false;  ///< one of the requested tensors

  // Where it stands.
  int frame = -1;    ///< index in GraphView::frames, or -1
  int rule_of = -1;  ///< of a gradient rule: the vertex of its operation, or of the module around that
  int times = 1;     ///< how many equal ones it stands for

  GraphText text = {};
  GraphRecord record = {};
  GraphTotals totals = {};
};

/// Whether a vertex is a leaf: an input, a parameter or a constant.
inline bool is_leaf(const GraphVertex& vertex) { return vertex.role <= GraphRole::constant; }
/// Whether a vertex is an operation of a forward or a backward pass.
inline bool is_operation(const GraphVertex& vertex) {
  return vertex.role == GraphRole::operation || vertex.role == GraphRole::gradient_operation;
}

/// An arrow, from an input to the result.
struct GraphEdge {
  int from = 0;
  int to = 0;
  int input = 0;     ///< position among the inputs of `to`
  Shape shape = {};  ///< of the data
  GraphFlow flow = GraphFlow::numbers;
  SharedSummary gradient = {};  ///< the gradient that came back along the arrow: a part of the gradient of `from`
};

/// A module that is drawn as a frame around its vertices.
struct GraphFrame {
  std::string path = {};
  std::string title = {};  ///< the last part of the path
  int parent = -1;
  int order = 0;          ///< the order of all operations in it, as GraphVertex::order
  int times = 1;          ///< how many equal ones it stands for
  std::string what = {};  ///< the class and attributes of the module, "Linear 512 -> 64"
  int level = 1;          ///< the number of frames around it, itself included
};

/// The values of an overlay, for the legend: colours go from the first to the last.
struct GraphScale {
  std::string title;
  std::string unit;
  double first = 0;  ///< the least number if that is negative, else 0
  double last = 0;   ///< the greatest if that is positive, else 0
};

/// The content of a diagram, without cycles: a module that would close one is not folded. Inputs have smaller indices
/// than results, in the order of the operations' inputs. So equal graphs give equal diagrams, byte for byte, with every
/// compiler.
struct GraphView {
  detail::Indexed<GraphVertex> vertices;
  detail::Indexed<GraphEdge> edges;    ///< ordered by (to, input)
  detail::Indexed<GraphFrame> frames;  ///< parents before children
  std::optional<GraphScale> scale = {};

  /// The view of everything that the tensors depend on. Throws GraphError for no tensor or an undefined one; ValueError
  /// for a depth below automatic_depth, an overlay without a title, with no function or two, or with a value that is
  /// not finite; LimitError if more than max_nodes vertices remain to be drawn. Errors name `caller`.
  static GraphView of(const Tensors& results, const GraphOptions& options = {}, std::string_view caller = "graph");
};

}  // namespace xgrad
