// Parts that are built alike are drawn once: blocks of a backward pass, calls of a module.
#include <map>

#include "core/diagram/diagrams.h"

using namespace xgrad;
using namespace xgrad::testing;

namespace {

// tanh(weight x + h), in a module of that path, with the parameters of that module.
Tensor cell(const std::string& path, const Tensor& x, const Tensor& h) {
  static std::map<std::string, Tensor> weights;
  Tensor& weight = weights[path];
  if (!weight.defined()) weight = variable(Array(x.shape(), Real(1)), path + ".weight");
  const Scope scope(intern(path));
  return tanh(x * weight + h);
}

std::string title_of(const std::string& name, std::int64_t times, int order) {
  return str(name, times > 1 ? str(" x", times) : "", order > 0 ? "'" : "");
}
Strings titles(const GraphView& view) {
  Strings all;
  for (const GraphFrame& frame : view.frames) all.push_back(title_of(frame.title, frame.times, frame.order));
  return all;
}
Strings boxes(const GraphView& view) {
  Strings all;
  for (const GraphVertex& vertex : view.vertices) {
    if (vertex.role == GraphRole::module) all.push_back(title_of(vertex.op, vertex.times, vertex.order));
  }
  return all;
}

Tensor input(const std::string& name) { return tensor({1, 2}).named(name); }

// The one box of that operation in 6 steps, each of which computes its input by `part`.
GraphVertex part_of(std::string_view op, const Shape& state, const std::function<Tensor(int)>& part) {
  Tensor h = zeros(state);
  for (int t = 0; t < 6; ++t) h = cell("cell", part(t), h);
  const GraphView view = GraphView::of({h}, {.reshapes = true});
  CHECK(std::ranges::count(view.vertices, op, &GraphVertex::op) == 1);
  CHECK(the(view, op).times == 6);
  return the(view, op);
}

Tensors blocks(const std::string& name, int count) {
  Tensor y = variable({1, 2}, "x");
  Tensors parameters{y};
  for (int i = 0; i < count; ++i) {
    parameters.push_back(variable({1, 1}, str(name, i, ".weight")));
    const Scope scope(intern(str(name, i)));
    y = tanh(y * parameters.back());
  }
  return training_step(sum(y).named("loss"), parameters);
}

}  // namespace

TEST_CASE("blocks of a backward pass are rolled up as those of the forward pass") {
  std::vector<std::size_t> sizes;
  for (const int count : {2, 3, 6, 12}) {
    const GraphView view = GraphView::of(blocks("blocks.", count));
    CHECK(titles(view) == Strings{str("blocks.0 \u2026 ", count - 1, " x", count),
                                  str("blocks.0 \u2026 ", count - 1, " x", count, "'")});
    sizes.push_back(view.vertices.size());
    const GraphView closed = GraphView::of(blocks("blocks.", count), {.depth = 0});
    REQUIRE(boxes(closed).size() == 2);
    const auto backward = std::ranges::find(closed.vertices, 1, [](const GraphVertex& vertex) {
      return vertex.role == GraphRole::module ? vertex.order : 0;
    });
    CHECK(backward->totals.results == 1);  // of each: that of its weight
    CHECK(closed.vertices[static_cast<std::size_t>(backward->rule_of)].path == backward->path);
  }
  CHECK(sizes == std::vector<std::size_t>(4, sizes[0]));
}

TEST_CASE("modules whose names only end in numbers are rolled up where three or more follow each other") {
  CHECK(titles(GraphView::of({blocks("block", 3)[0]})) == Strings{"block0 \u2026 2 x3"});
  CHECK(titles(GraphView::of({blocks("block", 2)[0]})) == Strings{"block0", "block1"});
  // Beside each other they are different things: the two arms of a fork.
  const Tensor x = input("x");
  Tensor y = zeros({2});
  for (const char* arm : {"arm1", "arm2", "arm3"}) y = y + cell(arm, x, x);
  CHECK(titles(GraphView::of({y})) == Strings{"arm1", "arm2", "arm3"});
}

TEST_CASE("calls of a module that follow each other are one, and so is what each of them is given") {
  Tensor h = input("h0");
  for (int t = 0; t < 20; ++t) h = cell("rnn", input(str("x", t)), h);
  const GraphView view = GraphView::of({h.named("h")});
  CHECK(titles(view) == Strings{"rnn \u21BB x20"});
  CHECK(the(view, "x0 \u2026 19").times == 20);
  CHECK(the(view, "h0").times == 1);
  CHECK(view.vertices.size() == 6);  // x, weight, mul, h0, add, tanh
  const GraphView closed = GraphView::of({h}, {.depth = 0});
  CHECK(boxes(closed) == Strings{"rnn \u21BB x20"});
  CHECK(std::ranges::find(closed.vertices, GraphRole::module, &GraphVertex::role)->totals.parameters == 2);
  CHECK(GraphView::of({h}, {.depth = 1, .roll_up = false}).frames.size() == 20);
  CHECK(GraphView::of({h}, {.depth = 1, .roll_up = false}).vertices.size() == 20 * 4 + 2);
}

TEST_CASE("the results of such calls are one, too") {
  Tensor h = input("h0");
  Tensors all;
  for (int t = 0; t < 5; ++t) all.push_back(h = cell("rnn", input(str("x", t)), h));
  const GraphView view = GraphView::of({stack(all)});
  CHECK(std::ranges::count_if(view.edges,
                              [&](const GraphEdge& edge) { return view.vertices[edge.to].op == "stack"; }) == 1);
}

