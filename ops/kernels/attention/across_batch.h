// Attention of short sequences, many sequences at a time: a register holds the same number of a query, key or value of
// as many sequences as it has places, where ten queries of one would leave six of sixteen empty.
#pragma once

#include "attention_sizes.h"

namespace xgrad::detail {

/// Whether the functions below take these arguments, without dropout, and fill registers better.
bool fits_across_batch(const AttentionSizes& p, const KeyRanges& ranges);

/// attention_forward and attention_backward for such arguments. `weights` has room for those of KeptAttention.
void forward_across_batch(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& ranges,
                          Real* y, Real* weights);
void backward_across_batch(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                           const AttentionOperands<Real>& out, const Real* weights, const KeyRanges& ranges);

}  // namespace xgrad::detail
