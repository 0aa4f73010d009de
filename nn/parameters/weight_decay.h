// Parameters without weight decay.
//
//     optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
//         model.parameters(), {{nn::without_weight_decay(model), {.lr = 3e-4, .weight_decay = 0}}},
//         {.lr = 3e-4, .weight_decay = 0.1})};
#pragma once

#include <functional>

#include "../module.h"

namespace xgrad::nn {

/// A predicate on parameters, as optim::parameter_groups takes it.
using WeightDecayRule = std::function<bool(const Tensor& parameter)>;

/// The usual rule: true for the parameters of a model without weight decay, because shrinking them does not make the
/// function simpler: those of norms, of embeddings, learned positions and class tokens, biases, and all others that are
/// no matrices. Layers decide: by declaring a parameter with Decay::no, or one of less than two axes. An embedding that
/// is the head of its model, too, counts as an embedding. The rule holds the parameters themselves, not the model.
WeightDecayRule without_weight_decay(const Module& model);

}  // namespace xgrad::nn
