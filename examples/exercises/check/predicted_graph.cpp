#include <algorithm>

#include <xgrad/core/diagram/render/drawing.h>

#include "check.h"

namespace xgrad::exercises {
namespace {

// The number of paths from a vertex to the result, which is the last one.
int paths_from(const GraphView& graph, int vertex) {
  if (graph.vertices[vertex].name == "loss") return 1;
  int count = 0;
  for (const GraphEdge& edge : graph.edges) {
    if (edge.from == vertex) count += paths_from(graph, edge.to);
  }
  return count;
}

void agree(const char* name, int predicted, std::ptrdiff_t recorded, const char* why) {
  if (predicted != recorded) not_yet(name, " is not ", predicted, ": ", why);
}

}  // namespace

void check::predicted_graph(Prediction (*answer)()) {
  const Tensor w = variable(2, "w"), b = variable(1, "b");
  const Tensor x = Tensor(3).named("x"), y = Tensor(5).named("y");
  const Tensor h = tanh(w * x + b).named("h");
  const Tensor loss = (square(h - y) + h * h).named("loss");
  const GraphView graph = GraphView::of({loss});
  const Prediction predicted = answer();
  written(predicted.operations + predicted.uses_of_h + predicted.gradients + predicted.paths != 0,
          "each of * + - tanh square in the program records one operation, whose arrows come from its inputs");

  const auto operations = std::ranges::count_if(graph.vertices, is_operation);
  const auto vertex = [&](std::string_view name) {
    return static_cast<int>(std::ranges::find(graph.vertices, name, &GraphVertex::name) - graph.vertices.begin());
  };
  const auto uses_of_h = std::ranges::count(graph.edges, vertex("h"), &GraphEdge::from);
  loss.backward();
  agree(
      "operations", predicted.operations, operations,
      "each of * + - tanh square is one, every time that it stands in the program; w, b, x and y are leaves. A result "
      "that is used twice, as h, is still one operation");
  agree("uses_of_h", predicted.uses_of_h, uses_of_h,
        "h stands three times on a right side, and h * h has an arrow for each factor");
  agree("gradients", predicted.gradients, w.has_grad() + b.has_grad() + x.has_grad() + y.has_grad(),
        "only a variable() gets a gradient; x and y were made from numbers, so no gradient flows to them");
  agree("paths", predicted.paths, paths_from(graph, vertex("w")),
        "one path leads from w to h, and from h as many as there are arrows that leave it");
  right_because() = "a result that is used three times is still one operation";
  if (drawing_folder().empty()) return;
  save_graph((drawing_folder() / "graph.svg").string(), {loss}, {.equations = true});
  right_because() += str("; the recorded graph is in ", (drawing_folder() / "graph.svg").string());
}

}  // namespace xgrad::exercises
