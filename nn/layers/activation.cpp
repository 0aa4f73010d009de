// Names of functions, and defaults of those of a tensor and a number, looked up by address.
#include "activation.h"

#include <array>
#include <utility>

#include "../../ops/elementwise/activations.h"
#include "../../ops/layers/softmax.h"

namespace xgrad::nn {

Activation::Activation(Tensor (*f)(const Tensor&, double)) : name_(name_of(f)) {
  refuse_empty(f);
  if (f == &elu) {
    f_ = [](const Tensor& x) { return elu(x); };
  } else if (f == &celu) {
    f_ = [](const Tensor& x) { return celu(x); };
  } else if (f == &hardshrink) {
    f_ = [](const Tensor& x) { return hardshrink(x); };
  } else if (f == &softshrink) {
    f_ = [](const Tensor& x) { return softshrink(x); };
  } else {
    fail<ValueError>("activation",
                     "this function of a tensor and a number has no default for the number: write a lambda");
  }
}

std::string_view Activation::name_of(AnyFunction f) {
  using Unary = Tensor (*)(const Tensor&);
  const auto any = [](auto* function) { return reinterpret_cast<AnyFunction>(function); };
  const std::array<std::pair<AnyFunction, std::string_view>, 27> names{{{any(Unary(&relu)), "relu"},
                                                                        {any(Unary(&relu6)), "relu6"},
                                                                        {any(Unary(&sigmoid)), "sigmoid"},
                                                                        {any(Unary(&logsigmoid)), "logsigmoid"},
                                                                        {any(Unary(&hardsigmoid)), "hardsigmoid"},
                                                                        {any(Unary(&tanh)), "tanh"},
                                                                        {any(Unary(&tanhshrink)), "tanhshrink"},
                                                                        {any(Unary(&silu)), "silu"},
                                                                        {any(Unary(&mish)), "mish"},
                                                                        {any(Unary(&selu)), "selu"},
                                                                        {any(Unary(&softplus)), "softplus"},
                                                                        {any(Unary(&softsign)), "softsign"},
                                                                        {any(Unary(&hardswish)), "hardswish"},
                                                                        {any(Unary(&exp)), "exp"},
                                                                        {any(Unary(&log)), "log"},
                                                                        {any(Unary(&sin)), "sin"},
                                                                        {any(Unary(&cos)), "cos"},
                                                                        {any(Unary(&abs)), "abs"},
                                                                        {any(Unary(&sqrt)), "sqrt"},
                                                                        {any(Unary(&square)), "square"},
                                                                        {any(&gelu), "gelu"},
                                                                        {any(&elu), "elu"},
                                                                        {any(&celu), "celu"},
                                                                        {any(&hardshrink), "hardshrink"},
                                                                        {any(&softshrink), "softshrink"},
                                                                        {any(&leaky_relu), "leaky_relu"},
                                                                        {any(&hardtanh), "hardtanh"}}};
  for (const auto& [function, name] : names) {
    if (function == f) return name;
  }
  return {};
}

}  // namespace xgrad::nn
