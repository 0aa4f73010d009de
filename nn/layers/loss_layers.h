// Losses as modules, under PyTorch's names: objects that keep the options of a loss.
//
//     const nn::CrossEntropyLoss criterion{nn::root, {.label_smoothing = 0.1}};
//     criterion(logits, ids).backward();
//
// Each is the function of ops/losses/loss.h, ops/losses/distance_loss.h or ops/losses/ctc_loss.h that its declaration
// names, and throws the same errors. Weights are buffers, as in PyTorch: they are saved with the module.
#pragma once

#include "../../ops/losses/ctc_loss.h"
#include "../../ops/losses/distance_loss.h"
#include "../../ops/losses/loss.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {
/// cross_entropy of probabilities as targets, too, with the same weight, smoothing and reduction. Throws ValueError for
/// probabilities with an ignore_index.
struct CrossEntropy {
  Tensor operator()(const Tensor& logits, const Index& targets, const CrossEntropyOptions& options) const {
    return cross_entropy(logits, targets, options);
  }
  Tensor operator()(const Tensor& logits, const Tensor& probabilities, const CrossEntropyOptions& options) const {
    if (options.ignore_index) {
      fail<ValueError>("cross_entropy", "ignore_index ", *options.ignore_index,
                       " is a class number, but the targets are probabilities");
    }
    return cross_entropy(
        logits, probabilities,
        {.weight = options.weight, .label_smoothing = options.label_smoothing, .reduction = options.reduction});
  }
};
}  // namespace detail

/// See cross_entropy: targets are class numbers or probabilities.
struct CrossEntropyLoss : detail::FunctionLayer<CrossEntropyLoss, detail::CrossEntropy{}, CrossEntropyOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See nll_loss.
struct NLLLoss : detail::FunctionLayer<NLLLoss, nll_loss, NllLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See binary_cross_entropy.
struct BCELoss : detail::FunctionLayer<BCELoss, binary_cross_entropy, BinaryCrossEntropyOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See binary_cross_entropy_with_logits.
struct BCEWithLogitsLoss
    : detail::FunctionLayer<BCEWithLogitsLoss, binary_cross_entropy_with_logits, BinaryCrossEntropyWithLogitsOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See kl_div.
struct KLDivLoss : detail::FunctionLayer<KLDivLoss, kl_div, KlDivOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See gaussian_nll_loss.
struct GaussianNLLLoss : detail::FunctionLayer<GaussianNLLLoss, gaussian_nll_loss, GaussianNllLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See poisson_nll_loss.
struct PoissonNLLLoss : detail::FunctionLayer<PoissonNLLLoss, poisson_nll_loss, PoissonNllLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See mse_loss.
struct MSELoss : detail::FunctionLayer<MSELoss, mse_loss, LossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See l1_loss.
struct L1Loss : detail::FunctionLayer<L1Loss, l1_loss, LossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See smooth_l1_loss.
struct SmoothL1Loss : detail::FunctionLayer<SmoothL1Loss, smooth_l1_loss, SmoothL1LossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See huber_loss.
struct HuberLoss : detail::FunctionLayer<HuberLoss, huber_loss, HuberLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See margin_ranking_loss.
struct MarginRankingLoss : detail::FunctionLayer<MarginRankingLoss, margin_ranking_loss, MarginRankingLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See hinge_embedding_loss.
struct HingeEmbeddingLoss : detail::FunctionLayer<HingeEmbeddingLoss, hinge_embedding_loss, HingeEmbeddingLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See cosine_embedding_loss.
struct CosineEmbeddingLoss
    : detail::FunctionLayer<CosineEmbeddingLoss, cosine_embedding_loss, CosineEmbeddingLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See triplet_margin_loss.
struct TripletMarginLoss : detail::FunctionLayer<TripletMarginLoss, triplet_margin_loss, TripletMarginLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See multi_margin_loss.
struct MultiMarginLoss : detail::FunctionLayer<MultiMarginLoss, multi_margin_loss, MultiMarginLossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See multilabel_margin_loss.
struct MultiLabelMarginLoss : detail::FunctionLayer<MultiLabelMarginLoss, multilabel_margin_loss, LossOptions> {
  using FunctionLayer::FunctionLayer;
};
/// See ctc_loss.
struct CTCLoss : detail::FunctionLayer<CTCLoss, ctc_loss, CtcLossOptions> {
  using FunctionLayer::FunctionLayer;
};

}  // namespace xgrad::nn
