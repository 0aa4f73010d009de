// Tests of core/diagram/view/view.h and dot.h: what a view holds, how it is rolled up and folded, and how it is
// printed. Pictures are in drawing_test.cpp.
#include <xgrad/core/diagram/render/drawing.h>

#include <random>
#include <set>

#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/elementwise/arithmetic.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/products/matmul.h>
#include <xgrad/ops/reduce/reduce.h>

#include "support/check.h"
#include "support/files.h"
#include "support/threads.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

std::vector<std::string> ops(const GraphView& view) {
  std::vector<std::string> result;
  for (const GraphVertex& vertex : view.vertices) result.push_back(vertex.op);
  return result;
}

std::vector<GraphRole> roles(const GraphView& view) {
  std::vector<GraphRole> result;
  for (const GraphVertex& vertex : view.vertices) result.push_back(vertex.role);
  return result;
}

// "0>2 1>2" for two arrows into vertex 2.
std::string arrows(const GraphView& view) {
  std::string result;
  for (const GraphEdge& edge : view.edges) {
    append(result, cat(result.empty() ? "" : " ", edge.from, '>', edge.to));
  }
  return result;
}

std::vector<std::string> titles(const GraphView& view) {
  std::vector<std::string> result;
  for (const GraphFrame& frame : view.frames) result.push_back(frame.title);
  return result;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t result = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++result;
  return result;
}

const std::string& path_of(const GraphView& view, int frame) {
  return view.frames[static_cast<std::size_t>(frame)].path;
}

// y = tanh(w x) inside the module `path`, with its parameter.
Tensor layer(const std::string& path, const Tensor& x) {
  const Tensor w = variable(Array(x.shape(), Real(0.5)), path + ".weight");
  const Scope scope(intern(path));
  return tanh(w * x);
}

}  // namespace

TEST_CASE("a view lists inputs before results, with their roles and the positions of the inputs") {
  const Tensor x = Tensor(Array(Shape{2, 3}, Real(1))).named("x");
  const Tensor w = variable(Array(Shape{3}, Real(1)), "w");
  const GraphView view = GraphView::of({x * w - 2});
  CHECK(cat(ops(view)) == "[leaf, leaf, mul, leaf, sub]");
  CHECK(roles(view) == std::vector{GraphRole::input, GraphRole::parameter, GraphRole::operation, GraphRole::constant,
                                   GraphRole::operation});
  CHECK(arrows(view) == "0>2 1>2 2>4 3>4");
  CHECK(view.edges[1].input == 1);
  CHECK(view.edges[1].shape == Shape{3});
  CHECK(view.vertices[0].name == "x");
  CHECK(*view.vertices[2].shape == Shape{2, 3});
  CHECK(view.vertices[3].number == Real(2));
  CHECK(view.vertices[4].is_result);
  CHECK_FALSE(view.vertices[2].is_result);
}

TEST_CASE("a tensor that is used twice by one operation has two arrows to it") {
  const Tensor x = variable(3);
  CHECK(arrows(GraphView::of({x * x})) == "0>1 0>1");
}

TEST_CASE("several results share what they have in common") {
  const Tensor x = variable(3);
  const Tensor y = tanh(x);
  const GraphView view = GraphView::of({y * y, y, exp(y)});
  CHECK(cat(ops(view)) == "[leaf, tanh, mul, exp]");
  CHECK(view.vertices[1].is_result);
}

TEST_CASE("a leaf or a plain value alone is a graph of one vertex") {
  CHECK(roles(GraphView::of({variable(1)})) == std::vector{GraphRole::parameter});
  CHECK(roles(GraphView::of({Tensor(1)})) == std::vector{GraphRole::constant});
}

TEST_CASE("a graph can be drawn after a backward pass has released it, with what it keeps gone") {
  const Tensor x = variable(Array(Shape{4}, Real(0.5)), "x");
  const Tensor y = sum(tanh(x));
  const GraphView before = GraphView::of({y});
  y.backward();
  const GraphView after = GraphView::of({y});
  CHECK(arrows(before) == arrows(after));
  CHECK(ops(before) == ops(after));
  CHECK(before.vertices[1].kept_bytes == 4 * static_cast<std::int64_t>(sizeof(Real)));
  CHECK(after.vertices[1].kept_bytes == 0);
}

