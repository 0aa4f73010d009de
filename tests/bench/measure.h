// Utilities for all workloads: data that is the same for all engines, the timed loop, and the line that it prints.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <xgrad/core/array/array.h>

namespace bench {

/// Knuth's linear congruential generator: simple enough to stand in any language, so that every engine gets the same
/// numbers.
class Data {
 public:
  explicit Data(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  /// In [0, 1).
  double uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::uint32_t>(state_ >> 33)) / 2147483648.0;
  }
  /// In 0 ... count - 1.
  std::int64_t below(int count) { return static_cast<std::int64_t>(uniform() * count); }

  xgrad::Index ids(const xgrad::Shape& shape, int vocabulary);
  xgrad::Array numbers(const xgrad::Shape& shape);

 private:
  std::uint64_t state_;
};

/// One workload: `step` does one whole training step and returns the loss.
struct Workload {
  std::string name;
  double items = 1;  ///< per step
  int steps = 100;   ///< timed, unless told otherwise
  int warm_up = 5;
  std::function<double()> step;
};

/// Runs the warm-up and the timed steps; prints `xgrad NAME THREADS MEDIAN_MS ITEMS_PER_SECOND PEAK_MB` on standard
/// output, and the losses (all of them if `losses`) and the spread on standard error.
void run(const Workload& workload, int threads, int steps, bool losses = false);

}  // namespace bench
