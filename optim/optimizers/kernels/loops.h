// One pass over a parameter for each step of an optimizer. (Files that include this are compiled for several
// processors.)
#pragma once

#include <cstdint>
#include <optional>

#include "../../../core/array/array.h"
#include "../../../core/base/assert.h"
#include "../../../core/runtime/parallel.h"
#include "squares.h"
#include "update.h"

namespace xgrad::optim {

namespace detail {

inline Real* numbers_of(Array& array) { return array.mutable_data(); }
inline const Real* numbers_of(const Array& array) { return array.data(); }

// The formula and its numbers are taken by value: the compiler cannot tell references to them from the arrays.
template <class F, class... M>
void pass(const F formula, std::int64_t count, Real* __restrict x, const Real* __restrict g, M* __restrict... m) {
  for (std::int64_t i = 0; i < count; ++i) formula(x[i], g[i], m[i]...);
}

}  // namespace detail

/// Calls formula(x, g, m...) for every element of a parameter x, its gradient g and its moments m of the same size, by
/// several threads. With `flush`, where eps keeps a divisor from 0, subnormal numbers count as 0.
template <class F, class... M>
void for_each_number(Array& x, const Array& g, bool flush, const F& formula, M&... m) {
  XGRAD_ASSERT(g.size() == x.size() && ((m.size() == x.size()) && ...));
  const auto run = [&formula, flush, size = x.size()](Real* xs, const Real* gs, auto*... ms) {
    parallel_for(size, block, [&](std::int64_t begin, std::int64_t end) {
      std::optional<FlushDenormals> flushing;
      if (flush) flushing.emplace();
      detail::pass(formula, end - begin, xs + begin, gs + begin, (ms + begin)...);
    });
  };
  run(x.mutable_data(), g.data(), detail::numbers_of(m)...);
}

}  // namespace xgrad::optim
