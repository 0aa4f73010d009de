// Attention, one head after the other: the forward pass, and the gradients from what it saves.
#pragma once

#include <cstdint>

#include "../../../core/array/array.h"
#include "../../../core/array/random.h"
#include "attention_sizes.h"

namespace xgrad {

/// Dropout of the weights, as dropout() itself does it: a function of key and position only.
struct WeightDropout {
  double p = 0;
  RandomKey key{};

  bool on() const { return p > 0; }
};

/// What the forward pass saves for the backward pass. For few keys or one query: the weights. Else the maximum of each
/// query's scores, and the inverse sum of its powers, from which the weights are computed again.
class SavedAttention {
 public:
  SavedAttention() = default;
  /// Needs at least one query.
  explicit SavedAttention(const AttentionSizes& p);

  bool weights() const { return weights_; }
  /// The rows of the queries from `first` on of a head, of lanes() numbers each: one for each key that they may see, or
  /// the maxima, followed by the inverse sums.
  Real* rows(std::int64_t head, std::int64_t first) { return elements_.mutable_data() + at(head, first); }
  const Real* rows(std::int64_t head, std::int64_t first) const { return elements_.data() + at(head, first); }

 private:
  std::int64_t at(std::int64_t head, std::int64_t first) const {
    return (head * blocks_ + first / lanes_) * rows_ * lanes_;
  }

  std::int64_t lanes_ = 1, blocks_ = 0, rows_ = 0;
  bool weights_ = false;
  Array elements_;
};

/// y = dropout(softmax(scale q k' + bias)) v, which is not empty; fills `saved` for the backward pass, if given.
void attention_forward(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& keys,
                       const WeightDropout& dropout, Real* y, SavedAttention* saved);

/// Writes the gradients of q, k and v, and if asked adds those of the scores to (B, H, T, S) zeros. y is not empty.
void attention_backward(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                        const AttentionOperands<Real>& out, const SavedAttention& saved, const KeyRanges& keys,
                        const WeightDropout& dropout, Real* score_gradients);

/// a b, or a' b, over leading axes, where the factors of an entry 0 of a take no part, NaN and infinities included.
enum class LeftFactor { as_it_is, transposed };
Array products_skipping_zeros(const Array& a, const Array& b, LeftFactor left);

}  // namespace xgrad
