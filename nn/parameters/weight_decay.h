// WeightDecayRule: a rule that says which parameters have no weight decay.
//
//     optim::AdamW adam{optim::parameter_groups<optim::AdamWOptions>(
//         model.parameters(), {{nn::without_weight_decay(model), {.lr = 3e-4, .weight_decay = 0}}},
//         {.lr = 3e-4, .weight_decay = 0.1})};
#pragma once

#include <functional>

#include "../module.h"

namespace xgrad::nn {

/// A predicate on parameters, for optim::parameter_groups.
using WeightDecayRule = std::function<bool(const Tensor& parameter)>;

/// The usual rule: true for parameters without weight decay, because smaller values do not make the function simpler.
/// These are the parameters of norms, embeddings, learned positions and class tokens, biases, and all others with fewer
/// than two axes. A layer marks its parameters with Decay::no. An embedding that is also the head of its model counts
/// as an embedding. The rule stores the parameters, not the model.
WeightDecayRule without_weight_decay(const Module& model);

}  // namespace xgrad::nn
