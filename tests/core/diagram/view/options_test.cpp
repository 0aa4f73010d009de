// Tests of what GraphOptions says about single vertices and modules: fold, overlay, and the size cap.
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/render/export.h>
#include <xgrad/core/diagram/render/html.h>
#include <xgrad/core/diagram/view/colours.h>

#include <map>

#include "core/diagram/diagrams.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// Two blocks of two layers each, and a head.
Tensor network() {
  Tensor y = Tensor(Array({3}, Real(1))).named("x");
  for (const char* path : {"net.blocks.0.in", "net.blocks.0.out", "net.blocks.1.in", "net.blocks.1.out"}) {
    y = layer(path, y, "Layer");
  }
  return layer("head", y, "Layer").named("y");
}

// The vertices drawn: modules as "[path]", operations as "op in path".
std::vector<std::string> drawn(const GraphView& view) {
  std::vector<std::string> all;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::module) all.push_back(str('[', vertex.path, ']'));
    if (is_operation(vertex)) all.push_back(str(vertex.op, " in ", vertex.path));
  }
  return all;
}

using Fold_of = std::map<std::string, Fold>;
std::vector<std::string> folded(const Fold_of& wishes, int depth) {
  const auto fold = [&](const GraphFrame& frame) {
    const auto wish = wishes.find(frame.path);
    return wish == wishes.end() ? Fold::by_depth : wish->second;
  };
  return drawn(GraphView::of({network()}, {.depth = depth, .roll_up = false, .fold = fold}));
}

}  // namespace

TEST_CASE(
    "without options a diagram has its automatic depth, blocks rolled up and a legend; a new vertex is one operation") {
  const auto numbers = [](const auto&... values) { return std::vector<double>{static_cast<double>(values)...}; };
  const GraphOptions graph;
  CHECK(numbers(graph.depth, graph.roll_up, graph.legend, graph.max_nodes) ==
        std::vector<double>{-1, true, true, 2000});
  CHECK(numbers(graph.saved_memory, graph.expand_rules, graph.reshapes, graph.equations, graph.animate) ==
        std::vector<double>{false, false, false, false, false});
  const GraphVertex vertex;
  CHECK(numbers(vertex.order, vertex.is_result, vertex.frame, vertex.rule_of, vertex.times, vertex.record.step,
                vertex.record.gradient_step,
                vertex.record.first_nan) == std::vector<double>{0, false, -1, -1, 1, -1, -1, false});
  CHECK(numbers(vertex.totals.saved_bytes, vertex.totals.operations, vertex.totals.results, vertex.totals.parameters) ==
        std::vector<double>{0, 0, 0, 0});
  const GraphFrame frame;
  CHECK(numbers(frame.parent, frame.order, frame.times, frame.level) == std::vector<double>{-1, 0, 1, 1});
  const GraphEdge edge;
  CHECK(numbers(edge.from, edge.to, edge.input) == std::vector<double>{0, 0, 0});
}

TEST_CASE("modules are folded by predicate: closed above the depth, open below it") {
  CHECK(folded({}, 0) == Strings{"[net]", "[head]"});
  CHECK(folded({{"head", Fold::open}}, 0) == Strings{"[net]", "mul in head", "tanh in head"});
  CHECK(folded({{"net.blocks.1", Fold::closed}, {"head", Fold::closed}}, 2) ==
        Strings{"[net.blocks.0.in]", "[net.blocks.0.out]", "[net.blocks.1]", "[head]"});
  // An open module opens the modules around it, and its neighbours stay as the depth says.
  CHECK(folded({{"net.blocks.0.out", Fold::open}}, 0) == Strings{"[net.blocks.0.in]", "mul in net.blocks.0.out",
                                                                 "tanh in net.blocks.0.out", "[net.blocks.1]",
                                                                 "[head]"});
  // A closed module holds one that is to be open.
  CHECK(folded({{"net", Fold::closed}, {"net.blocks.0.in", Fold::open}}, 9) ==
        Strings{"[net]", "mul in head", "tanh in head"});
}

