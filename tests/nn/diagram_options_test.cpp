// Options of the diagrams of models.
#include <xgrad/core/diagram/render/dot.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/nn.h>
#include <xgrad/ops/ops.h>

#include <functional>

#include "support.h"

namespace xgrad::testing {
namespace {

using namespace nn;

// The loss of a small model of each kind.
Tensor translation_loss() {
  manual_seed(1);
  const EncoderDecoder model{root, 50, 60, {.dim = 32, .ffn = 64, .heads = 4, .layers = 2}};
  const Index source({8, 10}, 3), target({8, 10}, 4), lengths({8}, 7);
  return cross_entropy(model(source, lengths, target), target).named("loss");
}
Tensor vision_loss() {
  manual_seed(1);
  const VisionTransformer model{root, {.image = 8, .patch = 4, .dim = 16, .heads = 2, .layers = 3, .classes = 5}};
  return cross_entropy(model(Array({2, 3, 8, 8}, Real(1))), Index({2}, {1, 4})).named("loss");
}
Tensor gpt_loss() {
  manual_seed(1);
  const Gpt model{root, {.vocabulary = 11, .context = 8, .dim = 16, .heads = 2, .layers = 3}};
  const Index ids({2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  return cross_entropy(model(ids), ids).named("loss");
}

struct Named {
  const char* name;
  Tensor loss;
};
std::vector<Named> losses() {
  return {{"translation", translation_loss()}, {"vision", vision_loss()}, {"gpt", gpt_loss()}};
}

void check_acyclic(const GraphView& view) {
  for (const GraphEdge& edge : view.edges) REQUIRE(edge.from < edge.to);
}

double sum_of(const GraphView& view) {
  double sum = 0;
  for (const GraphVertex& vertex : view.vertices) {
    int times = vertex.times;
    for (int c = vertex.frame; c >= 0; c = view.frames[static_cast<std::size_t>(c)].parent) {
      times *= view.frames[static_cast<std::size_t>(c)].times;
    }
    sum += vertex.overlay.value_or(0) * times;
  }
  return sum;
}

TEST_CASE("of each model everything can be closed but its attention, and the rest opened") {
  for (const Named& model : losses()) {
    CAPTURE(model.name);
    const Tensor& loss = model.loss;
    const auto is_attention = [](const GraphFrame& frame) { return frame.what.find("Attention") != std::string::npos; };
    const auto fold = [&](const GraphFrame& frame) { return is_attention(frame) ? Fold::open : Fold::by_depth; };
    const GraphView view = GraphView::of({loss}, {.depth = 0, .fold = fold});
    check_acyclic(view);
    int open = 0;
    for (const GraphFrame& frame : view.frames) open += is_attention(frame);
    CHECK(open > 0);
    CHECK(std::ranges::count(view.vertices, GraphRole::module, &GraphVertex::role) > 2);
    const auto shut = [&](const GraphFrame& frame) { return is_attention(frame) ? Fold::closed : Fold::open; };
    const GraphView inverse = GraphView::of({loss}, {.depth = 0, .fold = shut});
    check_acyclic(inverse);
    for (const GraphVertex& vertex : inverse.vertices) {
      if (vertex.role == GraphRole::module) CHECK(vertex.what.find("Attention") != std::string::npos);
      CHECK(vertex.op != "attention");
    }
  }
}

TEST_CASE("multiply-adds in the picture of a model are those that are counted, at every depth") {
  for (const Named& model : losses()) {
    CAPTURE(model.name);
    const Tensor& loss = model.loss;
    const auto counted = static_cast<double>(count_operations({loss}));
    CHECK(counted > 1000);
    for (const int depth : {automatic_depth, 0, 1, 2, 99}) {
      CAPTURE(depth);
      for (const bool roll_up : {true, false}) {
        const GraphView view =
            GraphView::of({loss}, {.depth = depth, .roll_up = roll_up, .overlay = multiply_adds_overlay()});
        CHECK(sum_of(view) == doctest::Approx(counted).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("a gradient rule's number is the sum of its operations'") {
  const Tensor a = variable(normal({4, 5}), "a"), b = variable(normal({5, 6}), "b");
  const Tensor y = sum(matmul(a, b));
  const Tensors gradients = grad(y, {a, b}, {.create_graph = true});
  const GraphView view = GraphView::of({y, gradients[0], gradients[1]}, {.overlay = multiply_adds_overlay()});
  const auto rule = std::ranges::find(view.vertices, "matmul'", &GraphVertex::op);
  REQUIRE(rule != view.vertices.end());
  CHECK(rule->overlay == 2 * 4 * 5 * 6.0);  // one product for each input
}

}  // namespace
}  // namespace xgrad::testing
