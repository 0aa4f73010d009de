// Attention under masks drawn at random, against softmax and products with the mask written out, for both precisions.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <xgrad/ops/network/attention.h>
#include <xgrad/ops/ops.h>

#include "support/check.h"

namespace xgrad::testing {

/// `mask` (without its bias) for every batch, query and key, by its definition: true where nothing is seen.
inline Mask written_out(const AttentionMask& mask, std::int64_t B, std::int64_t T, std::int64_t S) {
  Mask blocked(Shape{B, 1, T, S});
  bool* out = blocked.mutable_data();
  for (std::int64_t b = 0; b < B; ++b) {
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t s = 0; s < S; ++s) {
        bool open = !mask.causal || s <= t;
        if (mask.band) open &= t - s <= mask.band->before && s - t <= mask.band->after;
        if (mask.lengths) open &= s < (mask.lengths->rank() == 2 ? mask.lengths->at({b, t}) : mask.lengths->at({b}));
        *out++ = !open;
      }
    }
  }
  return blocked;
}

/// The heads of an attention, and their columns.
struct HeadSizes {
  std::int64_t d = 3, H = 2;
};

/// Values and gradients of multi_head_attention under this mask are those of softmax and products.
inline void check_against_softmax(const AttentionMask& mask, std::int64_t B, std::int64_t T, std::int64_t S,
                                  double tolerance, Real p = 0, const HeadSizes& sizes = {}) {
  const auto [d, H] = sizes;
  const auto heads = [&sizes, B](const Tensor& x) {
    return transpose(reshape(x, {B, x.dim(1), sizes.H, sizes.d}), 1, 2);
  };
  const Tensor q = variable(normal({B, T, H * d}, 1)), k = variable(normal({B, S, H * d}, 2)),
               v = variable(normal({B, S, H * d}, 3));
  const Tensor scores = matmul(heads(q), heads(k), {.transpose_b = true}) / std::sqrt(Real(d));
  const Tensor all = softmax(masked_fill(scores, written_out(mask, B, T, S), -std::numeric_limits<Real>::infinity()));
  const RandomKey key{3, 4};
  const Tensor weights = dropout(all, p, key);
  const Tensor expected = reshape(transpose(matmul(weights, heads(v)), 1, 2), {B, T, H * d});
  const Tensor y = multi_head_attention(q, k, v, H, {.mask = mask, .dropout = p, .key = key});
  check_close(y.value(), expected.value(), tolerance);
  const Tensor seed(normal(y.shape(), 4));
  const Tensors wanted = grad(expected, {q, k, v}, {.seed = seed});
  const Tensors kernel = grad(y, {q, k, v}, {.seed = seed, .retain_graph = true});
  const Tensors composed = grad(y, {q, k, v}, {.seed = seed, .create_graph = true});
  for (std::size_t i = 0; i < 3; ++i) {
    check_close(kernel[i].value(), wanted[i].value(), tolerance);
    check_close(composed[i].value(), wanted[i].value(), tolerance);
  }
}

/// The largest sizes to draw.
struct MostSequences {
  std::int64_t batches = 3, positions = 70;
};

/// The same for masks drawn at random: bands and lengths of all kinds, also those that leave queries without keys.
inline void check_random_masks(int count, double tolerance, const HeadSizes& sizes = {},
                               const MostSequences& most = {}) {
  std::mt19937 draw(5);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(draw()) % n; };
  for (int i = 0; i < count; ++i) {
    const std::int64_t B = 1 + below(most.batches), T = 1 + below(most.positions);
    const std::int64_t S = below(3) > 0 ? T : 1 + below(most.positions);
    AttentionMask mask{.causal = below(2) == 0};
    const auto side = [&] {
      return below(3) == 0 ? std::numeric_limits<std::int64_t>::max() - below(2) : below(T + 2);
    };
    if (below(4) > 0) mask.band = below(4) == 0 ? AttentionBand{} : AttentionBand{.before = side(), .after = side()};
    if (const std::int64_t kind = below(4); kind > 0) {
      mask.lengths = Index(kind == 1 ? Shape{B} : Shape{B, T}, S);
      for (std::int64_t j = 0; j < mask.lengths->size(); ++j) {
        if (below(3) > 0) mask.lengths->mutable_data()[j] = kind == 2 ? 0 : below(S + 1);
      }
    }
    const AttentionBand band = mask.band.value_or(AttentionBand{-1, -1});
    CAPTURE(str("case ", i, ": B ", B, ", T ", T, ", S ", S, ", band ", band.before, " and ", band.after,
                mask.causal ? ", causal" : "", mask.lengths ? str(", lengths ", *mask.lengths) : ""));
    check_against_softmax(mask, B, T, S, tolerance, i % 3 == 0 ? Real(0.3) : 0, sizes);
  }
}

}  // namespace xgrad::testing