TEST_CASE("a constant that was given another value since is drawn without a number") {
  const Tensor c(Array(Shape{}, Real(2)));
  const Tensor y = variable(1) * c;
  CHECK(GraphView::of({y}).vertices[1].number == Real(2));
  c.assign(Array(Shape{}, Real(3)));
  const GraphView view = GraphView::of({y});
  CHECK(view.vertices[1].role == GraphRole::constant);
  CHECK_FALSE(view.vertices[1].number.has_value());
}

TEST_CASE("operations of backward passes are told apart from those of the forward pass") {
  const Tensor x = variable(1, "x");
  const Tensor y = exp(x);
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  const Tensor h = grad(g, {x}, {.create_graph = true})[0];
  std::vector<int> orders;
  std::vector<GraphRole> found;
  for (const GraphVertex& vertex : GraphView::of({y, g, h}).vertices) {
    if (is_operation(vertex)) orders.push_back(vertex.order);
    found.push_back(vertex.role);
  }
  CHECK(std::ranges::is_sorted(orders));
  CHECK(std::set(orders.begin(), orders.end()) == std::set{0, 1, 2});
  CHECK(std::ranges::count(found, GraphRole::operation) == 1);
  CHECK(std::ranges::count(found, GraphRole::seed) == 2);  // of each pass
}

TEST_CASE("the second pass over a penalty on gradients is of second order, though the penalty is a forward operation") {
  const Tensor x = variable(2, "x");
  const Tensor g = grad(x * x * x, {x}, {.create_graph = true})[0];
  const Tensor penalty = g * g;
  const Tensor h = grad(penalty, {x}, {.create_graph = true})[0];
  const GraphView view = GraphView::of({h});
  CHECK(view.vertices.back().order == 2);
  CHECK(GraphView::of({penalty}).vertices.back().order == 0);
}

TEST_CASE("modules are frames, numbers belong to the name before them, parameters stand in their module") {
  const Tensor x = Tensor(Array(Shape{2}, Real(1))).named("x");
  Tensor y;
  {
    const Scope outer(intern("net"));
    y = layer("net.blocks.0", x) + 1;
  }
  const GraphView view = GraphView::of({y});
  CHECK(cat(titles(view)) == "[net, blocks.0]");
  CHECK(view.frames[1].parent == 0);
  const std::vector<std::string> names{"weight", "x", "", "", "", ""};
  for (std::size_t v = 0; v < view.vertices.size(); ++v) CHECK(view.vertices[v].name == names[v]);
  CHECK(path_of(view, view.vertices[0].frame) == "net.blocks.0");
  CHECK(view.vertices[1].frame == -1);                    // x comes from outside
  CHECK(path_of(view, view.vertices[4].frame) == "net");  // the number 1
}

TEST_CASE("gradient operations have frames of their own") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  const Tensor y = sum(layer("fc", x));
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  const GraphView view = GraphView::of({y, g});
  REQUIRE(view.frames.size() == 2);
  CHECK(view.frames[0].order == 0);
  CHECK(view.frames[1].order == 1);
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.frame >= 0) CHECK(vertex.order == view.frames[static_cast<std::size_t>(vertex.frame)].order);
  }
}

TEST_CASE("neighbours that are built alike are drawn once, with their number") {
  Tensor y = Tensor(Array(Shape{2}, Real(1))).named("x");
  for (int i = 0; i < 6; ++i) y = layer(cat("blocks.", i), y);
  y = sum(y);

  const GraphView all = GraphView::of({y}, {.roll_up = false});
  CHECK(all.frames.size() == 6);
  CHECK(all.vertices.size() == 1 + 6 * 3 + 1);

  const GraphView view = GraphView::of({y});
  CHECK(cat(titles(view)) == "[blocks.0 \u2026 5]");
  CHECK(view.frames[0].times == 6);
  CHECK(cat(ops(view)) == "[leaf, leaf, mul, tanh, sum]");
  CHECK(arrows(view) == "0>2 1>2 2>3 3>4");  // x enters the block, the sum leaves it; no arrow from block to block
}

TEST_CASE("the result of the last of alike blocks does not set it apart") {
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 3; ++i) y = layer(cat("blocks.", i), y);
  const GraphView view = GraphView::of({y});
  CHECK(view.frames[0].times == 3);
  CHECK(view.vertices.back().is_result);
}

