// Connectionist temporal classification: the recursions over all ways to spread a text over time steps.
#pragma once

#include <memory>
#include <vector>

#include "../../../core/array/array.h"

namespace xgrad {

/// A batch of texts, checked: each with blanks around its letters, b a b c b, and padded with blanks.
struct CtcTexts {
  Index labels;         ///< (N, L), L odd
  Index lengths;        ///< (N): how many labels each text has, 2 letters + 1
  Index input_lengths;  ///< (N): how many time steps each has, at least 1
};

/// The forward pass: minus the logarithm of the sum over all ways. Logarithms of long ways are large, and their
/// differences become exponents: these are doubles.
struct CtcForward {
  using Alphas = std::vector<double, PoolAllocator<double>>;

  Array losses;                          ///< (N)
  std::shared_ptr<const Alphas> alphas;  ///< (N, T, L): ln of the sum over the ways that are at label s after step t
};
CtcForward ctc_forward(const Array& log_probs, const CtcTexts& texts);

/// The gradient by log_probs (T, N, C): -gy times the probability that a way is at class c in step t; 0 where the loss
/// is infinite, NaN where it is NaN.
Array ctc_gradient(const Array& log_probs, const CtcTexts& texts, const CtcForward& forward, const Array& gy);

}  // namespace xgrad
