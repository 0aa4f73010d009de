// What is drawn of a graph: one intermediate form, GraphView, that is built once. It is printed by formats.h and put
// into files by drawing.h.
//
//     const GraphView view = GraphView::of({loss}, {.depth = 1});
//
// A graph can be drawn at any time, also after a backward pass has released it. Threads: while no other thread runs a
// backward pass through it, names its tensors or assigns its leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../graph/tensor.h"
#include "../../watch/summary.h"
#include "colours.h"
#include "vertex_options.h"

namespace xgrad {

class SourceLines;
class ValueRecorder;

enum class Direction { top_to_bottom, left_to_right, bottom_to_top, right_to_left };
enum class Theme { light, dark, mono };

/// For GraphOptions::depth: the deepest level of modules at which the diagram still fits on a page.
inline constexpr int automatic_depth = -1;

struct GraphOptions {
  std::string title = {};
  Direction direction = Direction::top_to_bottom;
  Theme theme = Theme::light;
  std::string font = "Helvetica,Arial,sans-serif";
  int depth = automatic_depth;  ///< modules nested deeper than this become one box each; 0: every module
  bool roll_up = true;          ///< of what is built alike (blocks.0, blocks.1, ...) only one, with its count
  bool shapes = true;           ///< at every vertex
  bool edge_shapes = false;     ///< at every edge
  bool kept_memory = false;     ///< bytes that stay in memory until the backward pass
  bool formulas = false;        ///< gradient rules as the operations that they are made of, else as one box each
  bool forms = false;      ///< reshape, permute, slices and the like in diagrams with modules; with .formulas anyway
  bool equations = false;  ///< at every operation what it computes: "y = tanh x", at its rule "dy/dx = 1 - y^2"
  /// What it remembers of a run is shown: values and gradients, themselves where they are few, else their mean and
  /// deviation with a histogram.
  const ValueRecorder* values = nullptr;
  const SourceLines* lines = nullptr;  ///< what it remembers of a run is said: where operations were called
  bool legend = true;
  /// In an .svg the run is played once when it is opened, in at most 5 seconds: values flow to what is computed from
  /// them, gradients back. The picture is complete without: on paper, and for readers who want nothing to move.
  bool animate = false;
  std::int64_t max_nodes = 2000;  ///< more than these are refused: no layout of them can be read

