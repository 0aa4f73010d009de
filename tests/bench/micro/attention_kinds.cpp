// Full, windowed and linear attention over the length T of a sequence: time of forward and backward pass, what the
// graph keeps in between, and the most that the pool had to hold. The time of full attention grows with T^2, that of
// the others and all memory with T.
#include <benchmark/benchmark.h>

#include <cmath>

#include <xgrad/core/graph/grad.h>
#include <xgrad/core/runtime/memory.h>
#include <xgrad/nn/attention/attention_scores.h>
#include <xgrad/ops/arrange/create.h>
#include <xgrad/ops/network/linear_attention.h>
#include <xgrad/ops/reduce/reduce.h>

namespace {

using namespace xgrad;

constexpr std::int64_t width = 64;
constexpr std::int64_t window = 128;

std::int64_t pool_size() {
  const PoolStats stats = pool_stats();
  return stats.bytes_in_use + stats.bytes_cached;
}

template <class Attend>
void measure(benchmark::State& state, const Attend& attend) {
  const std::int64_t T = state.range(0);
  manual_seed(1);
  const auto input = [&] { return variable(randn({1, T, width}).value()); };
  const Tensor q = input(), k = input(), v = input();
  const Tensor seed = randn({1, T, width});
  detail::pool_trim();
  const std::int64_t size_before = pool_size();
  std::int64_t kept = 0;
  for (auto _ : state) {
    const std::int64_t before = pool_stats().bytes_in_use;
    const Tensor y = attend(q, k, v);
    kept = pool_stats().bytes_in_use - before;
    benchmark::DoNotOptimize(grad(y, {q, k, v}, {.seed = seed}));
  }
  const auto bytes = [](std::int64_t count) {
    return benchmark::Counter(static_cast<double>(count), benchmark::Counter::kDefaults,
                              benchmark::Counter::OneK::kIs1024);
  };
  state.counters["kept"] = bytes(kept);
  state.counters["pool"] = bytes(pool_size() - size_before);
  state.SetComplexityN(T);
}

void full_attention(benchmark::State& state) {
  const nn::DotProductAttention attn{nn::root};
  measure(state, [&](const Tensor& q, const Tensor& k, const Tensor& v) { return attn(q, k, v); });
}

void windowed_attention(benchmark::State& state) {
  const nn::BandAttention attn{nn::root, {.before = window / 2, .after = window - window / 2 - 1}};
  measure(state, [&](const Tensor& q, const Tensor& k, const Tensor& v) { return attn(q, k, v); });
}

void linear_attention_all(benchmark::State& state) {
  measure(state, [](const Tensor& q, const Tensor& k, const Tensor& v) { return linear_attention(q, k, v, 1); });
}

void linear_attention_causal(benchmark::State& state) {
  measure(state, [](const Tensor& q, const Tensor& k, const Tensor& v) {
    return linear_attention(q, k, v, 1, {.causal = true});
  });
}

void lengths(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(2)->Range(256, 8192)->Unit(benchmark::kMillisecond)->UseRealTime();
}

BENCHMARK(full_attention)->Apply(lengths)->Complexity(benchmark::oNSquared);
BENCHMARK(windowed_attention)->Apply(lengths)->Complexity(benchmark::oN);
BENCHMARK(linear_attention_all)->Apply(lengths)->Complexity(benchmark::oN);
BENCHMARK(linear_attention_causal)->Apply(lengths)->Complexity(benchmark::oN);

}  // namespace
