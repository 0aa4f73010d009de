// Tests of core/diagram/view/view.h: what a view holds, and how it is rolled up and folded. What is drawn and printed
// of it is in pictures_test.cpp.
#include <functional>

#include <xgrad/core/diagram/layout/layout.h>
#include <xgrad/core/diagram/render/drawing.h>
#include <xgrad/core/diagram/view/folding.h>
#include <xgrad/core/diagram/view/labels.h>

#include "core/diagram/diagrams.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

std::vector<GraphRole> roles(const GraphView& view) {
  std::vector<GraphRole> result;
  for (const GraphVertex& vertex : view.vertices) result.push_back(vertex.role);
  return result;
}

Strings titles(const GraphView& view) {
  Strings result;
  for (const GraphFrame& frame : view.frames) result.push_back(frame.title);
  return result;
}

Tensor input() { return Tensor(Array(Shape{2}, Real(1))).named("x"); }

// So many modules called blocks.0, blocks.1, ..., one after the other.
Tensor blocks(int count, Tensor y = input()) {
  for (int i = 0; i < count; ++i) y = layer(str("blocks.", i), y);
  return y;
}

}  // namespace

TEST_CASE("a view lists inputs before results, with their roles and the positions of the inputs") {
  const Tensor x = Tensor(Array(Shape{2, 3}, Real(1))).named("x");
  const Tensor w = variable(Array(Shape{3}, Real(1)), "w");
  const GraphView view = GraphView::of({x * w - 2});
  CHECK(str(ops(view)) == "[leaf, leaf, mul, leaf, sub]");
  CHECK(roles(view) == std::vector{GraphRole::input, GraphRole::parameter, GraphRole::operation, GraphRole::constant,
                                   GraphRole::operation});
  CHECK(arrows(view) == "0>2 1>2 2>4 3>4");
  CHECK(view.edges[1].input == 1);
  CHECK(view.edges[1].shape == Shape{3});
  CHECK(view.vertices[0].name == "x");
  CHECK(*view.vertices[2].shape == Shape{2, 3});
  CHECK(view.vertices[3].constant == Real(2));
  CHECK(view.vertices[4].is_result);
  CHECK_FALSE(view.vertices[2].is_result);

  // A leaf or a plain value alone is a graph of one vertex; what is used twice by one operation has two arrows to it.
  const Tensor v = variable(3), y = tanh(v);
  CHECK(roles(GraphView::of({v})) == std::vector{GraphRole::parameter});
  CHECK(roles(GraphView::of({Tensor(1)})) == std::vector{GraphRole::constant});
  CHECK(arrows(GraphView::of({v * v})) == "0>1 0>1");
  const GraphView shared = GraphView::of({y * y, y, exp(y)});
  CHECK(str(ops(shared)) == "[leaf, tanh, mul, exp]");
  CHECK(shared.vertices[1].is_result);
}

TEST_CASE("a graph can be drawn after a backward pass has released it, with what it keeps gone") {
  const Tensor x = variable(Array(Shape{4}, Real(0.5)), "x");
  const Tensor y = sum(tanh(x));
  const GraphView before = GraphView::of({y});
  y.backward();
  const GraphView after = GraphView::of({y});
  CHECK(arrows(before) == arrows(after));
  CHECK(ops(before) == ops(after));
  CHECK(before.vertices[1].totals.saved_bytes == 4 * static_cast<std::int64_t>(sizeof(Real)));
  CHECK(after.vertices[1].totals.saved_bytes == 0);
}

TEST_CASE("a constant that was given another value since is drawn without a number") {
  const Tensor c(Array(Shape{}, Real(2)));
  const Tensor y = variable(1) * c;
  CHECK(GraphView::of({y}).vertices[1].constant == Real(2));
  c.assign(Array(Shape{}, Real(3)));
  const GraphView view = GraphView::of({y});
  CHECK(view.vertices[1].role == GraphRole::constant);
  CHECK_FALSE(view.vertices[1].constant.has_value());
}

TEST_CASE("operations of backward passes are told apart from those of the forward pass") {
  const Tensor x = variable(1, "x");
  // A penalty on gradients is a forward operation, the pass over it is of second order.
  const Tensor first = grad(x * x * x, {x}, {.create_graph = true})[0], penalty = first * first;
  CHECK(GraphView::of({penalty}).vertices.back().order == 0);
  CHECK(GraphView::of({grad(penalty, {x}, {.create_graph = true})[0]}).vertices.back().order == 2);
}