TEST_CASE("what stands for several at one level can hold what stands for several at the next") {
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) y = layer(cat("blocks.", i, ".heads.", j), y);
  }
  const GraphView view = GraphView::of({sum(y)});
  CHECK(cat(titles(view)) == "[blocks.0 \u2026 2, heads.0 \u2026 1]");
  CHECK(view.frames[0].times == 3);
  CHECK(view.frames[1].times == 2);
  CHECK(view.vertices.size() == 5);

  const GraphView folded = GraphView::of({sum(y)}, {.depth = 0});
  CHECK(cat(ops(folded)) == "[leaf, blocks.0 \u2026 2, sum]");
  CHECK(folded.vertices[1].times == 3);
  CHECK(folded.vertices[1].operations == 2 * 2);
  CHECK(folded.vertices[1].parameters == 2 * 2);
}

TEST_CASE("blocks that differ in a shape, an operation or an input are not rolled up") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  Tensor y = layer("blocks.1", layer("blocks.0", x));
  {
    const Scope scope(intern("blocks.2"));
    y = exp(y * x);
  }
  y = layer("blocks.4", layer("blocks.3", y));
  CHECK(cat(titles(GraphView::of({y}))) == "[blocks.0 \u2026 1, blocks.2, blocks.3 \u2026 4]");
  CHECK(cat(titles(GraphView::of({layer("blocks.1", sum(layer("blocks.0", x)))}))) == "[blocks.0, blocks.1]");
}

TEST_CASE("a block whose input is used by all blocks keeps its arrow once") {
  const Tensor memory = variable(Array(Shape{2}, Real(1)), "memory");
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 4; ++i) {
    const Scope scope(intern(cat("decoder.", i)));
    y = tanh(y + memory);
  }
  CHECK(arrows(GraphView::of({sum(y)})) == "0>2 1>2 2>3 3>4");
}

TEST_CASE("modules below the depth become one box with what they hold") {
  const Tensor x = Tensor(Array(Shape{2, 3}, Real(1))).named("x");
  Tensor y;
  {
    const Scope outer(intern("net"));
    y = sum(layer("net.b", layer("net.a", x)));
  }
  const GraphView view = GraphView::of({y}, {.depth = 1, .roll_up = false});
  CHECK(cat(titles(view)) == "[net]");
  CHECK(cat(ops(view)) == "[leaf, a, b, sum]");
  CHECK(arrows(view) == "0>1 1>2 2>3");
  CHECK(view.vertices[1].role == GraphRole::module);
  CHECK(view.vertices[1].path == "net.a");
  CHECK(view.vertices[1].operations == 2);
  CHECK(view.vertices[1].parameters == 6);
  CHECK(*view.vertices[1].shape == Shape{2, 3});
  CHECK(view.vertices[1].kept_bytes == 6 * static_cast<std::int64_t>(sizeof(Real)));

  const GraphView closed = GraphView::of({y}, {.depth = 0});
  CHECK(cat(ops(closed)) == "[leaf, net]");
  CHECK(closed.vertices[1].results == 1);
  CHECK(closed.frames.empty());
}

TEST_CASE("the automatic depth folds only what does not fit on a page") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  CHECK(GraphView::of({layer("a", x)}).frames.size() == 1);
  Tensor y = x;
  for (int i = 0; i < 40; ++i) {
    const std::string path = cat("stage", i, "th");
    const Scope scope(intern(path));
    y = exp(layer(path + ".inner", y));
  }
  const GraphView view = GraphView::of({y});
  CHECK(view.frames.empty());
  CHECK(view.vertices.size() == 41);
}

TEST_CASE("more vertices than allowed are refused, and the message says what helps") {
  Tensor y = variable(1);
  for (int i = 0; i < 2000; ++i) y = i % 2 == 0 ? tanh(y) : sin(y);
  const std::string message = error_of<LimitError>([&] { GraphView::of({y}); });
  CHECK(message ==
        "graph: 2001 vertices to draw, max_nodes is 2000; there is no module to fold: raise .max_nodes");
  CHECK(GraphView::of({y}, {.max_nodes = 2001}).vertices.size() == 2001);
}

TEST_CASE("the limit counts what is drawn, not what is folded") {
  Tensor y = variable(1);
  {
    const Scope scope(intern("module"));
    for (int i = 0; i < 5000; ++i) y = i % 2 == 0 ? tanh(y) : sin(y);
  }
  CHECK(GraphView::of({y}, {.depth = 0}).vertices.size() == 2);
  CHECK(GraphView::of({y}).vertices.size() == 2);
  error_of<LimitError>([&] { GraphView::of({y}, {.depth = 1}); });
}

