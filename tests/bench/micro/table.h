// Benchmarks in tables: a row is a name, what the operation has to move and to compute, and how to do it.
#pragma once

#include <benchmark/benchmark.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <xgrad/core/array/random.h>
#include <xgrad/core/base/scope.h>
#include <xgrad/core/graph/grad.h>
#include <xgrad/core/runtime/parallel.h>
#include <xgrad/ops/creation/create.h>
#include <xgrad/ops/products/matmul_precision.h>

namespace micro {

using namespace xgrad;

/// `make` prepares everything outside of the timed loop and returns the function to time.
struct Row {
  std::string name;
  double numbers = 0;  ///< that must be read or written, each once
  double flops = 0;    ///< multiplications and additions
  std::function<std::function<void()>()> make;
};

/// Registers the rows as `family/name`, with bytes and floating point operations per second. Used as the initialiser of
/// a constant, before main.
inline bool add(const std::string& family, const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    benchmark::RegisterBenchmark((family + "/" + row.name).c_str(), [row](benchmark::State& state) {
      set_threads(1);
      manual_seed(1);
      const std::function<void()> run = row.make();
      for (auto _ : state) run();
      const auto rate = [&](double amount) {
        return benchmark::Counter(amount, benchmark::Counter::kIsIterationInvariantRate);
      };
      if (row.numbers > 0) state.counters["bytes/s"] = rate(row.numbers * sizeof(Real));
      if (row.flops > 0) state.counters["flop/s"] = rate(row.flops);
    })->Unit(benchmark::kMicrosecond);
  }
  return true;
}

/// f() without a graph.
template <class F>
std::function<void()> forward(F f) {
  return [=] {
    const NoGrad off;
    benchmark::DoNotOptimize(f());
  };
}

/// The gradients of f() for xs alone: the graph is made once, and differentiated again and again.
template <class F>
std::function<void()> backward(const Tensors& xs, F f) {
  const Tensor y = f();
  const Tensor seed = randn(y.shape());
  return [=] { benchmark::DoNotOptimize(grad(y, xs, {.seed = seed, .retain_graph = true, .unused = Unused::zeros})); };
}

/// f in medium precision.
inline std::function<void()> in_medium(std::function<void()> f) {
  return [f = std::move(f)] {
    set_matmul_precision(MatmulPrecision::medium);
    f();
    set_matmul_precision(MatmulPrecision::highest);
  };
}

inline Tensor numbers(const Shape& shape) { return randn(shape); }
/// Numbers that a gradient is wanted for.
inline Tensor parameter(const Shape& shape) { return variable(randn(shape).value()); }

/// The matrices of a GPT's step.
inline constexpr std::int64_t rows = 768, width = 512, N = rows * width;
inline const Shape shape{rows, width};

/// f(x) of such a matrix, or one of another shape, for which `moved` numbers are read or written.
template <class F>
Row of_numbers(const std::string& name, double moved, F f, const Shape& of = shape) {
  return {name, moved, 0, [=] {
            const Tensor x = numbers(of);
            return forward([=] { return f(x); });
          }};
}

/// And its gradient.
template <class F>
Row gradient(const std::string& name, double moved, F f, const Shape& of = shape) {
  return {name, moved, 0, [=] {
            const Tensor x = parameter(of);
            return backward({x}, [=] { return f(x); });
          }};
}

/// f(a, b) of two matrices.
template <class F>
Row of_two(const std::string& name, double arrays, F f) {
  return {name, arrays * N, 0, [=] {
            const Tensor a = numbers(shape), b = numbers(shape);
            return forward([=] { return f(a, b); });
          }};
}

}  // namespace micro
