// Losses as modules, under PyTorch's names: what a program keeps beside its model, with the options that it was made
// with.
//
//     const nn::CrossEntropyLoss criterion{nn::root, {.label_smoothing = 0.1}};
//     criterion(logits, ids).backward();
//
// Each is the function of ops/losses/loss.h, ops/losses/distance_loss.h or ops/losses/ctc_loss.h that its comment
// names, and throws what that throws. Weights are buffers, as in PyTorch: they are saved with the module.
#pragma once

#include "../../ops/losses/ctc_loss.h"
#include "../../ops/losses/distance_loss.h"
#include "../../ops/losses/loss.h"
#include "../module.h"

namespace xgrad::nn {

/// See cross_entropy.
struct CrossEntropyLoss : Module {
  using Options = CrossEntropyOptions;

  explicit CrossEntropyLoss(At here, const Options& given = {});
  explicit CrossEntropyLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& logits, const Index& targets) const;
  /// With probabilities as targets: the same weight, smoothing and reduction.
  Tensor operator()(const Tensor& logits, const Tensor& probabilities) const;

  const Options options;
};

/// See nll_loss.
struct NLLLoss : Module {
  using Options = NllLossOptions;

  explicit NLLLoss(At here, const Options& given = {});
  explicit NLLLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& log_p, const Index& targets) const;

  const Options options;
};

/// See binary_cross_entropy.
struct BCELoss : Module {
  using Options = BinaryCrossEntropyOptions;

  explicit BCELoss(At here, const Options& given = {});
  explicit BCELoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& p, const Tensor& target) const;

  const Options options;
};

/// See binary_cross_entropy_with_logits.
struct BCEWithLogitsLoss : Module {
  using Options = BinaryCrossEntropyWithLogitsOptions;

  explicit BCEWithLogitsLoss(At here, const Options& given = {});
  explicit BCEWithLogitsLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& logits, const Tensor& target) const;

  const Options options;
};

/// See kl_div.
struct KLDivLoss : Module {
  using Options = KlDivOptions;

  explicit KLDivLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit KLDivLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& log_prediction, const Tensor& target) const;

  const Options options;
};

/// See gaussian_nll_loss.
struct GaussianNLLLoss : Module {
  using Options = GaussianNllLossOptions;

  explicit GaussianNLLLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit GaussianNLLLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x, const Tensor& target, const Tensor& variance) const;

  const Options options;
};

/// See poisson_nll_loss.
struct PoissonNLLLoss : Module {
  using Options = PoissonNllLossOptions;

  explicit PoissonNLLLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit PoissonNLLLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x, const Tensor& target) const;

  const Options options;
};

/// See mse_loss.
struct MSELoss : Module {
  using Options = LossOptions;

  explicit MSELoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit MSELoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& prediction, const Tensor& target) const;

  const Options options;
};

/// See l1_loss.
struct L1Loss : Module {
  using Options = LossOptions;

  explicit L1Loss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit L1Loss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& prediction, const Tensor& target) const;

  const Options options;
};

/// See smooth_l1_loss.
struct SmoothL1Loss : Module {
  using Options = SmoothL1LossOptions;

  explicit SmoothL1Loss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit SmoothL1Loss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& prediction, const Tensor& target) const;

  const Options options;
};

/// See huber_loss.
struct HuberLoss : Module {
  using Options = HuberLossOptions;

  explicit HuberLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit HuberLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& prediction, const Tensor& target) const;

  const Options options;
};

/// See margin_ranking_loss.
struct MarginRankingLoss : Module {
  using Options = MarginRankingLossOptions;

  explicit MarginRankingLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit MarginRankingLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& y) const;

  const Options options;
};

/// See hinge_embedding_loss.
struct HingeEmbeddingLoss : Module {
  using Options = HingeEmbeddingLossOptions;

  explicit HingeEmbeddingLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit HingeEmbeddingLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x, const Tensor& y) const;

  const Options options;
};

/// See cosine_embedding_loss.
struct CosineEmbeddingLoss : Module {
  using Options = CosineEmbeddingLossOptions;

  explicit CosineEmbeddingLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit CosineEmbeddingLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& a, const Tensor& b, const Tensor& y) const;

  const Options options;
};

/// See triplet_margin_loss.
struct TripletMarginLoss : Module {
  using Options = TripletMarginLossOptions;

  explicit TripletMarginLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit TripletMarginLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const;

  const Options options;
};

/// See multi_margin_loss.
struct MultiMarginLoss : Module {
  using Options = MultiMarginLossOptions;

  explicit MultiMarginLoss(At here, const Options& given = {});
  explicit MultiMarginLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x, const Index& targets) const;

  const Options options;
};

/// See multilabel_margin_loss.
struct MultiLabelMarginLoss : Module {
  using Options = LossOptions;

  explicit MultiLabelMarginLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit MultiLabelMarginLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x, const Index& targets) const;

  const Options options;
};

/// See ctc_loss.
struct CTCLoss : Module {
  using Options = CtcLossOptions;

  explicit CTCLoss(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit CTCLoss(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& log_probs, const Index& targets, const Index& input_lengths,
                    const Index& target_lengths) const;

  const Options options;
};

}  // namespace xgrad::nn
