// Linear attention: a product of features replaces the softmax, so that keys and values are summed once for all queries
// (Katharopoulos et al., "Transformers are RNNs", 2020). Time and memory are linear in the length, not quadratic.
#pragma once

#include <optional>

#include "../../core/graph/tensor.h"

namespace xgrad {

struct LinearAttentionFuncOptions {
  bool causal = false;             ///< query t attends only to keys 0 ... t
  std::optional<Index> lengths{};  ///< the number of valid keys, from the first: (B)
};

/// y_t = phi(q_t) sum_s phi(k_s)' v_s / phi(q_t) sum_s phi(k_s)',      phi(x) = elu(x) + 1
///
/// The sums are over all keys s, or over s <= t when causal. Causal attention cuts the sequence into pieces: it
/// computes weights within a piece, and one sum for all earlier pieces. The H heads are concatenated in the last axis.
/// q (B, T, H d), k (B, S, H d), v (B, S, H e) -> (B, T, H e). A query that attends to no key gives 0. Throws
/// ShapeError when shapes do not fit, or when T differs from S in causal attention; ValueError when a width is not a
/// multiple of H or for a length outside [0, S].
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        const LinearAttentionFuncOptions& options = {});

namespace plain {
/// Unfused linear attention, with all T S weights phi(q_t) phi(k_s)'. It runs under Plain.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        const LinearAttentionFuncOptions& options = {});
}  // namespace plain

/// The state of causal linear attention after the positions so far. Its size is fixed.
///
///     sums_t = sums_(t-1) + phi(k_t)' (v_t, 1),      y_t = the first e columns of phi(q_t) sums_t, divided by the last
struct LinearAttentionState {
  Tensor sums;  ///< (B, H, d, e + 1); undefined before the first position

  /// Reorders the batch: row i becomes the old row rows[i]. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// Causal attention of the next T positions to all positions so far, and to each other: q, k (B, T, H d), v (B, T, H e)
/// -> (B, T, H e). Adds the T positions to the state. Throws as above, and ShapeError for a state of other sizes.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        LinearAttentionState& past);

}  // namespace xgrad
