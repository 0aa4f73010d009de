// The limits of this core: multiply-adds in registers, and copying within each level of the memory.
#include <algorithm>
#include <array>
#include <memory>

#include <xgrad/ops/kernels/registers/simd.h>

#include "table.h"

namespace {

using namespace micro;

// Enough independent sums to hide the four cycles that each multiply-add takes, on two units.
void multiply_add(benchmark::State& state) {
  constexpr int sums = 12, rounds = 1000;
  std::array<Pack, sums> sum;
  Pack a(Real(0.5)), b(Real(0.25));
  benchmark::DoNotOptimize(a);
  benchmark::DoNotOptimize(b);
  for (auto _ : state) {
    for (int round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
      for (int i = 0; i < sums; ++i)
        sum[static_cast<std::size_t>(i)] = multiply_add(a, b, sum[static_cast<std::size_t>(i)]);
    }
    benchmark::DoNotOptimize(sum);
  }
  state.counters["flop/s"] =
      benchmark::Counter(2.0 * Pack::width * sums * rounds, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(multiply_add)->Name("roofline/multiply_add")->Unit(benchmark::kMicrosecond);

Row copy(const char* name, std::int64_t bytes) {
  const auto n = static_cast<std::size_t>(bytes) / sizeof(Real) / 2;  // as much is read as written
  return {name, 2.0 * static_cast<double>(n), 0, [n] {
            const std::shared_ptr<Real[]> from(new Real[n]()), to(new Real[n]());
            return [=] {
              std::copy_n(from.get(), n, to.get());
              benchmark::ClobberMemory();
            };
          }};
}

const bool added = add("roofline/copy", {
                                            copy("16KiB", 1 << 14),
                                            copy("256KiB", 1 << 18),
                                            copy("1MiB", 1 << 20),
                                            copy("16MiB", 1 << 24),
                                            copy("256MiB", 1 << 28),
                                        });

}  // namespace