TEST_CASE("neighbours that are built alike are drawn once, with their number") {
  const Tensor y = sum(blocks(6));
  const GraphView all = GraphView::of({y}, {.roll_up = false});
  CHECK(all.frames.size() == 6);
  CHECK(all.vertices.size() == 1 + 6 * 3 + 1);
  const GraphView view = GraphView::of({y});
  CHECK(str(titles(view)) == "[blocks.0 \u2026 5]");
  CHECK(view.frames[0].times == 6);
  CHECK(str(ops(view)) == "[leaf, leaf, mul, tanh, sum]");
  CHECK(arrows(view) == "0>2 1>2 2>3 3>4");  // x enters the block, the sum leaves it; no arrow from block to block
  const GraphView ends = GraphView::of({blocks(3)});  // that the last one is the result does not set it apart
  CHECK(ends.frames[0].times == 3);
  CHECK(ends.vertices.back().is_result);
}

TEST_CASE("what stands for several at one level can hold what stands for several at the next") {
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 6; ++i) y = layer(str("blocks.", i / 2, ".heads.", i % 2), y);
  const GraphView view = GraphView::of({sum(y)});
  CHECK(str(titles(view)) == "[blocks.0 \u2026 2, heads.0 \u2026 1]");
  CHECK(view.frames[0].times == 3);
  CHECK(view.frames[1].times == 2);
  CHECK(view.vertices.size() == 5);

  const GraphView folded = GraphView::of({sum(y)}, {.depth = 0});
  CHECK(str(ops(folded)) == "[leaf, blocks.0 \u2026 2, sum]");
  CHECK(folded.vertices[1].times == 3);
  CHECK(folded.vertices[1].totals.operations == 2 * 2);
  CHECK(folded.vertices[1].totals.parameters == 2 * 2);
  CHECK(folded.vertices[1].totals.results == 0);
  CHECK(GraphView::of({layer("net", input())}, {.depth = 0}).vertices[1].totals.results == 1);
}

TEST_CASE("blocks that differ in a shape, an operation, an input or a weight are not rolled up") {
  const Tensor x = variable(Array(Shape{2}, Real(1)), "x");
  Tensor y = blocks(2, x);
  {
    const Scope scope(intern("blocks.2"));
    y = exp(y * x);
  }
  y = layer("blocks.4", layer("blocks.3", y));
  CHECK(str(titles(GraphView::of({y}))) == "[blocks.0 \u2026 1, blocks.2, blocks.3 \u2026 4]");
  CHECK(str(titles(GraphView::of({layer("blocks.1", sum(layer("blocks.0", x)))}))) == "[blocks.0, blocks.1]");
  const auto block = [](const std::string& path, const Tensor& x, bool adds_first) {
    const Tensor a = variable({1, 2}, path + ".a"), b = variable({1, 2}, path + ".b");
    const Scope scope(intern(path));
    return x * a * b + (adds_first ? a : b);
  };
  const auto two = [&](bool alike) { return block("blocks.1", block("blocks.0", x, true), alike); };
  CHECK(str(titles(GraphView::of({two(true)}))) == "[blocks.0 \u2026 1]");
  CHECK(str(titles(GraphView::of({two(false)}))) == "[blocks.0, blocks.1]");
}

TEST_CASE("the automatic depth folds only what does not fit on a page") {
  CHECK(GraphView::of({layer("a", input())}).frames.size() == 1);
  Tensor y = variable(Array(Shape{2}, Real(1)), "x");
  for (int i = 0; i < 40; ++i) {
    const std::string path = str("stage", i, "th");
    const Scope scope(intern(path));
    y = exp(layer(path + ".inner", y));
  }
  const GraphView view = GraphView::of({y});
  CHECK(view.frames.empty());
  CHECK(view.vertices.size() == 41);
}

