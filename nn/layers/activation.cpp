// Names of functions, and defaults of those of a tensor and a number, looked up by address.
#include "activation.h"

#include <utility>

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"

namespace xgrad::nn {

Activation::Activation(Tensor (*f)(const Tensor&, double)) : name_(name_of(f)) {
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
  // clang-format off
#define XGRAD_UNARY(function) {any(Unary(&function)), #function}
  const std::pair<AnyFunction, std::string_view> names[]{
      XGRAD_UNARY(relu), XGRAD_UNARY(relu6), XGRAD_UNARY(sigmoid), XGRAD_UNARY(logsigmoid), XGRAD_UNARY(hardsigmoid),
      XGRAD_UNARY(tanh), XGRAD_UNARY(tanhshrink), XGRAD_UNARY(silu), XGRAD_UNARY(mish), XGRAD_UNARY(selu),
      XGRAD_UNARY(softplus), XGRAD_UNARY(softsign), XGRAD_UNARY(hardswish), XGRAD_UNARY(exp), XGRAD_UNARY(expm1),
      XGRAD_UNARY(exp2), XGRAD_UNARY(log), XGRAD_UNARY(log1p), XGRAD_UNARY(log2), XGRAD_UNARY(log10),
      XGRAD_UNARY(sqrt), XGRAD_UNARY(rsqrt), XGRAD_UNARY(square), XGRAD_UNARY(reciprocal), XGRAD_UNARY(neg),
      XGRAD_UNARY(abs), XGRAD_UNARY(sign), XGRAD_UNARY(erf), XGRAD_UNARY(sin), XGRAD_UNARY(cos),
      {any(&gelu), "gelu"}, {any(&elu), "elu"},
      {any(&celu), "celu"}, {any(&hardshrink), "hardshrink"}, {any(&softshrink), "softshrink"},
      {any(&leaky_relu), "leaky_relu"}, {any(&hardtanh), "hardtanh"}, {any(&nan_to_num), "nan_to_num"},
  };
#undef XGRAD_UNARY
  // clang-format on
  for (const auto& [function, name] : names) {
    if (function == f) return name;
  }
  return {};
}

}  // namespace xgrad::nn
