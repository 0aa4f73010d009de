// Attention masks: the keys that a query may attend to. "masked", and true in a Mask, mean that a query may not attend
// to the key.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

/// A band along the diagonal: query t attends only to keys t - before ... t + after.
struct AttentionBand {
  std::int64_t before = 0;
  std::int64_t after = 0;
};

/// The keys that a query may attend to: all given members must allow a key. The weight of all other keys is exactly 0,
/// even if a key contains NaN. A query that may attend to no key has the result 0 and the gradient 0 (PyTorch: NaN).
struct [[nodiscard]] AttentionMask {
  bool causal = false;                  ///< query t attends only to keys 0 ... t
  std::optional<AttentionBand> band{};  ///< keys outside it cost neither time nor memory
  std::optional<Index> lengths{};       ///< the number of valid keys, from the first: (B), or (B, T) for each query
  std::optional<Mask> masked{};         ///< true where a query may not attend to a key; broadcasts to (B, H, T, S)
  Tensor bias{};                        ///< added to the scores before the softmax; broadcasts to (B, H, T, S)
};

/// The intersection: both masks must allow a key. Biases add up. Throws ShapeError for lengths of unequal shapes.
AttentionMask operator&(const AttentionMask& a, const AttentionMask& b);

/// The mask without its bias as one Mask, true for masked keys. Its shape is that of scores (B, H, T, S), or (B, 1, T,
/// S) for scores (B, T, S). Throws ShapeError when a part of the mask does not fit, ValueError for a length outside [0,
/// S] or a negative side of a band, LimitError for positions that Real cannot count; errors begin with `op`.
Mask masked_keys(const AttentionMask& mask, const Shape& scores, const char* op = "masked_keys");

struct KeyRanges;
namespace detail {
/// The ranges of keys that the kernel reads (ops/kernels/attention/attention.h), for scores (B, H, T, S); they point
/// into the arrays of the mask. Throws as masked_keys, for the operation `op`.
KeyRanges check_mask(const char* op, const AttentionMask& mask, const Shape& scores);
/// A Mask (B, H, T, S) that is true where a key is masked; nothing if no key is masked.
std::optional<Mask> expanded(const KeyRanges& ranges, const Shape& scores);
}  // namespace detail

}  // namespace xgrad
