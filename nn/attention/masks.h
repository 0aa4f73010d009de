// Masks for attention: which keys a query may attend to. Masks apply before the softmax, so the weight of a masked key
// is 0.
//
//     attn(x, nn::causal);
//     attn(x, nn::causal & nn::padding(lengths));         // both masks at once
//     attn(x, nn::window({.before = 2, .after = 2}));
#pragma once

#include "../../ops/network/attention_mask.h"

namespace xgrad::nn {

/// A causal mask: position t attends to positions 0 ... t.
inline const AttentionMask causal{.causal = true};

/// A padding mask: the first `lengths` keys are valid, the others are padding. `lengths` is (B), or (B, T) for each
/// query.
AttentionMask padding(const Index& lengths);

/// The options of a window: {.before, .after}.
using WindowOptions = AttentionBand;
/// A window mask: position t attends to positions t - before ... t + after. Keys outside the window cost neither time
/// nor memory. Throws ValueError for negative values.
AttentionMask window(const WindowOptions& options);

/// The mask for rows of this batch: row i of the result belongs to row rows[i]. Throws ValueError for a row that does
/// not exist.
AttentionMask select_rows(const AttentionMask& mask, const Index& rows);

/// Causal, padding and window masks as arrays of booleans (true: masked), for printing and for combining. For a whole
/// AttentionMask use masked_keys(mask, scores). The three functions throw ValueError for negative values, and
/// LimitError for sizes beyond the address space.
/// (size, past + size): true for the keys after each position. The `size` positions follow `past` earlier ones.
Mask causal_mask(std::int64_t size, std::int64_t past = 0);
/// (B, size): true in row b at positions [lengths[b], size). Throws ShapeError unless `lengths` is (B), and ValueError
/// for a length outside [0, size].
Mask padding_mask(const Index& lengths, std::int64_t size);
/// (size, size): true outside of the window of each position.
Mask window_mask(std::int64_t size, const WindowOptions& options);
}  // namespace xgrad::nn
