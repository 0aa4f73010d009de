// Losses as modules, under PyTorch's names: objects that keep the options of a loss.
//
//     const nn::CrossEntropyLoss criterion{nn::root, {.label_smoothing = 0.1}};
//     criterion(logits, ids).backward();
//
// Each is the function of ops/losses/loss.h, ops/losses/distance_loss.h or ops/losses/ctc_loss.h that its comment
// names, and throws the same errors. Weights are buffers, as in PyTorch: they are saved with the module.
#pragma once

#include "../../ops/losses/ctc_loss.h"
#include "../../ops/losses/distance_loss.h"
#include "../../ops/losses/loss.h"
#include "../layer.h"

namespace xgrad::nn {
namespace detail {

/// A loss whose options have a weight, which is a buffer.
template <class Self, class OptionsOf>
class WeightedLoss : public LayerCall<Self> {
 public:
  using Options = OptionsOf;

  explicit WeightedLoss(At here, const Options& given = {}) : LayerCall<Self>(std::move(here)), options(keep(given)) {}
  template <class... Rest>
  explicit WeightedLoss(Module::Placeless, const Rest&...);

  const Options options;

 private:
  Options keep(Options given) {
    if (given.weight.defined()) given.weight = this->buffer("weight", given.weight.value());
    if constexpr (requires { given.pos_weight; }) {
      if (given.pos_weight.defined()) given.pos_weight = this->buffer("pos_weight", given.pos_weight.value());
    }
    return given;
  }
};

}  // namespace detail

/// See cross_entropy.
struct CrossEntropyLoss : detail::WeightedLoss<CrossEntropyLoss, CrossEntropyOptions> {
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& logits, const Index& targets) const { return cross_entropy(logits, targets, options); }
  /// With probabilities as targets: the same weight, smoothing and reduction. Throws ValueError for an ignore_index.
  Tensor forward(const Tensor& logits, const Tensor& probabilities) const {
    if (options.ignore_index) {
      fail<ValueError>("cross_entropy", "ignore_index ", *options.ignore_index,
                       " is a class number, but the targets are probabilities");
    }
    return cross_entropy(
        logits, probabilities,
        {.weight = options.weight, .label_smoothing = options.label_smoothing, .reduction = options.reduction});
  }
};

/// See nll_loss.
struct NLLLoss : detail::WeightedLoss<NLLLoss, NllLossOptions> {
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& log_p, const Index& targets) const { return nll_loss(log_p, targets, options); }
};

/// See binary_cross_entropy.
struct BCELoss : detail::WeightedLoss<BCELoss, BinaryCrossEntropyOptions> {
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& p, const Tensor& target) const { return binary_cross_entropy(p, target, options); }
};

/// See binary_cross_entropy_with_logits.
struct BCEWithLogitsLoss : detail::WeightedLoss<BCEWithLogitsLoss, BinaryCrossEntropyWithLogitsOptions> {
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& logits, const Tensor& target) const {
    return binary_cross_entropy_with_logits(logits, target, options);
  }
};

/// See kl_div.
struct KLDivLoss : Layer<KLDivLoss, KlDivOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& log_prediction, const Tensor& target) const {
    return kl_div(log_prediction, target, options);
  }
};

/// See gaussian_nll_loss.
struct GaussianNLLLoss : Layer<GaussianNLLLoss, GaussianNllLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x, const Tensor& target, const Tensor& variance) const {
    return gaussian_nll_loss(x, target, variance, options);
  }
};

/// See poisson_nll_loss.
struct PoissonNLLLoss : Layer<PoissonNLLLoss, PoissonNllLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x, const Tensor& target) const { return poisson_nll_loss(x, target, options); }
};

/// See mse_loss.
struct MSELoss : Layer<MSELoss, LossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& prediction, const Tensor& target) const { return mse_loss(prediction, target, options); }
};

/// See l1_loss.
struct L1Loss : Layer<L1Loss, LossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& prediction, const Tensor& target) const { return l1_loss(prediction, target, options); }
};

/// See smooth_l1_loss.
struct SmoothL1Loss : Layer<SmoothL1Loss, SmoothL1LossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& prediction, const Tensor& target) const {
    return smooth_l1_loss(prediction, target, options);
  }
};

/// See huber_loss.
struct HuberLoss : Layer<HuberLoss, HuberLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& prediction, const Tensor& target) const {
    return huber_loss(prediction, target, options);
  }
};

/// See margin_ranking_loss.
struct MarginRankingLoss : Layer<MarginRankingLoss, MarginRankingLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& a, const Tensor& b, const Tensor& y) const {
    return margin_ranking_loss(a, b, y, options);
  }
};

/// See hinge_embedding_loss.
struct HingeEmbeddingLoss : Layer<HingeEmbeddingLoss, HingeEmbeddingLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x, const Tensor& y) const { return hinge_embedding_loss(x, y, options); }
};

/// See cosine_embedding_loss.
struct CosineEmbeddingLoss : Layer<CosineEmbeddingLoss, CosineEmbeddingLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& a, const Tensor& b, const Tensor& y) const {
    return cosine_embedding_loss(a, b, y, options);
  }
};

/// See triplet_margin_loss.
struct TripletMarginLoss : Layer<TripletMarginLoss, TripletMarginLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const {
    return triplet_margin_loss(anchor, positive, negative, options);
  }
};

/// See multi_margin_loss.
struct MultiMarginLoss : detail::WeightedLoss<MultiMarginLoss, MultiMarginLossOptions> {
  using WeightedLoss::WeightedLoss;
  Tensor forward(const Tensor& x, const Index& targets) const { return multi_margin_loss(x, targets, options); }
};

/// See multilabel_margin_loss.
struct MultiLabelMarginLoss : Layer<MultiLabelMarginLoss, LossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x, const Index& targets) const { return multilabel_margin_loss(x, targets, options); }
};

/// See ctc_loss.
struct CTCLoss : Layer<CTCLoss, CtcLossOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& log_probs, const Index& targets, const Index& input_lengths,
                 const Index& target_lengths) const {
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, options);
  }
};

}  // namespace xgrad::nn
