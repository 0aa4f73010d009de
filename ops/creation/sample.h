// Random draws with given probabilities. Each call is the next draw of this thread's generator (manual_seed); the
// numbers are the same on every machine. No gradients flow through draws.
#pragma once

#include "../../core/graph/tensor.h"

namespace xgrad {

/// Independent draws, one for each element: 1 with probability p_i, else 0. Throws ValueError for a probability outside
/// [0, 1].
Tensor bernoulli(const Tensor& p);

struct MultinomialOptions {
  bool replacement = false;  ///< whether a category may be drawn more than once
};
/// Indices of categories, drawn with probabilities weights_i / sum of weights. Weights (n) give (count) indices;
/// weights (m, n) give (m, count), drawn independently for each row. Draws without replacement use an exponential race,
/// which is equivalent to drawing one after the other (Efraimidis, Spirakis: "Weighted random sampling with a
/// reservoir", 2006). Throws ShapeError unless weights have one or two axes. Throws ValueError for a weight that is
/// negative or not finite, a row without a positive weight or a negative count. Without replacement it also throws
/// ValueError if a row has fewer than `count` positive weights.
Index multinomial(const Tensor& weights, std::int64_t count, const MultinomialOptions& options = {});

}  // namespace xgrad
