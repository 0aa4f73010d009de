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

void agree(const char* name, int predicted, int recorded, const char* why) {
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

  int operations = 0, uses_of_h = 0, w_vertex = 0;
  for (int i = 0; i < std::ssize(graph.vertices); ++i) {
    const GraphVertex& vertex = graph.vertices[i];
    operations += is_operation(vertex);
    if (vertex.name == "w") w_vertex = i;
    for (const GraphEdge& edge : graph.edges) uses_of_h += vertex.name == "h" && edge.from == i;
  }
  loss.backward();
  agree(
      "operations", predicted.operations, operations,
      "each of * + - tanh square is one, every time that it stands in the program; w, b, x and y are leaves. A result "
      "that is used twice, as h, is still one operation");
  agree("uses_of_h", predicted.uses_of_h, uses_of_h,
        "h stands three times on a right side, and h * h has an arrow for each factor");
  agree("gradients", predicted.gradients, w.has_grad() + b.has_grad() + x.has_grad() + y.has_grad(),
        "only a variable() gets a gradient; x and y were made from numbers, so no gradient flows to them");
  agree("paths", predicted.paths, paths_from(graph, w_vertex),
        "one path leads from w to h, and from h as many as there are arrows that leave it");
  right_because() = "a result that is used three times is still one operation";
  if (drawing_folder().empty()) return;
  save_graph((drawing_folder() / "graph.svg").string(), {loss}, {.equations = true});
  right_because() += str("; the recorded graph is in ", (drawing_folder() / "graph.svg").string());
}

}  // namespace xgrad::exercises
