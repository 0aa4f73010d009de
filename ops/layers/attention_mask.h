// The mask of an attention: which keys a query may see. Everywhere, true and "masked" mean that it may not.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// A band along the diagonal: query t sees keys t - before ... t + after only.
struct AttentionBand {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// Which keys a query may attend to; a key must be allowed by all that are given. What is not allowed takes no part at
/// all: its weight is exactly 0, whatever stands there, NaN included. A query that may attend to nothing gives 0, and
/// gradients of 0 (PyTorch gives NaN there).
struct AttentionMask {
  bool causal = false;                  ///< query t sees keys 0 ... t only
  std::optional<AttentionBand> band{};  ///< what lies outside costs neither time nor memory
  std::optional<Index> lengths{};       ///< so many keys are valid, from the first: (B), or (B, T) for each query
  std::optional<Mask> masked{};         ///< true: may not be seen; broadcasts to (B, H, T, S)
  Tensor bias{};                        ///< added to the scores before the softmax; broadcasts to (B, H, T, S)
};

/// Both at once: a key must be allowed by both; biases add up. Throws ShapeError if both have lengths of different
/// shapes.
AttentionMask operator&(const AttentionMask& a, const AttentionMask& b);

/// All that a mask says but its bias, for scores (B, H, T, S) and of that shape, or for scores (B, T, S) and of shape
/// (B, 1, T, S). Throws ShapeError when a part of it does not fit, ValueError for a length outside [0, S] or a negative
/// side of a band, LimitError for positions that Real cannot count; errors begin with `op`.
Mask masked_keys(const AttentionMask& mask, const Shape& scores, const char* op = "masked_keys");

struct KeyRanges;
namespace detail {
/// The plain numbers that the kernel reads (ops/kernels/attention/attention.h), for scores (B, H, T, S); they lie in
/// the arrays of the mask. Throws as masked_keys, for the operation `op`.
KeyRanges check_mask(const char* op, const AttentionMask& mask, const Shape& scores);
/// true where a key is masked, (B, H, T, S); nothing if none is.
std::optional<Mask> expanded(const KeyRanges& ranges, const Shape& scores);
}  // namespace detail

}  // namespace xgrad
