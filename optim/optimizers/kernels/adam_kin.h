// What the steps of NAdam and RAdam share.
#pragma once

#include <vector>

#include "../../../core/array/array.h"
#include "../../../core/runtime/parallel.h"
#include "adaptive.h"
#include "update.h"

namespace xgrad::optim::detail {

/// The numbers of a step that follow from the options alone.
template <class Options>
AdamKinNumbers adam_kin_numbers(const Options& options, double lr) {
  const auto real = [](double value) { return static_cast<Real>(value); };
  const bool decoupled = options.decoupled_weight_decay;
  return {.new_m = real(1 - options.betas[0]),
          .old_v = real(options.betas[1]),
          .new_v = real(1 - options.betas[1]),
          .eps = real(options.eps),
          .shrink = real(decoupled ? 1 - lr * options.weight_decay : 1),
          .pull = real(decoupled ? 0 : options.weight_decay),
          .sign = real(options.maximize ? -1 : 1)};
}

/// Calls step(x, g, m, v, count, numbers) for blocks of a parameter, in parallel.
template <class Numbers>
void for_adam_blocks(Array& x, const Array& g, std::vector<Array>& moments, const Numbers& numbers,
                     void (*step)(Real*, const Real*, Real*, Real*, std::int64_t, const Numbers&)) {
  Real* const xs = x.mutable_data();
  const Real* const gs = g.data();
  Real* const ms = moments[0].mutable_data();
  Real* const vs = moments[1].mutable_data();
  parallel_for(x.size(), block, [&](std::int64_t begin, std::int64_t end) {
    step(xs + begin, gs + begin, ms + begin, vs + begin, end - begin, numbers);
  });
}

}  // namespace xgrad::optim::detail
