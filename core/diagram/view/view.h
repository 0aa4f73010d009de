// GraphView: the content of a diagram, built once from a graph. The files of core/diagram/render print it (svg.h,
// html.h, export.h) and save it (drawing.h).
//
//     const GraphView view = GraphView::of({loss}, {.depth = 1});
//
// A graph can be drawn at any time, even after a backward pass has released it. Threads: while a graph is drawn, no
// other thread may run a backward pass through it, name its tensors or assign its leaves.
#pragma once

#include <concepts>
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
namespace detail {

/// A vector whose elements have indices of type int: the vertices, edges or frames of a diagram.
template <class T>
class Indexed : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  explicit Indexed(std::integral auto count, const T& value = T())
      : std::vector<T>(static_cast<std::size_t>(count), value) {}

  decltype(auto) operator[](std::integral auto i) { return std::vector<T>::operator[](static_cast<std::size_t>(i)); }
  decltype(auto) operator[](std::integral auto i) const {
    return std::vector<T>::operator[](static_cast<std::size_t>(i));
  }
  int count() const { return static_cast<int>(this->size()); }
};

}  // namespace detail

class ValueRecorder;
struct GraphVertex;
struct GraphFrame;

enum class Direction { top_to_bottom, left_to_right };

/// A value of GraphOptions::depth: the greatest depth at which the diagram still fits on a page.
inline constexpr int automatic_depth = -1;

/// The folding of a module.
enum class Fold {
  by_depth,  ///< a box if it is nested deeper than GraphOptions::depth, else a frame
  closed,    ///< a box
  open,      ///< a frame; the modules around it are frames, too, unless `closed`
};

/// A value for each vertex, shown as a line in its box and as the colour of the box, with a scale in the legend. `of`
/// or `of_node` is called for every operation and leaf, before folding. A module shows the sum of the values of its
/// vertices. A block that stands for several equal blocks shows their mean. The library has time_overlay() and
/// multiply_adds_overlay().
struct GraphOverlay {
  std::string title;      ///< the quantity: "saved", "time"
  std::string unit = {};  ///< "ms", or "B", which is written as KiB, MiB, ...; may be empty
  /// Returns the value of a vertex, or nothing.
  std::function<std::optional<double>(const GraphVertex&)> of = {};
  /// An alternative to `of`: returns the value of a node of the graph. The value of a gradient rule is the sum over its
  /// nodes.
  std::function<std::optional<double>(const Node&)> of_node = {};
};

struct GraphOptions {
  std::string title = {};
  Direction direction = Direction::top_to_bottom;
  int depth = automatic_depth;  ///< modules nested deeper become boxes; 0: all modules, a large number: none
  bool roll_up = true;          ///< equal structures (blocks.0, blocks.1, ...) are drawn once, with their count
  bool saved_memory = false;    ///< shows the bytes that are saved for backward
  bool expand_rules = false;    ///< draws the operations of each gradient rule; by default one box for each rule
  /// Draws reshape, permute, slices and the like, which diagrams with modules omit. Expanded rules always show them.
  bool reshapes = false;
  bool equations = false;  ///< shows formulas: "y = tanh x" at operations, "dy/dx = 1 - y^2" at rules
  /// The record of a run, to show values and gradients: all elements if they are few, else mean, standard deviation and
  /// a histogram.
  const ValueRecorder* values = nullptr;
  bool legend = true;
  /// Makes an .svg play the run once when it is opened, in at most 5 seconds: values flow forward, gradients back. On
  /// paper, and for readers who prefer reduced motion, the figure is complete and does not move.
  bool animate = false;
  std::int64_t max_nodes = 2000;  ///< larger graphs are refused, because no layout of them is readable

  std::function<Fold(const GraphFrame&)> fold = {};  ///< the folding of each module; all are by_depth if empty
  std::optional<GraphOverlay> overlay = {};          ///< a value for each vertex
};

enum class GraphRole {
  input,               ///< a leaf without gradient, or an Index or Mask that an operation takes
  parameter,           ///< a leaf that gradients flow to
  constant,            ///< a number in a formula, or a leaf that only a backward pass uses
  operation,           ///< an operation of a forward pass
  gradient_operation,  ///< an operation of a backward pass
  seed,                ///< the start of a backward pass
  module,              ///< a module, folded into one box
};

/// The kind of data that a vertex produces and an arrow carries.
enum class GraphFlow {
  numbers,  ///< the elements of a tensor
  indices,  ///< integers: ids, targets, lengths
  mask,     ///< booleans
};

