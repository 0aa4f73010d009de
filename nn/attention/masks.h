// Masks for attention: which keys a query may attend to. They apply before the softmax; masked keys take no part.
//
//     attn(x, nn::causal);
//     attn(x, nn::causal & nn::padding(lengths));         // both at once
//     attn(x, nn::window({.before = 2, .after = 2}));
#pragma once

#include "../../ops/network/attention_mask.h"

namespace xgrad::nn {

/// Position t sees positions 0 ... t.
inline const AttentionMask causal{.causal = true};

/// Only the first `lengths` keys are there, the others are padding: (B), or (B, T) for each query.
AttentionMask padding(const Index& lengths);

/// {.before, .after}
using WindowOptions = AttentionBand;
/// Position t sees positions t - before ... t + after; time and memory are those of the window. Throws ValueError for
/// negative numbers.
AttentionMask window(const WindowOptions& options);

/// The mask of a batch whose i-th sequence is this batch's rows[i]-th. Throws ValueError for a row that does not exist.
AttentionMask select_rows(const AttentionMask& mask, const Index& rows);

/// The same as masks by position, in which true means masked, to look at or to combine; masked_keys(mask, scores) is a
/// whole AttentionMask.
/// All throw ValueError for negative numbers and LimitError for sizes that do not fit the address space.
/// (size, past + size): true after each of the `size` positions, which follow `past` others.
Mask causal_mask(std::int64_t size, std::int64_t past = 0);
/// (B, size): true from each length on. Throws ShapeError unless lengths is (B), ValueError for a length
/// outside [0, size].
Mask padding_mask(const Index& lengths, std::int64_t size);
/// (size, size): true outside of each position's window.
Mask window_mask(std::int64_t size, const WindowOptions& options);
}  // namespace xgrad::nn