TEST_CASE("a part that each step takes is one, without where it begins and without the key of its random numbers") {
  using Attributes = std::vector<std::pair<std::string, std::string>>;
  const Tensor x = variable(normal({2, 6}), "x");
  CHECK(part_of("narrow", {2, 1}, [&](int t) { return narrow(x, 1, t, 1); }).text.attributes ==
        Attributes{{"axis", "1"}});
  CHECK(part_of("dropout", {2, 6}, [&](int) { return dropout(x, 0.5); }).text.attributes == Attributes{{"p", "0.5"}});
}

TEST_CASE("what is given to each call is drawn one by one if its attributes differ") {
  const Tensor x = variable({1, 2}, "x");
  Tensor h = zeros({2});
  for (int t = 0; t < 6; ++t) h = cell("clamped", clamp(x, {.max = Real(t)}), h);
  const GraphView view = GraphView::of({h}, {.depth = 9});
  CHECK(std::ranges::count(view.vertices, "clamp", &GraphVertex::op) == 6);
  CHECK(titles(view) == Strings{"clamped \u21BB x6"});
}

TEST_CASE("what is given to a call is drawn for itself if something else takes it, too") {
  for (const int alone : {0, 2}) {
    CAPTURE(alone);
    Tensor h = input("h0"), twice;
    for (int t = 0; t < 6; ++t) {
      const Tensor x = input(str("x", t));
      if (t == alone) twice = x;
      h = cell("rnn", x, h);
    }
    const GraphView view = GraphView::of({h * twice});
    CHECK(the(view, str("x", alone)).times == 1);
    CHECK(the(view, alone == 0 ? "x1 \u2026 5" : "x0 \u2026 5").times == 5);
  }
}

TEST_CASE("two calls that do not follow each other can be told apart") {
  const Tensor y = cell("net", input("x1"), zeros({2})) - cell("net", input("x2"), zeros({2}));
  const GraphView view = GraphView::of({y}, {.depth = 0});
  CHECK(boxes(view) == Strings{"net (1)", "net (2)"});
  for (const char* x : {"x1", "x2"}) {  // each goes into its own call
    const int from = static_cast<int>(&the(view, x) - view.vertices.data());
    const auto edge = std::ranges::find(view.edges, from, &GraphEdge::from);
    CHECK(view.vertices[edge->to].op == str("net (", x[1], ')'));
  }
  const auto is_call = [&](int v) { return view.vertices[v].role == GraphRole::module; };
  for (const GraphEdge& edge : view.edges) CHECK_FALSE((is_call(edge.from) && is_call(edge.to)));  // they share weights
}

TEST_CASE("the box of a further call says that its parameters are the same, boxes of the backward pass do not") {
  const Tensor x = variable({1, 2}, "x"), weight = variable({1, 1}, "net.weight");
  const auto call = [&](const Tensor& in) {
    const Scope scope(intern("net"));
    return tanh(in * weight);
  };
  const Tensors step = training_step(sum(exp(call(sin(call(x))))), {weight});
  Strings remarks;
  for (const GraphVertex& vertex : GraphView::of(step, {.depth = 0}).vertices) {
    if (vertex.role != GraphRole::module) continue;
    remarks.push_back(str(title_of(vertex.op, vertex.times, vertex.order), ": ", vertex.text.remarks));
  }
  CHECK(remarks == Strings{"net (1): []", "net (2): [the same parameters]", "net (2)': []", "net (1)': []"});
}

TEST_CASE("calls of one module that differ are drawn apart, and so are the modules in them") {
  const auto call = [](const Tensor& x, int more) {
    const Scope outer(intern("net"));
    const Scope inner(intern("net.part"));
    Tensor y = tanh(x);
    for (int i = 0; i < more; ++i) y = exp(y);
    return y;
  };
  const Tensor x = variable({1, 2}, "x"), y = call(call(call(x, 2), 0), 1);
  const GraphView view = GraphView::of({y}, {.depth = 9});
  CHECK(titles(view) == Strings{"net (1)", "part", "net (2)", "part", "net (3)", "part"});
  CHECK(view.frames[3].path == "net (2).part");
  CHECK(boxes(GraphView::of({y}, {.depth = 0})) == Strings{"net (1)", "net (2)", "net (3)"});
  // One call that calls a part twice.
  const auto twice = [&] {
    const Scope outer(intern("all"));
    return call(exp(call(x, 1)), 0);
  };
  CHECK(titles(GraphView::of({twice()}, {.depth = 9})) == Strings{"net (1)", "part", "all", "net (2)", "part"});
}

TEST_CASE("what only changes the form of numbers is an arrow in diagrams with modules, but where it is wanted") {
  const Tensor x = variable({{1, 2}, {3, 4}}, "x");
  const auto in_module = [&] {
    const Scope scope(intern("m"));
    return tanh(reshape(x, {4}));
  };
  const auto count = [](const GraphView& view) {
    return std::ranges::count(view.vertices, "reshape", &GraphVertex::op);
  };
  const Tensor y = in_module();
  CHECK(count(GraphView::of({y})) == 0);
  CHECK(GraphView::of({y}).edges.size() == 1);
  CHECK(count(GraphView::of({y}, {.reshapes = true})) == 1);
  CHECK(count(GraphView::of({y}, {.expand_rules = true})) == 1);
  CHECK(count(GraphView::of({tanh(reshape(x, {4}))})) == 1);  // without modules
  CHECK(GraphView::of({y}, {.depth = 0}).vertices[1].totals.operations == 2);
}
