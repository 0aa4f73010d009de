// Attention, one head after the other: forward, and the gradients from numbers kept by the forward pass.
#pragma once

#include <cstdint>

#include "../../../core/array/array.h"
#include "../../../core/array/random.h"
#include "attention_sizes.h"

namespace xgrad {

/// Dropout of the weights, as dropout() itself does it: a function of key and position alone.
struct WeightDropout {
  double p = 0;
  RandomKey key{};

  bool on() const { return p > 0; }
};

/// Numbers of the forward pass that the backward pass needs: the weights if keys are few or there is one query, which
/// saves computing them again, else the maximum of each query's scores and its share. In the order of the scores.
class KeptAttention {
 public:
  KeptAttention() = default;
  /// The sizes must have queries.
  explicit KeptAttention(const AttentionSizes& p);

  bool weights() const { return weights_; }
  /// The rows of the queries from `first` on of a head, of lanes() numbers each: one for each key that they may see, or
  /// the maxima and, behind them, the shares.
  Real* rows(std::int64_t head, std::int64_t first) { return numbers_.mutable_data() + at(head, first); }
  const Real* rows(std::int64_t head, std::int64_t first) const { return numbers_.data() + at(head, first); }

 private:
  std::int64_t at(std::int64_t head, std::int64_t first) const {
    return (head * blocks_ + first / lanes_) * rows_ * lanes_;
  }

  std::int64_t lanes_ = 1, blocks_ = 0, rows_ = 0;
  bool weights_ = false;
  Array numbers_;
};

/// y = dropout(softmax(scale q k' + bias)) v, which is not empty; fills `kept` for the backward pass, if given.
void attention_forward(const AttentionSizes& p, const AttentionOperands<const Real>& in, const KeyRanges& keys,
                       const WeightDropout& dropout, Real* y, KeptAttention* kept);

/// Writes the gradients of q, k and v, and if asked adds those of the scores to (B, H, T, S) zeros. y is not empty.
void attention_backward(const AttentionSizes& p, const Real* gy, const AttentionOperands<const Real>& in,
                        const AttentionOperands<Real>& out, const KeptAttention& kept, const KeyRanges& keys,
                        const WeightDropout& dropout, Real* score_gradients);

/// a b, or a' b, over leading axes, where the factors of an entry 0 of a take no part, NaN and infinities included.
enum class LeftFactor { as_it_is, transposed };
Array careful_products(const Array& a, const Array& b, LeftFactor left);

}  // namespace xgrad