TEST_CASE("the predicate knows path, level, number and kind of a module, also with the automatic depth") {
  std::vector<std::string> asked;
  const auto fold = [&](const GraphFrame& frame) {
    asked.push_back(str(frame.path, ' ', frame.level, ' ', frame.times, ' ', frame.what));
    return frame.level == 2 ? Fold::closed : Fold::by_depth;
  };
  const GraphView view = GraphView::of({network()}, {.fold = fold});
  CHECK(asked == Strings{"net 1 1 ", "net.blocks.0 2 2 ", "net.blocks.0.in 3 1 Layer", "net.blocks.0.out 3 1 Layer",
                         "head 1 1 Layer"});
  CHECK(drawn(view) == Strings{"[net.blocks.0]", "mul in head", "tanh in head"});
}

TEST_CASE("an overlay is a line and a colour for each vertex; a module shows the sum of what it holds") {
  const GraphOverlay length =
      overlay_of("letters", "", [](const GraphVertex& vertex) { return static_cast<double>(vertex.op.size()); });
  const Tensor y = network();
  const GraphView open = GraphView::of({y}, {.depth = 9, .roll_up = false, .overlay = length});
  CHECK(the(open, "tanh").totals.overlay == 4.0);
  CHECK(the(open, "tanh").text.remarks == Strings{"letters 4"});
  CHECK_FALSE(open.vertices[0].totals.overlay);
  REQUIRE(open.scale);
  CHECK(open.scale->first == 0);
  CHECK(open.scale->last == 4);
  for (const bool roll_up : {false, true}) {
    CAPTURE(roll_up);
    const GraphView boxes = GraphView::of({y}, {.depth = 0, .roll_up = roll_up, .overlay = length});
    CHECK(the(boxes, "net").totals.overlay == 28.0);  // four times mul and tanh
    CHECK(the(boxes, "head").totals.overlay == 7.0);
    CHECK(boxes.scale->last == 28);
  }
  CHECK(the(GraphView::of({y}, {.depth = 2, .overlay = length}), "in").totals.overlay == 7.0);
  // The folded level of a page has the colours of its own boxes, 28 and 7.
  CHECK(count(to_html(open, {.depth = 0, .overlay = length}), "as-result asked heat-1\"") == 1);
}

TEST_CASE("of blocks that are drawn as one an overlay shows the mean, so that sums stay what they are") {
  const GraphOverlay time = overlay_of("time", "ms", [](const GraphVertex& vertex) {
    return vertex.op != "tanh" ? 0 : vertex.path.starts_with("net.blocks.0") ? 1.0 : 2.5;
  });
  const Tensor y = network();
  const GraphView blocks = GraphView::of({y}, {.depth = 2, .overlay = time});
  CHECK(the(blocks, "in").totals.overlay == 1.75);
  CHECK(the(blocks, "in").text.remarks == Strings{"time 1.75 ms"});
  CHECK(the(GraphView::of({y}, {.depth = 0, .overlay = time}), "net").totals.overlay == 7.0);
  const GraphView each = GraphView::of({y}, {.depth = 1, .overlay = time});
  CHECK(the(each, "blocks.0 \u2026 1").text.remarks == Strings{"time 3.5 ms each"});
}

TEST_CASE("numbers of an overlay are written as people read them") {
  struct Row {
    double number;
    const char *unit, *line;
  };
  for (const auto& [number, unit, line] :
       {Row{1234567, "", "n 1,234,567"}, Row{-1234, "", "n -1,234"}, Row{0.125, "ms", "n 0.125 ms"},
        Row{1536, "B", "n 1.5 KiB"}, Row{0.000502083, "ms", "n 0.000502 ms"}, Row{-1234.5, "ms", "n -1,235 ms"},
        Row{-1536, "B", "n -1,536 B"}, Row{1e300, "", "n 1e+300"}}) {
    const GraphOverlay overlay{.title = "n", .unit = unit, .of = [&, each = number](const auto&) { return each; }};
    CHECK(GraphView::of({variable(1, "x")}, {.overlay = overlay}).vertices[0].text.remarks == Strings{line});
  }
}

