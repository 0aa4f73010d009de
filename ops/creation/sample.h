// Random draws with given probabilities. Each call is the next draw of this thread's generator
// (manual_seed); the numbers are the same on every machine. No gradients.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// 1 with probability p_i, else 0, independently for each element. Throws ValueError for a probability outside [0, 1].
Tensor bernoulli(const Tensor& p);

struct MultinomialOptions {
  bool replacement = false;  ///< whether a category may be drawn more than once
};
/// Indices of categories, drawn with probabilities weights_i / sum of weights: weights (n) -> (count), (m, n) -> (m,
/// count), drawn independently for each row. Without replacement in the order of an exponential race, equivalent to
/// drawing one after the other (Efraimidis, Spirakis: "Weighted random sampling with a reservoir", 2006). Throws
/// ShapeError for other axes; ValueError for a weight that is negative or not finite, a row without a positive one, a
/// negative count, and, without replacement, a count above the number of positive weights of a row.
Index multinomial(const Tensor& weights, std::int64_t count, const MultinomialOptions& options = {});

}  // namespace xgrad
