// The model: two vectors for every word, one as the word in the middle and one as its neighbour.
#pragma once

#include <cmath>

#include <xgrad/xgrad.h>

namespace word_vectors {

using namespace xgrad;

/// The probability that `other` is a neighbour of `center` is sigmoid(u_other' v_center).
struct SkipGram : nn::Module {
  nn::Embedding center, context;

  SkipGram(std::int64_t words, std::int64_t dim)
      : center(at("center"), words, dim, {.init = nn::init::uniform({-0.5 / std::sqrt(dim), 0.5 / std::sqrt(dim)})}),
        context(at("context"), words, dim, {.init = nn::init::zeros()}) {}

  Tensor operator()(const Index& centers, const Index& others) const {  // (B), (B, 1 + K)
    const Tensor v = unsqueeze(center(centers), 2);                     // (B, d, 1)
    return squeeze(matmul(context(others), v), {2});                    // logits (B, 1 + K)
  }

  /// -ln sigmoid(u_0' v) - sum_k ln sigmoid(-u_k' v), the mean over the batch: the first of the others is a neighbour,
  /// the K behind it were drawn at random.
  Tensor loss(const Index& centers, const Index& others) const {
    Array is_neighbour(others.shape(), Real(0));
    is_neighbour[{_, 0}] = 1;
    const Tensor logits = (*this)(centers, others);
    const Tensor targets = Tensor(is_neighbour).named("is a neighbour");
    return binary_cross_entropy_with_logits(logits, targets, {.reduction = Reduction::sum}) / others.dim(0);
  }
};

}  // namespace word_vectors
