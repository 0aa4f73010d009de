// Tests of core/diagram/view/values.h: the numbers of a run, and what diagrams show of them.
#include <xgrad/core/diagram/view/values.h>

#include "core/diagram/diagrams.h"

namespace xgrad::testing {
namespace {

using Numbers = std::vector<Real>;

TEST_CASE("a view has the values of a run, its gradients, and when each was there") {
  const Tensor a = variable(2, "a"), b = variable(-3, "b"), c = variable(10, "c");
  ValueRecorder values;
  const Tensor L = (a * b + c).named("L");
  L.backward();
  const GraphView view = GraphView::of({L}, {.values = &values});
  struct Row {
    const char* name;
    Real value, gradient;
    int step, gradient_step;
  };
  for (const Row& row : {Row{"a", 2, -3, -1, 3}, Row{"b", -3, 2, -1, 3}, Row{"c", 10, 1, -1, 2},
                         Row{"mul", -6, 1, 0, 3}, Row{"L", 4, 1, 1, 2}}) {
    INFO(row.name);
    const GraphVertex& vertex = the(view, row.name);
    CHECK(vertex.record.value->numbers == Numbers{row.value});
    CHECK(vertex.record.gradient->numbers == Numbers{row.gradient});
    CHECK(vertex.record.step == row.step);
    CHECK(vertex.record.gradient_step == row.gradient_step);
    CHECK(vertex.record.gradient_state.empty());
  }
}

TEST_CASE("the box of a module has the value that leaves it, and the gradient that enters it") {
  const Tensor x = variable({1, 2}, "x");
  ValueRecorder values;
  const Tensor y = sum(layer("net", x) * 3);
  y.backward();
  const GraphView view = GraphView::of({y}, {.depth = 0, .values = &values});
  CHECK(the(view, "net").record.value->numbers == Numbers{std::tanh(Real(2)), std::tanh(Real(4))});
  REQUIRE(the(view, "net").record.gradient);
  CHECK(the(view, "net").record.gradient->numbers == Numbers{3, 3});
}

TEST_CASE("where gradients meet, each consumer's part stands at its arrow") {
  const Tensor x = variable({1, 2}, "x");
  ValueRecorder values;
  const Tensor y = sum(x * 3 + exp(x) * 0 + x * x);
  y.backward();
  const GraphView view = GraphView::of({y}, {.values = &values});
  std::vector<Numbers> parts;
  for (const GraphEdge& edge : view.edges) {
    if (view.vertices[edge.from].name == "x") parts.push_back(edge.gradient->numbers);
  }
  CHECK(parts == std::vector<Numbers>{{3, 3}, {0, 0}, {1, 2}, {1, 2}});
  CHECK(the(view, "x").record.gradient->numbers == Numbers{5, 7});
}

TEST_CASE("a gradient that did not come, is zero or no number has its reason") {
  const Tensor x = variable({-1, -2}, "x"), w = variable({0, 1}, "w"), u = variable({1, 1}, "u");
  ValueRecorder values;
  const Tensor hidden = tanh(u);
  const Tensor y = sum(relu(x) * 2) + sum(sqrt(w * w));
  y.backward();
  const GraphView view = GraphView::of({y, hidden}, {.values = &values});
  CHECK(the(view, "x").record.gradient_state == "zero, stopped by relu");
  CHECK(the(view, "u").record.gradient_state == "none, no backward pass came here");
  CHECK(the(view, "w").record.gradient_state == "NaN, the first");  // infinity from the root, times 0
  CHECK(the(view, "sqrt").record.gradient_state.empty());
}

TEST_CASE("before a backward pass there are values only, also of ids that an operation was given") {
  const Tensor table = variable({{1, 2}, {3, 4}}, "table");
  ValueRecorder values;
  const Tensor y = embedding(table, index({1}));
  const GraphView view = GraphView::of({y}, {.values = &values});
  CHECK(the(view, "embedding").record.value->numbers == Numbers{3, 4});
  CHECK(the(view, "ids").record.value->numbers == Numbers{1});
  CHECK(!the(GraphView::of({y}), "ids").record.value);
  CHECK(!the(view, "embedding").record.gradient);
  CHECK(the(view, "table").record.gradient_state.empty());
}

TEST_CASE("a recorder is told again after it was cleared, and knows nothing of what ran before it") {
  const Tensor x = variable(2, "x");
  const Tensor before = exp(x).named("before");
  ValueRecorder values;
  const Tensor after = tanh(before).named("after");
  CHECK(!values.find(*detail::Engine::node(before)));
  CHECK(values.find(*detail::Engine::node(after))->step == 0);
  values.clear();
  CHECK(!values.find(*detail::Engine::node(after)));
  const Tensor again = tanh(x);
  CHECK(values.find(*detail::Engine::node(again))->step == 0);
}

TEST_CASE("a recorded backward pass has values, too") {
  const Tensor x = variable(3, "x");
  ValueRecorder values;
  const Tensor y = x * x * x;
  const Tensor g = grad(y, {x}, {.create_graph = true})[0];
  const GraphView view = GraphView::of({g}, {.expand_rules = true, .values = &values});
  CHECK(the(view, "dL/dx").record.value->numbers == Numbers{27});
  for (const GraphVertex& vertex : view.vertices) {
    if (is_operation(vertex)) CHECK(vertex.record.step >= 0);
  }
}

}  // namespace
}  // namespace xgrad::testing
