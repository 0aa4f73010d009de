// Tests of core/diagram/render/motion.h: when things in a picture move, and that it is complete without.
#include <xgrad/core/diagram/render/motion.h>

#include <xgrad/core/diagram/render/drawing.h>

#include "core/diagram/diagrams.h"

namespace xgrad::testing {
namespace {

using detail::Timetable;
using detail::timetable_of;

std::size_t place_of(const GraphView& view, std::string_view op) {
  return static_cast<std::size_t>(&the(view, op) - view.vertices.data());
}
double last_of(const Timetable& times) {
  return std::max(std::ranges::max(times.values), std::ranges::max(times.gradients));
}

TEST_CASE("values move in the order of the run, then gradients back") {
  const Tensor a = variable(2, "a"), b = variable(3, "b");
  ValueRecorder values;
  const Tensor second = exp(b);  // which the graph lists behind tanh
  const Tensor first = tanh(a);
  const Tensor y = first * second;
  y.backward();
  const GraphView view = GraphView::of({y}, {.values = &values});
  const Timetable times = timetable_of(view);
  const std::size_t e = place_of(view, "exp"), t = place_of(view, "tanh");
  REQUIRE(t < e);
  CHECK(times.values[e] < times.values[t]);
  for (const GraphEdge& edge : view.edges) {
    CHECK(times.values[static_cast<std::size_t>(edge.from)] < times.values[static_cast<std::size_t>(edge.to)]);
    CHECK(times.gradients[static_cast<std::size_t>(edge.from)] >= times.gradients[static_cast<std::size_t>(edge.to)]);
  }
}

TEST_CASE("without a run the order is that of the graph, and no gradient moves") {
  const GraphView view = GraphView::of({tanh(exp(variable(2, "a")))});
  const Timetable times = timetable_of(view);
  CHECK(times.values == std::vector<double>{0, times.interval, 2 * times.interval});
  CHECK(std::ranges::max(times.gradients) < 0);
  CHECK(timetable_of(GraphView()).values.empty());
}

TEST_CASE("more than 40 vertices move rank by rank, and everything ends within 5 seconds") {
  const Tensor x = variable(1, "x");
  ValueRecorder values;
  Tensors parts;
  for (int i = 0; i < 30; ++i) parts.push_back(tanh(exp(x * Real(i))));
  Tensor y = parts[0];
  for (int i = 1; i < 30; ++i) y = y + parts[static_cast<std::size_t>(i)];
  y.backward();
  const GraphView view = GraphView::of({y}, {.values = &values});
  const Timetable times = timetable_of(view);
  double exps = -1;
  for (std::size_t v = 0; v < view.vertices.size(); ++v) {
    if (view.vertices[v].op != "exp") continue;
    if (exps < 0) exps = times.values[v];
    CHECK(times.values[v] == exps);
  }
  CHECK(last_of(times) < 4.4);
  const Tensor small = tanh(x);
  CHECK(last_of(timetable_of(GraphView::of({small}))) <= 1);
}

TEST_CASE("an image of a picture that moves is complete, and the pictures of pages do not move by themselves") {
  const Tensor x = variable({1, 2}, "x"), w = variable({3, 4}, "w");
  ValueRecorder values;
  const Tensor y = sum(tanh(x * w));
  y.backward();
  const GraphOptions still{.values = &values}, moving{.values = &values, .animate = true};
  const GraphView view = GraphView::of({y}, still);
  const TemporaryFolder folder;
  save_view((folder / "still.png").string(), view, still);
  save_view((folder / "moving.png").string(), view, moving);
  CHECK(read_text(folder / "still.png") == read_text(folder / "moving.png"));
  CHECK(count(detail::svg_element(view, moving), "class=\"token") == 0);  // pages have their own player
}

}  // namespace
}  // namespace xgrad::testing
