// What a Trainer makes gradients from, and how.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>

#include <xgrad/core/graph/tensor.h>

namespace xgrad::kit {

/// An integer or a real number.
struct Amount {
  template <class Number>
  requires std::is_arithmetic_v<Number> Amount(Number number) : value(static_cast<double>(number)) {}
  double value;
};

/// A loss that is a mean, and its weight in the mean over several of them: the number of its samples or tokens.
struct WeightedLoss {
  Tensor loss;
  Amount weight = 1;
};

/// A loss with its weight, and its gradients by the parameters of an optimizer, in their order.
struct LossGradients {
  double loss = 0, weight = 0;
  Tensors gradients = {};
};

/// Makes the gradients of batch `number` of a training, from 0 on: calls `loss`, which runs the model, and
/// differentiates what it returns.
using GradientFunction = std::function<LossGradients(std::int64_t number, const std::function<WeightedLoss()>& loss)>;

}  // namespace xgrad::kit
