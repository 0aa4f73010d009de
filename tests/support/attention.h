// Masks of attention, written out.
#pragma once

#include <cstdint>

#include <xgrad/ops/network/attention.h>

namespace xgrad::testing {

/// `mask` (without its bias) for every batch, query and key, by its definition: true where nothing is seen.
inline Mask written_out(const AttentionMask& mask, std::int64_t B, std::int64_t T, std::int64_t S) {
  Mask blocked(Shape{B, 1, T, S});
  bool* out = blocked.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t s = 0; s < S; ++s) {
        bool open = !mask.causal || s <= t;
        if (mask.band) open &= t - s <= mask.band->before && s - t <= mask.band->after;
        if (mask.lengths) open &= s < (mask.lengths->rank() == 2 ? mask.lengths->at({b, t}) : mask.lengths->at({b}));
        *out++ = !open;
      }
    }
  }
  return blocked;
}

}  // namespace xgrad::testing
