// Losses as modules.
#include "loss_layers.h"

namespace xgrad::nn {

CrossEntropyLoss::CrossEntropyLoss(At here, const Options& given)
    : Module(std::move(here)), options([&] {
        Options kept = given;
        if (given.weight.defined()) kept.weight = buffer("weight", given.weight.value());
        return kept;
      }()) {}

Tensor CrossEntropyLoss::operator()(const Tensor& logits, const Index& targets) const {
  const auto here = enter(logits, targets);
  return here(cross_entropy(logits, targets, options));
}

Tensor CrossEntropyLoss::operator()(const Tensor& logits, const Tensor& probabilities) const {
  const auto here = enter(logits, probabilities);
  return here(cross_entropy(
      logits, probabilities,
      {.weight = options.weight, .label_smoothing = options.label_smoothing, .reduction = options.reduction}));
}

NLLLoss::NLLLoss(At here, const Options& given)
    : Module(std::move(here)), options([&] {
        Options kept = given;
        if (given.weight.defined()) kept.weight = buffer("weight", given.weight.value());
        return kept;
      }()) {}

Tensor NLLLoss::operator()(const Tensor& log_p, const Index& targets) const {
  const auto here = enter(log_p, targets);
  return here(nll_loss(log_p, targets, options));
}

BCELoss::BCELoss(At here, const Options& given)
    : Module(std::move(here)), options([&] {
        Options kept = given;
        if (given.weight.defined()) kept.weight = buffer("weight", given.weight.value());
        return kept;
      }()) {}

Tensor BCELoss::operator()(const Tensor& p, const Tensor& target) const {
  const auto here = enter(p, target);
  return here(binary_cross_entropy(p, target, options));
}

BCEWithLogitsLoss::BCEWithLogitsLoss(At here, const Options& given)
    : Module(std::move(here)), options([&] {
        Options kept = given;
        if (given.weight.defined()) kept.weight = buffer("weight", given.weight.value());
        if (given.pos_weight.defined()) kept.pos_weight = buffer("pos_weight", given.pos_weight.value());
        return kept;
      }()) {}

Tensor BCEWithLogitsLoss::operator()(const Tensor& logits, const Tensor& target) const {
  const auto here = enter(logits, target);
  return here(binary_cross_entropy_with_logits(logits, target, options));
}

Tensor KLDivLoss::operator()(const Tensor& log_prediction, const Tensor& target) const {
  const auto here = enter(log_prediction, target);
  return here(kl_div(log_prediction, target, options));
}

Tensor GaussianNLLLoss::operator()(const Tensor& x, const Tensor& target, const Tensor& variance) const {
  const auto here = enter(x, target, variance);
  return here(gaussian_nll_loss(x, target, variance, options));
}

Tensor PoissonNLLLoss::operator()(const Tensor& x, const Tensor& target) const {
  const auto here = enter(x, target);
  return here(poisson_nll_loss(x, target, options));
}

Tensor MSELoss::operator()(const Tensor& prediction, const Tensor& target) const {
  const auto here = enter(prediction, target);
  return here(mse_loss(prediction, target, options));
}

Tensor L1Loss::operator()(const Tensor& prediction, const Tensor& target) const {
  const auto here = enter(prediction, target);
  return here(l1_loss(prediction, target, options));
}

Tensor SmoothL1Loss::operator()(const Tensor& prediction, const Tensor& target) const {
  const auto here = enter(prediction, target);
  return here(smooth_l1_loss(prediction, target, options));
}

Tensor HuberLoss::operator()(const Tensor& prediction, const Tensor& target) const {
  const auto here = enter(prediction, target);
  return here(huber_loss(prediction, target, options));
}

Tensor MarginRankingLoss::operator()(const Tensor& a, const Tensor& b, const Tensor& y) const {
  const auto here = enter(a, b, y);
  return here(margin_ranking_loss(a, b, y, options));
}

Tensor HingeEmbeddingLoss::operator()(const Tensor& x, const Tensor& y) const {
  const auto here = enter(x, y);
  return here(hinge_embedding_loss(x, y, options));
}

Tensor CosineEmbeddingLoss::operator()(const Tensor& a, const Tensor& b, const Tensor& y) const {
  const auto here = enter(a, b, y);
  return here(cosine_embedding_loss(a, b, y, options));
}

Tensor TripletMarginLoss::operator()(const Tensor& anchor, const Tensor& positive, const Tensor& negative) const {
  const auto here = enter(anchor, positive, negative);
  return here(triplet_margin_loss(anchor, positive, negative, options));
}

MultiMarginLoss::MultiMarginLoss(At here, const Options& given)
    : Module(std::move(here)), options([&] {
        Options kept = given;
        if (given.weight.defined()) kept.weight = buffer("weight", given.weight.value());
        return kept;
      }()) {}

Tensor MultiMarginLoss::operator()(const Tensor& x, const Index& targets) const {
  const auto here = enter(x, targets);
  return here(multi_margin_loss(x, targets, options));
}

Tensor MultiLabelMarginLoss::operator()(const Tensor& x, const Index& targets) const {
  const auto here = enter(x, targets);
  return here(multilabel_margin_loss(x, targets, options));
}

Tensor CTCLoss::operator()(const Tensor& log_probs, const Index& targets, const Index& input_lengths,
                           const Index& target_lengths) const {
  const auto here = enter(log_probs, targets, input_lengths, target_lengths);
  return here(ctc_loss(log_probs, targets, input_lengths, target_lengths, options));
}

}  // namespace xgrad::nn