/// The texts of a vertex besides its name: the lines of its label and of its tooltip.
struct GraphText {
  std::string what = {};  ///< the class and attributes of a module, "Linear 512 -> 64"
  /// The attributes of an operation: {"heads", "8"}, {"causal", ""}.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::string formula = {};               ///< the formula of an operation: "y = tanh x"
  std::string derivative = {};            ///< for an operation and its gradient rule: "dy/dx = 1 - y^2"
  std::string note = {};                  ///< why a result has no graph, if a reader may expect one
  std::vector<std::string> remarks = {};  ///< further lines, from an overlay or added by hand
};

/// The record of a run for one vertex (GraphOptions::values).
struct GraphRecord {
  SharedSummary value = {};
  SharedSummary gradient = {};      ///< the gradient of the loss: of the tensor where the backward pass started
  std::string gradient_state = {};  ///< why the gradient is missing or suspicious: "zero, stopped by relu"
  bool first_nan = false;           ///< the first vertex with a NaN in its value; if no value has one, in its gradient
  int step = -1;                    ///< the step of the run that computed the value, from 0; -1: unknown
  int gradient_step = -1;           ///< the step that completed the gradient; numbered after the steps of all values

  /// Merges the record of a part: first_nan and the later of the steps, but no values.
  void absorb(const GraphRecord& part);
};

/// The quantities that a module sums over its vertices.
struct GraphTotals {
  std::int64_t saved_bytes = 0;        ///< bytes of the arrays that the vertex computed and that are saved for backward
  int operations = 0;                  ///< the number of operations in a module
  int results = 0;                     ///< the number of requested tensors that it is or contains
  std::int64_t parameters = 0;         ///< the number of elements in a module's parameters
  std::optional<double> overlay = {};  ///< the value of GraphOptions::overlay

  /// Adds the totals of a part, multiplied by `times`, the number of equal parts that it stands for.
  void absorb(const GraphTotals& part, int times);
};

/// One vertex of a diagram.
struct GraphVertex {
  // What the vertex is.
  GraphRole role = GraphRole::operation;
  std::string op = {};                ///< the operation; for a module: its name within the module around it
  std::string name = {};              ///< the name that the user gave, without the path of its frame
  std::string path = {};              ///< the path of its module
  std::optional<Shape> shape = {};    ///< the shape of the result; for a module: of the last result that leaves it
  std::optional<Real> constant = {};  ///< the value, if the vertex is a number in a formula
  int order = 0;  ///< 0: forward, 1: first gradient, 2: second gradient; a leaf takes the order of its first use
  GraphFlow flow = GraphFlow::numbers;
  bool is_result = false;  ///< whether this is one of the requested tensors

  // Where the vertex is.
  int frame = -1;    ///< index in GraphView::frames, or -1
  int rule_of = -1;  ///< for a gradient rule: the vertex of its operation, or of the module that contains it
  int times = 1;     ///< the number of equal vertices that this one stands for

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

/// An arrow from an input to a result.
struct GraphEdge {
  int from = 0;
  int to = 0;
  int input = 0;     ///< the position among the inputs of `to`
  Shape shape = {};  ///< the shape of the data
  GraphFlow flow = GraphFlow::numbers;
  SharedSummary gradient = {};  ///< the gradient that flowed back along the arrow: one term of the gradient of `from`
};

/// A module that is drawn as a frame around its vertices.
struct GraphFrame {
  std::string path = {};
  std::string title = {};  ///< the last part of the path
  int parent = -1;
  int order = 0;          ///< the order of all its operations: see GraphVertex::order
  int times = 1;          ///< the number of equal frames that this one stands for
  std::string what = {};  ///< the class and attributes of the module, "Linear 512 -> 64"
  int level = 1;          ///< the number of frames around it, itself included
};

/// The range of an overlay's values, for the legend: the colours go from `first` to `last`.
struct GraphScale {
  std::string title;
  std::string unit;
  double first = 0;  ///< the least value if it is negative, else 0
  double last = 0;   ///< the greatest value if it is positive, else 0
};

/// The content of a diagram. It has no cycles: a module whose box would close a cycle is not folded. The graph alone
/// determines the indices of vertices, and inputs come before results. So equal graphs give equal diagrams, byte for
/// byte, with every compiler. Functions that draw a view throw GraphError if it was changed by hand and has an invalid
/// index or a cycle.
struct GraphView {
  detail::Indexed<GraphVertex> vertices;
  detail::Indexed<GraphEdge> edges;    ///< in the order of (to, input)
  detail::Indexed<GraphFrame> frames;  ///< parents before children
  std::optional<GraphScale> scale = {};

  /// The view of everything that the tensors depend on. Throws GraphError for an empty list or an undefined tensor;
  /// ValueError for a depth below automatic_depth, or an overlay without a title, with no function or two, or with a
  /// value that is not finite; LimitError if the diagram would have more than max_nodes vertices. Errors begin with
  /// `caller`.
  static GraphView of(const Tensors& results, const GraphOptions& options = {}, std::string_view caller = "graph");
};

}  // namespace xgrad