  std::function<Fold(const GraphFrame&)> fold = {};           ///< of each module, instead of depth alone
  std::function<VertexStyle(const GraphVertex&)> style = {};  ///< of each vertex that is drawn
  std::optional<GraphOverlay> overlay = {};                   ///< a number for each vertex
  /// All that lies on a path from one of `from` to one of `to` is drawn as ever, the rest faintly. Without `to`: what
  /// depends on `from`; without `from`: what `to` depends on.
  std::vector<GraphEnd> from = {};
  std::vector<GraphEnd> to = {};
};

enum class GraphRole {
  input,               ///< a leaf without gradient; whole numbers and masks that an operation was given
  parameter,           ///< a leaf that gradients flow to
  constant,            ///< a leaf that the formula itself brings in: a number, or values that only a backward pass uses
  operation,           ///< of a forward pass
  gradient_operation,  ///< of a backward pass
  seed,                ///< where a backward pass began
  module,              ///< a module, folded into one box
};

// To g++ the enumerator hides xgrad::none.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
/// What a comparison of two graphs found (compare.h).
enum class GraphChange { none, same, added, removed, changed };
#pragma GCC diagnostic pop

/// The colours that GraphOptions::style chose.
struct ChosenColours {
  std::optional<Rgb> fill = {};
  std::optional<Rgb> line = {};
  std::optional<Rgb> text = {};
};

/// One vertex of a diagram.
struct GraphVertex {
  GraphRole role = GraphRole::operation;
  std::string op;                   ///< of a module: its name within the module around it
  std::string name;                 ///< as given, without the path of the frame that it is drawn in
  std::string path;                 ///< of the module that it belongs to
  std::optional<Shape> shape = {};  ///< of a module: of the last result that leaves it, if any does
  std::optional<Real> number = {};  ///< a constant's value
  int order = 0;                    ///< 0: forward, 1: first gradient, 2: second gradient; of a leaf: its first use
  int frame = -1;                   ///< index in GraphView::frames, or -1
  int rule_of = -1;             ///< of a gradient rule: the vertex of its operation; of a module of such: of the module
  bool is_result = false;       ///< one of the tensors that were asked for
  std::int64_t kept_bytes = 0;  ///< its value and what else it made, as far as gradient rules hold that
  int operations = 0;           ///< within a module
  int results = 0;              ///< so many of the tensors that were asked for, of a module within it
  std::int64_t parameters = 0;  ///< numbers in the parameters of a module
  int times = 1;                ///< how many alike it stands for
  std::string note = {};        ///< why there is no graph behind a result, where one could be expected
  std::string what = {};        ///< of a module: its class and settings, "Linear 512 -> 64"
  /// What is said of an operation: {"heads", "8"}, {"causal", ""}.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  std::string source = {};      ///< where the program called it: "main.cpp:12"
  std::string formula = {};     ///< of an operation: "y = tanh x"
  std::string derivative = {};  ///< of an operation and of its gradient rule: "dy/dx = 1 - y^2"
  /// With GraphOptions::values: what was computed, and the gradient of the result that a backward pass went out from.
  SharedSummary value = {};
  SharedSummary gradient = {};
  std::string gradient_state = {};        ///< why there is none, or what is wrong with it, in a word: "not run", "zero"
  bool first_nan = false;                 ///< the first of the run whose value, or else whose gradient, holds a NaN
  int step = -1;                          ///< when it was computed, counted from 0; -1: not known
  int gradient_step = -1;                 ///< when its gradient was complete, counted on from there
  std::optional<double> overlay = {};     ///< the number of GraphOptions::overlay
  ChosenColours colours = {};             ///< in place of those of its role
  std::vector<std::string> remarks = {};  ///< further lines: of an overlay, a style, a comparison
  bool dimmed = false;                    ///< lies on no path from GraphOptions::from to GraphOptions::to
  GraphChange change = GraphChange::none;
};

/// Whether it is an operation, of a forward or a backward pass.
inline bool is_operation(const GraphVertex& vertex) {
  return vertex.role == GraphRole::operation || vertex.role == GraphRole::gradient_operation;
}

/// What an arrow carries.
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
  Shape shape;    ///< of what flows
  GraphFlow flow = GraphFlow::numbers;
  SharedSummary gradient = {};  ///< what came back along it: a part of the gradient of `from`
  bool dimmed = false;          ///< as of vertices
  GraphChange change = GraphChange::none;
};

/// A module that is drawn as a frame around its vertices.
struct GraphFrame {
  std::string path;
  std::string title;  ///< the last part of the path
  int parent = -1;
  int order = 0;          ///< frames of a forward pass hold no gradient operations, and the other way round
  int times = 1;          ///< how many alike it stands for
  std::string what = {};  ///< the module's class and settings, "Linear 512 -> 64"
  int level = 1;          ///< within so many frames, itself included
};

/// The numbers of an overlay, for the legend: colours go from the first to the last.
struct GraphScale {
  std::string title;
  std::string unit;
  double first = 0;  ///< the least number if that is negative, else 0
  double last = 0;   ///< the greatest if that is positive, else 0
};

/// What is to be drawn. It never has a cycle: what would close one is not folded. Vertices are numbered inputs before
/// results, in the order of the operations' inputs, so that the same graph always gives the same diagram, byte for
/// byte, with every compiler.
struct GraphView {
  std::vector<GraphVertex> vertices;
  std::vector<GraphEdge> edges;    ///< ordered by (to, input)
  std::vector<GraphFrame> frames;  ///< parents before children
  std::string remark = {};         ///< what is said below the title: which paths are shown, what was compared
  std::optional<GraphScale> scale = {};

  /// Everything that the tensors depend on. Throws GraphError for no tensor or an undefined one, and for one of `from`
  /// or `to` that is not in the graph; ValueError for a depth below automatic_depth, a colour that is none, an overlay
  /// without a title, with no function or two, or with a number that is not finite; LimitError if more than max_nodes
  /// vertices remain to be drawn, which says how many there are at which depth. Errors name `caller`.
  static GraphView of(const Tensors& results, const GraphOptions& options = {}, std::string_view caller = "graph");
};

}  // namespace xgrad