TEST_CASE("the colours of a scale go from its first number to its last, and begin at 0 unless numbers are negative") {
  const auto heats = [](std::vector<double> numbers) {
    Tensor y = variable(1, "x");
    for (std::size_t i = 0; i < numbers.size(); ++i) y = tanh(y);
    std::size_t next = 0;
    const auto overlay = overlay_of("n", "", [&](const GraphVertex&) { return numbers[next++]; });
    const GraphView view = GraphView::of({y}, {.overlay = overlay});
    std::vector<int> steps;
    for (const GraphVertex& vertex : view.vertices) {
      if (vertex.totals.overlay) steps.push_back(detail::heat_of(*view.scale, *vertex.totals.overlay));
    }
    return steps;
  };
  CHECK(heats({0, 35, 70, 69, 9, 11}) == std::vector<int>{0, 3, 6, 6, 0, 1});
  CHECK(heats({-35, 0, 35}) == std::vector<int>{0, 3, 6});
  CHECK(heats({0, 0}) == std::vector<int>{0, 0});
  CHECK(heats({5, 5}) == std::vector<int>{6, 6});
}

TEST_CASE("an overlay without title, without function, with two, or with a number that is none is refused") {
  const Tensor y = tanh(variable(1, "x")).named("y");
  const auto one = [](const GraphVertex&) { return 1.0; };
  const auto view = [&](const GraphOverlay& overlay) { return GraphView::of({y}, {.overlay = overlay}); };
  CHECK_REFUSED(ValueError, view({.title = "", .of = one}), "graph", "the overlay has no title");
  CHECK_REFUSED(ValueError, view({.title = "n"}), "graph", "the overlay 'n' has no function", ".of and .of_node");
  CHECK_REFUSED(ValueError, view({.title = "n", .of = one, .of_node = [](const Node&) { return 1.0; }}), "graph",
                "two functions");
  for (const double number : {static_cast<double>(not_a_number), static_cast<double>(infinity)}) {
    CHECK_REFUSED(ValueError, view(overlay_of("n", "", [=](const GraphVertex&) { return number; })), "graph",
                  "for tanh 'y'");
  }
  const Tensor hostile = tanh(variable(1)).named(std::string("a\0\x1b[31m", 7));
  const std::string what = error_of<ValueError>(
      [&] { GraphView::of({hostile}, {.overlay = overlay_of("n", "", [](const GraphVertex&) { return infinity; })}); });
  CHECK(what.find_first_of(std::string("\0\x1b", 2)) == what.npos);
}

TEST_CASE("more vertices than allowed are refused, and the error says what helps; folded ones do not count") {
  const auto view = [](const Tensor& y, const GraphOptions& options) { return GraphView::of({y}, options); };
  for (const bool roll_up : {false, true}) {
    const int count = roll_up ? 10 : 16;
    CHECK_REFUSED(LimitError, view(network(), {.depth = 3, .roll_up = roll_up, .max_nodes = count - 1}), "graph",
                  str(count, " vertices to draw, max_nodes is ", count - 1),
                  "; fold modules with .depth or .fold, or raise .max_nodes");
    CHECK(std::ssize(view(network(), {.depth = 3, .roll_up = roll_up, .max_nodes = count}).vertices) == count);
  }
  const auto chain = [](int length) {
    Tensor y = variable(1);
    for (int i = 0; i < length; ++i) y = i % 2 == 0 ? tanh(y) : sin(y);
    return y;
  };
  CHECK_REFUSED(LimitError, view(chain(2000), {}), "graph", "2001 vertices to draw, max_nodes is 2000",
                "there is no module to fold", "raise .max_nodes");
  const Scope scope(intern("module"));
  CHECK(view(chain(5000), {}).vertices.size() == 2);
}