TEST_CASE("a graph of 100,000 vertices is printed in time that grows with its size") {
  Tensor y = variable(1);
  for (int i = 0; i < 100'000; ++i) y = tanh(y);
  const std::string dot = to_dot(GraphView::of({y}, {.roll_up = false, .max_nodes = 1'000'000}));
  CHECK(count(dot, " -> ") == 100'000);
}

TEST_CASE("nothing to draw, an undefined tensor and a negative depth are refused") {
  check_refused<GraphError>({
      {[] { GraphView::of({}); }, {"graph: no tensor was given"}},
      {[] { GraphView::of({Tensor()}); }, {"graph: tensor 0 is undefined"}},
      {[] { save_graph("x.svg", {}); }, {"save_graph: no tensor was given"}},
  });
  check_refused<IoError>({{[] { save_graph("no/such/folder/x.dot", {variable(1) * 2}); }, {"save_graph: "}}});
  check_refused<LimitError>(
      {{[] { save_graph("x.txt", {variable(1) * 2}, {.max_nodes = 2}); }, {"save_graph: 3 vertices"}}});
  error_of<ValueError>([] { GraphView::of({variable(1)}, {.depth = -2}); });
}

TEST_CASE("an operation knows its formula and its derivative, a gradient rule the derivative, a leaf nothing") {
  const Tensor x = variable(2, "x");
  const Tensor slope = grad(tanh(x), {x}, {.create_graph = true})[0];
  const auto the = [](const GraphView& view, std::string_view op) {
    return *std::ranges::find(view.vertices, op, &GraphVertex::op);
  };
  const GraphView rules = GraphView::of({slope}), expanded = GraphView::of({slope}, {.formulas = true});
  CHECK(the(rules, "tanh").formula == "y = tanh x");
  CHECK(the(rules, "tanh").derivative == "dy/dx = 1 - y^2");
  CHECK(the(rules, "tanh'").formula.empty());
  CHECK(the(rules, "tanh'").derivative == "dy/dx = 1 - y^2");
  CHECK(the(expanded, "sub").formula == "y = 1 - b");
  for (const GraphVertex& vertex : rules.vertices) {
    if (!is_operation(vertex)) CHECK((vertex.formula.empty() && vertex.derivative.empty()));
  }
}

TEST_CASE("equations stand in the boxes where they are asked for, and always under the pointer") {
  const Tensor x = variable({{1, 2}}, "x"), w = variable({{3}, {4}}, "w");
  const Tensor y = sum(tanh(matmul(x, w)));
  const GraphView view = GraphView::of({grad(y, {x}, {.create_graph = true})[0]});
  const std::string boxes = to_dot(view, {.equations = true}), plain = to_dot(view);
  for (const std::string& dot : {boxes, plain}) {
    CHECK(count(dot, R"(\ny = tanh x\ndy/dx = 1 - y^2"])") == 1);
    CHECK(count(dot, R"(\ndy/dx = 1 - y^2"])") == 2);
  }
  CHECK(count(boxes, ">y = tanh x</font>") == 1);
  CHECK(count(boxes, ">dy/dx = 1 - y</font>") == 1);
  CHECK(count(boxes, "><sup>2</sup></font></font>") == 1);
  CHECK(count(boxes, ">dL/dx = g</font>") == 1);
  CHECK(count(boxes, "><sub>y</sub></font></font>") == 2);
  CHECK(count(boxes, "><sup>T</sup></font></font>") == 2);
  CHECK(count(plain, ">y = tanh x<") == 0);
}

TEST_CASE("an equation that would make its box a banner is cut between two words") {
  GraphView view;
  view.vertices.push_back({.op = "long", .name = {}, .path = {}});
  view.vertices[0].formula = cat("y = ", std::string(30, 'a'), " + ", std::string(30, 'b'), "; z = 1");
  const std::string dot = to_dot(view, {.equations = true});
  CHECK(count(dot, cat(">y = ", std::string(30, 'a'), " + \u2026</font><br/>")) == 1);
  CHECK(count(dot, ">z = 1</font>") == 1);
  CHECK(count(dot, cat("\\n", view.vertices[0].formula, "\"")) == 1);
}

TEST_CASE("the same program gives the same text, byte for byte") {
  const auto draw = [] {
    const Tensor x = variable(2, "x");
    const Tensor y = (x * x + 0.5).named("y");
    return to_dot(GraphView::of({y}), {.title = "x^2 + 0.5", .legend = false});
  };
  const std::string first = draw();
  const Tensor other = exp(variable(1));
  CHECK(draw() == first);
  CHECK(first.starts_with("digraph xgrad {\n  graph [rankdir=TB, "));
  CHECK(
      first.substr(first.find("  n0 [")) ==
      R"(  n0 [id=n0, class=parameter, label=<<b>x</b><br/><font point-size="9" color="#64748b">scalar</font>>, fillcolor="#fef3c7", color="#b7791f", fontcolor="#78350f", tooltip="parameter []: x"];
  n1 [id=n1, class=operation, label=<<b>mul</b><br/><font point-size="9" color="#64748b">scalar</font>>, fillcolor="#ffffff", color="#7b8aa0", fontcolor="#0f172a", tooltip="mul []\ny = a b\ndy/da = b; dy/db = a"];
  n2 [id=n2, class=constant, label=<0.5>, fillcolor="#f1f5f9", color="#8492a6", fontcolor="#475569", width=0.3, height=0.24, margin="0.08,0.02", fontsize=10, tooltip="constant []"];
  n3 [id=n3, class=operation, label=<<b>add</b><br/><font point-size="10"><i>y</i></font><br/><font point-size="9" color="#64748b">scalar</font>>, fillcolor="#dcfce7", color="#1f9d55", fontcolor="#14532d", penwidth=2, tooltip="add []: y\ny = a + 0.5\ndy/da = 1"];
  n0 -> n1;
  n0 -> n1;
  n1 -> n3;
  n2 -> n3;
}
)");
}

TEST_CASE("plain text has a line for each vertex") {
  const Tensor x = variable(Array(Shape{3}, Real(1)), "x");
  CHECK(to_text(GraphView::of({layer("net", x) / 2})) ==
        "    op         name        shape  inputs\n"
        "n0  parameter  net.weight  [3]\n"
        "n1  parameter  x           [3]\n"
        "n2  mul        net         [3]    n0 n1\n"
        "n3  tanh       net         [3]    n2\n"
        "n4  constant   2           []\n"
        "n5  div                    [3]    n3 n4\n");
}

TEST_CASE("options change the drawing") {
  const Tensor x = variable(Array(Shape{2, 3}, Real(1)), "x");
  const GraphView view = GraphView::of({sum(tanh(x)).named("loss")});
  const std::string plain = to_dot(view);
  CHECK(plain.find("rankdir=TB") != std::string::npos);
  CHECK(plain.find("[2, 3]") != std::string::npos);
  CHECK(plain.find("variable") != std::string::npos);  // in the legend
  CHECK(plain.find(">keeps ") == std::string::npos);
  CHECK(to_dot(view, {.direction = Direction::left_to_right}).find("rankdir=LR") != std::string::npos);
  CHECK(to_dot(view, {.legend = false}).find("variable") == std::string::npos);
  CHECK(to_dot(view, {.kept_memory = true}).find(">keeps ") != std::string::npos);
  CHECK(to_dot(view, {.title = "a < b & c"}).find("a &lt; b &amp; c") != std::string::npos);
}

TEST_CASE("a backward pass is drawn upwards beside its forward pass") {
  const Tensor x = variable(1, "x");
  const Tensor y = tanh(x);
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  const std::string dot = to_dot(GraphView::of({y, g}));
  CHECK(dot.find("dir=back") != std::string::npos);
  CHECK(dot.find("constraint=false") != std::string::npos);
  CHECK(to_dot(GraphView::of({y})).find("dir=back") == std::string::npos);
}

TEST_CASE("the picture of a result that was computed under NoGrad says so") {
  const Tensor x = variable({1, 2}, "x");
  const Tensor y = [&] {
    const NoGrad off;
    return exp(x) * x;
  }();
  const GraphView view = GraphView::of({y});
  CHECK(view.vertices.size() == 1);
  CHECK(to_dot(view).find("computed under NoGrad: no graph") != std::string::npos);
  CHECK(to_text(view).find("computed under NoGrad: no graph") != std::string::npos);
  const Tensor g = grad(sum(x * x), {x})[0];
  CHECK(to_text(GraphView::of({g})).find("a gradient without create_graph: no graph") != std::string::npos);
  CHECK(to_text(GraphView::of({tensor({1, 2})})).find("no graph") == std::string::npos);
  CHECK(to_text(GraphView::of({x * x})).find("no graph") == std::string::npos);
}
