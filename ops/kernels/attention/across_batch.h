// Attention of short sequences, one sequence per lane: a register holds the same element of a query, key or value of
// many sequences. Ten queries of one sequence would leave six of sixteen lanes empty.
#pragma once

#include "attention_sizes.h"

namespace xgrad::detail {

/// Whether the functions below take these arguments, without dropout, and fill registers better.
bool fits_across_batch(const AttentionSizes& p, const KeyRanges& ranges);

/// attention_forward and attention_backward for such arguments. `weights` has the size of those of SavedAttention.
void forward_across_batch(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                          Real* y, Real* weights);
void backward_across_batch(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                           const AttentionOperands<Real>& out, const Real* weights, const KeyRanges& ranges);

}  // namespace xgrad::detail
