// Losses as modules, under PyTorch's names: each object stores the options of a loss.
//
//     const nn::CrossEntropyLoss criterion{nn::root, {.label_smoothing = 0.1}};
//     criterion(logits, ids).backward();
//
// Each calls the function that its comment names, from ops/losses/loss.h or ops/losses/distance_loss.h, and throws the
// same errors.
#pragma once

#include "../../ops/losses/distance_loss.h"
#include "../../ops/losses/loss.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {
using CrossEntropyOfClasses = Tensor (*)(const Tensor&, const Index&, const CrossEntropyOptions&);
}  // namespace detail

/// See cross_entropy with class ids as targets.
using CrossEntropyLoss =
    detail::FunctionLayer<"CrossEntropyLoss", static_cast<detail::CrossEntropyOfClasses>(cross_entropy),
                          CrossEntropyOptions>;
/// See nll_loss.
using NLLLoss = detail::FunctionLayer<"NLLLoss", nll_loss, NllLossOptions>;
/// See binary_cross_entropy.
using BCELoss = detail::FunctionLayer<"BCELoss", binary_cross_entropy, BinaryCrossEntropyOptions>;
/// See binary_cross_entropy_with_logits.
using BCEWithLogitsLoss =
    detail::FunctionLayer<"BCEWithLogitsLoss", binary_cross_entropy_with_logits, BinaryCrossEntropyWithLogitsOptions>;
/// See kl_div.
using KLDivLoss = detail::FunctionLayer<"KLDivLoss", kl_div, KlDivOptions>;
/// See gaussian_nll_loss.
using GaussianNLLLoss = detail::FunctionLayer<"GaussianNLLLoss", gaussian_nll_loss, GaussianNllLossOptions>;
/// See mse_loss.
using MSELoss = detail::FunctionLayer<"MSELoss", mse_loss, LossOptions>;
/// See l1_loss.
using L1Loss = detail::FunctionLayer<"L1Loss", l1_loss, LossOptions>;
/// See smooth_l1_loss.
using SmoothL1Loss = detail::FunctionLayer<"SmoothL1Loss", smooth_l1_loss, SmoothL1LossOptions>;
/// See huber_loss.
using HuberLoss = detail::FunctionLayer<"HuberLoss", huber_loss, HuberLossOptions>;
/// See triplet_margin_loss.
using TripletMarginLoss = detail::FunctionLayer<"TripletMarginLoss", triplet_margin_loss, TripletMarginLossOptions>;

}  // namespace xgrad::nn
