// Special cases of attention without dropout, which attention_forward and attention_backward choose.
#pragma once

#include <optional>

#include "attention_sizes.h"

namespace xgrad::detail {

/// Whether each head has a single query, without a mask or bias on single keys: a model that generates token by token.
bool has_one_query(const AttentionSizes& p, const KeyRanges& ranges);
/// y = softmax(scale q k') v for the query of one head, without a copy of its keys and values. `scores`, of at least
/// p.S elements, becomes the powers of the keys that it sees; returns the inverse of their sum. Returns nothing where
/// values are infinite or NaN, or where no key is seen: y is then undefined.
std::optional<Real> one_query(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                              std::int64_t b, std::int64_t h, Real* scores, Real* y);

/// Whether sequences are so short that one sequence per lane fills registers better: ten queries of one sequence would
/// leave six of sixteen lanes empty.
bool fits_across_batch(const AttentionSizes& p, const KeyRanges& ranges);
/// Attention of such sequences. `weights` has the size of those of SavedAttention.
void forward_across_batch(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                          Real* y, Real* weights);
void backward_across_batch(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                           const AttentionOperands<Real>& out, const Real* weights, const KeyRanges& ranges);

}  // namespace xgrad::detail
