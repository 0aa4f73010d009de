// The softmax of attention and its gradient, one query per lane: maxima and sums go down the rows of scores, one for
// each key, without horizontal operations. Rows are one pack or two wide.
#pragma once

#include <cstdint>
#include <type_traits>

#include "../../../core/base/assert.h"
#include "../registers/rows.h"

namespace xgrad::inline XGRAD_SIMD {

/// Calls f with the number of packs side by side in rows of `width` numbers, 1 or 2, as a type: loops over keys take
/// them together, because each waits for its own last result.
void with_packs(std::int64_t width, const auto& f) {
  XGRAD_ASSERT(width == pack_width || width == 2 * pack_width);
  if (width == pack_width) {
    f(std::integral_constant<int, 1>());
  } else {
    f(std::integral_constant<int, 2>());
  }
}

/// What is subtracted from scores with this maximum. Nothing where all keys are masked, so that all powers are 0.
inline Pack shift_of(const Pack& most) { return where(most == -infinity, 0, most); }

/// In place: scores become powers e^(score - max). Returns for each query the maximum and the reciprocal sum of powers,
/// 0 if it sees no key. The two are not joined in one number, which would be rounded to the digits of the larger.
template <int packs>
void powers_of(Real* scores, std::int64_t keys, Real* maximum, Real* inverse_sum) {
  Pack most[packs], sum[packs];
  for (Pack& each : most) each = -infinity;
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) most[j] = larger(most[j], Pack::load(scores + (s * packs + j) * pack_width));
  }
  for (int j = 0; j < packs; ++j) {
    most[j].store(maximum + j * pack_width);
    most[j] = shift_of(most[j]);
  }
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) {
      Real* score = scores + (s * packs + j) * pack_width;
      const Pack power = exp(Pack::load(score) - most[j]);
      power.store(score);
      sum[j] = sum[j] + power;
    }
  }
  for (int j = 0; j < packs; ++j) where(sum[j] == 0, 0, 1 / sum[j]).store(inverse_sum + j * pack_width);
}

/// In place: scores become the weights before dropout again, from the results of powers_of.
template <int packs>
void weights_again(Real* scores, std::int64_t keys, const Real* maximum, const Real* inverse_sum) {
  Pack most[packs], factor[packs];
  for (int j = 0; j < packs; ++j) {
    most[j] = shift_of(Pack::load(maximum + j * pack_width));
    factor[j] = Pack::load(inverse_sum + j * pack_width);
  }
  for (std::int64_t s = 0; s < keys; ++s) {
    for (int j = 0; j < packs; ++j) {
      Real* score = scores + (s * packs + j) * pack_width;
      (exp(Pack::load(score) - most[j]) * factor[j]).store(score);
    }
  }
}

/// In place: powers become weights times the dropout factors; `saved`, if given, gets the weights before dropout.
template <int packs>
void weights_of(Real* powers, std::int64_t keys, const Real* inverse_sum, const Real* factors, Real* saved) {
  Pack factor[packs];
  for (int j = 0; j < packs; ++j) factor[j] = Pack::load(inverse_sum + j * pack_width);
  for (std::int64_t i = 0; i < keys * packs * pack_width; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(powers + at) * factor[j];
      if (saved) weight.store(saved + at);
      (factors ? weight * Pack::load(factors + at) : weight).store(powers + at);
    }
  }
}

/// Gradients of the weights after dropout, in `slope`, become those of the scores times `scale`; `inverse_sum`, if
/// given, becomes the weights after dropout. It may be where the weights are.
template <int packs>
void score_gradients_of(const Real* weights, const Real* factors, std::int64_t keys, Real scale, Real* slope,
                        Real* inverse_sum) {
  Pack mean[packs];  // of the gradients, by weight
  const std::int64_t end = keys * packs * pack_width;
  for (std::int64_t i = 0; i < end; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(weights + at);
      const Pack above = factors ? Pack::load(slope + at) * Pack::load(factors + at) : Pack::load(slope + at);
      const Pack gradient = where(weight == 0, 0, above);
      gradient.store(slope + at);
      mean[j] = multiply_add(weight, gradient, mean[j]);
    }
  }
  for (std::int64_t i = 0; i < end; i += packs * pack_width) {
    for (int j = 0; j < packs; ++j) {
      const std::int64_t at = i + j * pack_width;
      const Pack weight = Pack::load(weights + at);
      where(weight == 0, 0, weight * scale * (Pack::load(slope + at) - mean[j])).store(slope + at);
      if (inverse_sum) (factors ? weight * Pack::load(factors + at) : weight).store(inverse_sum + at);
    }
  }
}

}  // namespace xgrad::inline XGRAD_SIMD
