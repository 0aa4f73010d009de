// Recurrent layers, forward and backward pass: arguments are the batch B, the steps T, and the width of inputs and
// states. The least of many short measurements: the time that the work takes when nothing else does.
#include <benchmark/benchmark.h>

#include <algorithm>

#include <xgrad/core/graph/grad.h>
#include <xgrad/nn/layers/recurrent.h>
#include <xgrad/ops/arrange/create.h>

namespace {

using namespace xgrad;

template <class Layer>
void forward_and_backward(benchmark::State& state) {
  const std::int64_t B = state.range(0), T = state.range(1), width = state.range(2);
  manual_seed(1);
  const Layer layer{nn::root, width, width};
  const Tensor x = variable(randn({B, T, width}).value()), seed = randn({B, T, width});
  Tensors wanted = layer.parameters();
  wanted.push_back(x);
  for (auto _ : state) benchmark::DoNotOptimize(grad(layer(x).output, wanted, {.seed = seed}));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({32, 32, 128})->Args({64, 10, 32})->Args({32, 32, 256})->Unit(benchmark::kMillisecond)->UseRealTime();
  benchmark->MinTime(0.02)->Repetitions(30)->ReportAggregatesOnly();
  benchmark->ComputeStatistics("least", [](const std::vector<double>& all) { return std::ranges::min(all); });
}

BENCHMARK(forward_and_backward<nn::RNN>)->Apply(sizes);
BENCHMARK(forward_and_backward<nn::LSTM>)->Apply(sizes);
BENCHMARK(forward_and_backward<nn::GRU>)->Apply(sizes);

}  // namespace
