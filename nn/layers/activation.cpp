// Names of functions, looked up by address.
#include "activation.h"

#include <utility>

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/arithmetic.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/network/softmax.h"

namespace xgrad::nn {

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
      {any(&gelu), "gelu"}, {any(&leaky_relu), "leaky_relu"}, {any(&hardtanh), "hardtanh"}, {any(&nan_to_num), "nan_to_num"},
  };
#undef XGRAD_UNARY
  // clang-format on
  for (const auto& [function, name] : names) {
    if (function == f) return name;
  }
  return {};
}

}  // namespace xgrad::nn
