// Attention of a single query: the decoding step of a model, one token at a time.
#pragma once

#include <optional>

#include "attention_sizes.h"

namespace xgrad::detail {

/// Whether each head has a single query, without a mask or bias on single keys. (Its weights must not be dropped.)
bool has_one_query(const AttentionSizes& p, const KeyRanges& ranges);

/// y = softmax(scale q k') v for the query of one head, without a copy of its keys and values. `scores`, of at least
/// p.S numbers, becomes the powers of the keys that it sees; returns the reciprocal of their sum. Nothing where numbers
/// are infinite, NaN, or no key is seen: y is then undefined.
std::optional<Real> one_query(const AttentionSizes& p, const AttentionOperands<const Real>& in,
                              const KeyRanges& ranges, std::int64_t b, std::int64_t h, Real* scores, Real* y);

}  // namespace xgrad::detail
