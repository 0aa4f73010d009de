// Diagrams: the training step of a GPT of 12 layers, folded, as a picture, with the start of the program dot; a chain
// of 100,000 operations as text. In milliseconds.
#include <benchmark/benchmark.h>

#include <xgrad/core/diagram/render/dot.h>
#include <xgrad/core/diagram/render/svg.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/models/gpt.h>
#include <xgrad/ops/elementwise/elementwise.h>
#include <xgrad/ops/losses/loss.h>

namespace {

using namespace xgrad;

void diagram_gpt_step_to_svg(benchmark::State& state) {
  const nn::Gpt model{nn::root, {.vocabulary = 65, .context = 32, .dim = 48, .heads = 12, .layers = 12}};
  const Index ids(Shape{2, 32}, std::int64_t{1});
  const Tensor loss = cross_entropy(model(ids), ids);
  Tensors step = grad(loss, model.parameters(), {.create_graph = true});
  step.insert(step.begin(), loss);
  for (auto _ : state) {
    const GraphView view = GraphView::of(step);
    benchmark::DoNotOptimize(to_svg(view));
  }
}

void diagram_chain_to_dot(benchmark::State& state) {
  Tensor y = variable(1);
  for (int i = 0; i < 100'000; ++i) y = tanh(y);
  for (auto _ : state) benchmark::DoNotOptimize(to_dot(GraphView::of({y}, {.max_nodes = 1'000'000})));
}

BENCHMARK(diagram_gpt_step_to_svg)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(diagram_chain_to_dot)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
