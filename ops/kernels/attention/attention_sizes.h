// The arguments of attention on plain memory.
#pragma once

#include <cstdint>

#include "../../../core/array/shape.h"

namespace xgrad {

/// The strides, in elements, of batches, heads and rows of a (B, T, H, d)- or (B, H, T, d)-like operand.
struct HeadLayout {
  std::int64_t batch_stride, head_stride, row_stride;

  std::int64_t at(std::int64_t b, std::int64_t h) const { return b * batch_stride + h * head_stride; }
};

/// T queries and S keys in B batches of H heads; queries and keys have d columns, values e. `group` consecutive heads
/// of queries share the keys and values of one head.
struct AttentionSizes {
  std::int64_t B, H, T, S, d, e;
  HeadLayout q, k, v, y;
  Real scale;  ///< of the scores
  std::int64_t group = 1;

  /// The offsets of the keys and the values for head h of the queries.
  std::int64_t k_at(std::int64_t b, std::int64_t h) const { return k.at(b, h / group); }
  std::int64_t v_at(std::int64_t b, std::int64_t h) const { return v.at(b, h / group); }

  Shape scores() const { return {B, H, T, S}; }
};

/// Pointers to queries, keys and values, or to their gradients.
template <class Number>
struct AttentionOperands {
  Number *q, *k, *v;
};

/// A checked mask (attention_mask.h) in plain numbers for the kernel: query t of batch b sees a range of keys, minus
/// those that `masked` names.
struct KeyRanges {
  std::int64_t T = 0, S = 0;
  bool causal = false;                    ///< query t sees only keys 0 ... t
  bool band = false;                      ///< query t sees only keys t - before ... t + after
  std::int64_t before = 0, after = 0;     ///< not beyond max(T, S)
  const std::int64_t* lengths = nullptr;  ///< how many keys are valid, from the first: (B), or (B, T)
  bool length_per_query = false;
  const bool* masked = nullptr;  ///< true: may not be seen; (B, H, T, S) with strides
  const Real* bias = nullptr;    ///< added to the scores, likewise
  ShortList<std::int64_t> masked_strides{}, bias_strides{};

  /// The first key in the range of query t.
  std::int64_t begin(std::int64_t t) const;
  /// The end of the range of query t of batch b.
  std::int64_t end(std::int64_t b, std::int64_t t) const;
  /// The largest end of a range in the B batches.
  std::int64_t end(std::int64_t B) const;
  /// The largest number of keys that `count` consecutive queries see together.
  std::int64_t most_keys(std::int64_t count) const;
  bool is_masked(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t s) const {
    return masked &&
           masked[b * masked_strides[0] + h * masked_strides[1] + t * masked_strides[2] + s * masked_strides[3]];
  }
};

}  // namespace xgrad
