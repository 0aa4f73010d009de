// What attention on plain memory is given.
#pragma once

#include <cstdint>

#include "../../../core/array/shape.h"
#include "../products/product.h"

namespace xgrad {

/// How many elements lie between batches, heads and rows of a (B, T, H, d)- or (B, H, T, d)-like operand.
struct HeadLayout {
  std::int64_t batch_step, head_step, row_step;

  std::int64_t at(std::int64_t b, std::int64_t h) const { return b * batch_step + h * head_step; }
};

/// T queries and S keys in B batches of H heads; queries and keys have d columns, values e. So many heads of queries in
/// a row, a group, have the keys and values of one head.
struct AttentionSizes {
  std::int64_t B, H, T, S, d, e;
  HeadLayout q, k, v, y;
  Real scale;  ///< of the scores
  std::int64_t group = 1;
  /// What multiplies the factors, rounded to bfloat16 (bfloat16.h); nullptr: nothing is rounded.
  const detail::BfloatUnit* unit = nullptr;

  /// Where the keys of head h of the queries begin, and its values.
  std::int64_t k_at(std::int64_t b, std::int64_t h) const { return k.at(b, h / group); }
  std::int64_t v_at(std::int64_t b, std::int64_t h) const { return v.at(b, h / group); }

  Shape scores() const { return {B, H, T, S}; }
};

/// Where queries, keys and values, or their gradients, begin.
template <class Number>
struct AttentionOperands {
  Number *q, *k, *v;
};

/// A mask as the kernel reads it, in plain numbers: query t of batch b sees a range of keys, less those that `masked`
/// names. Checked (attention_mask.h).
struct KeyRanges {
  std::int64_t T = 0, S = 0;
  bool causal = false;                    ///< query t sees keys 0 ... t only
  bool band = false;                      ///< it sees t - before ... t + after only
  std::int64_t before = 0, after = 0;     ///< not beyond max(T, S)
  const std::int64_t* lengths = nullptr;  ///< so many keys are there, from the first: (B), or (B, T)
  bool length_per_query = false;
  const bool* masked = nullptr;  ///< true: may not be seen; (B, H, T, S) with strides
  const Real* bias = nullptr;    ///< added to the scores, likewise
  ShortList<std::int64_t> masked_strides{}, bias_strides{};

  /// Query t sees no key before this one, and
  std::int64_t begin(std::int64_t t) const;
  /// query t of batch b none from this one on.
  std::int64_t end(std::int64_t b, std::int64_t t) const;
  /// No query of the B batches sees a key from this one on.
  std::int64_t end(std::int64_t B) const;
  /// So many keys at most are seen by some of `count` queries in a row.
  std::int64_t most_keys(std::int64_t count) const;
  bool is_masked(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t s) const {
    return masked &&
           masked[b * masked_strides[0] + h * masked_strides[1] + t * masked_strides[2] + s * masked_strides[3]];
  }
};

}  // namespace xgrad