TEST_CASE("what is estimated to fill a page fills it when it is laid out") {
  const auto leaf = [](int i) { return variable(1, str('x', i)); };
  const auto chain = [](int length, Tensor y) {
    for (int i = 0; i < length; ++i) y = tanh(y);
    return y;
  };
  const auto chains = [&](int count, int length) {
    Tensors all;
    for (int i = 0; i < count; ++i) all.push_back(chain(length, leaf(i)));
    return stack(all);
  };
  // The part of a page that the largest of these graphs fills which is estimated to fit.
  const auto filled = [](const std::function<Tensors(int)>& graph) {
    GraphView largest;
    for (int n = 1; n < 200; ++n) {
      GraphView view = GraphView::of(graph(n), {.depth = 9, .roll_up = false});
      if (!detail::fits_on_a_page(view, {})) break;
      largest = std::move(view);
    }
    const GraphLayout layout = GraphLayout::of(largest);
    return std::max(std::max(layout.width, layout.height) / detail::longer_side,
                    std::min(layout.width, layout.height) / detail::shorter_side);
  };
  const auto check = [&](const std::string& what, const std::function<Tensors(int)>& graph) {
    const double part = filled(graph);
    CHECK_MESSAGE((part > 0.8 && part < 1.05), what, " fills ", part);
  };
  check("a chain", [&](int n) { return Tensors{chain(n, leaf(0))}; });
  check("a row", [&](int n) { return Tensors{chains(n, 0)}; });
  check("a square", [&](int n) { return Tensors{chains(n, n)}; });
  check("a chain and back", [&](int n) {
    const Tensor x = leaf(0);
    return training_step(chain(n, x), {x});
  });
  check("modules", [&](int n) { return Tensors{blocks(n)}; });
}

TEST_CASE("nothing to draw, an undefined tensor and a negative depth are refused") {
  const Tensors y{variable(1) * 2};
  CHECK_REFUSED(GraphError, GraphView::of(Tensors{}), "graph", "no tensor was given");
  CHECK_REFUSED(GraphError, GraphView::of({Tensor()}), "graph", "tensor 0 is undefined");
  CHECK_REFUSED(GraphError, save_graph("x.svg", {}), "save_graph", "no tensor was given");
  CHECK_REFUSED(IoError, save_graph("no/such/folder/x.dot", y), "save_graph");
  CHECK_REFUSED(LimitError, save_graph("x.txt", y, {.max_nodes = 2}), "save_graph", "3 vertices");
  CHECK_REFUSED(ValueError, GraphView::of(y, {.depth = -2}), "graph", "-2");
}

TEST_CASE("an equation that would make its box a banner is cut between two words") {
  GraphView view;
  view.vertices.push_back({.op = "long"});
  view.vertices[0].text.formula = str("y = ", std::string(30, 'a'), " + ", std::string(30, 'b'), "; z = 1");
  const std::string dot = to_dot(view, {.equations = true});
  CHECK(count(dot, str("label=\"long\\ny = ", std::string(30, 'a'), " + \u2026\\nz = 1\"")) == 1);
  CHECK(count(dot, str("\\n", view.vertices[0].text.formula, "\"")) == 1);
}

TEST_CASE("gradients that meet at a tensor are added in one box, however many they are") {
  const Tensor x = variable(2, "x");
  const GraphView view = GraphView::of(training_step(exp(x) + tanh(x) + sin(x) + cos(x), {x}));
  CHECK(std::ranges::count_if(view.vertices, [](const GraphVertex& vertex) {
          return vertex.op == "add" && vertex.role == GraphRole::gradient_operation;
        }) == 1);
}

TEST_CASE("the picture of a result without a graph says why it has none") {
  const Tensor x = variable({1, 2}, "x");
  const Tensor y = [&] {
    const NoGrad off;
    return exp(x) * x;
  }();
  const GraphView view = GraphView::of({y});
  CHECK(view.vertices.size() == 1);
  for (const std::string& text : {to_dot(view), to_text(view), svg_of({y})}) {
    CHECK(count(text, "computed under NoGrad: no graph") > 0);
  }
  const auto text_of = [](const Tensor& result) { return to_text(GraphView::of({result})); };
  const Tensor slope = grad(sum(x * x), {x})[0];
  for (const Tensor& result : {slope, sum(x) + sum(slope)}) {
    CHECK(count(text_of(result), "a gradient without create_graph: no graph") > 0);
  }
  for (const Tensor& result : {tensor({1, 2}), x * x}) CHECK(count(text_of(result), "no graph") == 0);
}
