// Linear attention: the softmax replaced by a product of features, so that keys and values are summed once for all
// queries (Katharopoulos et al., "Transformers are RNNs", 2020). Time and memory grow with the length, not its square.
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
/// The sums are over all keys s, or when causal over s <= t: then the sequence is cut into pieces. Within a piece the
/// weights are computed; all earlier pieces are one sum. H heads are neighbours in the last axis.
/// q (B, T, H d), k (B, S, H d), v (B, S, H e) -> (B, T, H e). A query that attends to no key gives 0. Throws
/// ShapeError when shapes do not fit or causal queries are not as many as keys, ValueError when widths do not divide by
/// H or for a length outside [0, S].
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        const LinearAttentionFuncOptions& options = {});

namespace plain {
/// The formula with all T S weights phi(q_t) phi(k_s)', as run under Plain.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        const LinearAttentionFuncOptions& options = {});
}  // namespace plain

/// The state of causal linear attention after some positions: a recurrence of fixed size.
///
///     sums_t = sums_(t-1) + phi(k_t)' (v_t, 1),      y_t = the quotient of phi(q_t) sums_t's columns and its last
struct LinearAttentionState {
  Tensor sums;  ///< (B, H, d, e + 1); undefined before the first position

  /// Row rows[i] of the batch becomes row i. Throws ValueError for a row that does not exist.
  void select(const Index& rows);
};

/// The next T positions of a sequence, q, k (B, T, H d), v (B, T, H e) -> (B, T, H e), which see those before and each
/// other causally; the state grows by them. Throws as above, and ShapeError for a state of other sizes.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v, std::int64_t heads,
                        LinearAttentionState& past);

}  // namespace xgrad
