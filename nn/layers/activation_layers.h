// Activations as layers, under PyTorch's names, for Sequential and other places that take a layer. Each layer calls the
// function with its name and throws the same errors. The functions are in ops/elementwise/elementwise.h,
// ops/elementwise/activations.h and ops/network/softmax.h.
#pragma once

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/network/softmax.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {
/// Selects the overload for tensors: some functions also have one for registers.
constexpr auto of_tensors(Tensor (*function)(const Tensor&)) { return function; }
}  // namespace detail

/// y = max(x, 0)
using ReLU = detail::FunctionLayer<"ReLU", relu>;
/// y = min(max(x, 0), 6)
using ReLU6 = detail::FunctionLayer<"ReLU6", relu6>;
/// y = selu(x)
using SELU = detail::FunctionLayer<"SELU", selu>;
/// y = x sigmoid(x)
using SiLU = detail::FunctionLayer<"SiLU", silu>;
/// y = x tanh(softplus(x))
using Mish = detail::FunctionLayer<"Mish", mish>;
/// y = 1/(1 + e^-x)
using Sigmoid = detail::FunctionLayer<"Sigmoid", detail::of_tensors(sigmoid)>;
/// y = ln sigmoid(x)
using LogSigmoid = detail::FunctionLayer<"LogSigmoid", logsigmoid>;
/// y = relu6(x + 3)/6
using Hardsigmoid = detail::FunctionLayer<"Hardsigmoid", hardsigmoid>;
/// y = x relu6(x + 3)/6
using Hardswish = detail::FunctionLayer<"Hardswish", hardswish>;
/// y = tanh x
using Tanh = detail::FunctionLayer<"Tanh", detail::of_tensors(tanh)>;
/// y = x - tanh x
using Tanhshrink = detail::FunctionLayer<"Tanhshrink", tanhshrink>;
/// y = x / (1 + |x|)
using Softsign = detail::FunctionLayer<"Softsign", softsign>;
/// y = ln(1 + e^x)
using Softplus = detail::FunctionLayer<"Softplus", softplus>;
/// y = a sigmoid(b), where a and b are the first and the second half of x along the axis
using GLU = detail::FunctionLayer<"GLU", glu, detail::AxisArgument>;
/// y_i = e^x_i / sum_j e^x_j along the axis
using Softmax = detail::FunctionLayer<"Softmax", softmax, detail::AxisArgument>;
/// y_i = x_i - ln sum_j e^x_j along the axis
using LogSoftmax = detail::FunctionLayer<"LogSoftmax", log_softmax, detail::AxisArgument>;

/// y = x if |x| > lambda, else 0
using Hardshrink = detail::FunctionLayer<"Hardshrink", hardshrink, detail::NumberArgument<1>>;
/// y = sign(x) (|x| - lambda) if |x| > lambda, else 0
using Softshrink = detail::FunctionLayer<"Softshrink", softshrink, detail::NumberArgument<1>>;
/// y = x if x > 0, else alpha (e^x - 1)
using ELU = detail::FunctionLayer<"ELU", elu, detail::NumberArgument<2>>;
/// y = x if x > 0, else alpha (e^(x/alpha) - 1)
using CELU = detail::FunctionLayer<"CELU", celu, detail::NumberArgument<2>>;

/// y = x P(x), where P is the distribution function of the standard normal distribution
struct GELU : detail::FunctionLayerOf<GELU, gelu, Gelu> {
  explicit GELU(At here, Gelu form = Gelu::erf) : FunctionLayerOf(std::move(here), form) {}
  explicit GELU(Placeless, ...);  ///< compile error: the first argument must be at("name") or root

 protected:
  std::string extra_repr() const override { return options == Gelu::erf ? "" : "tanh"; }
};

/// y = x if x > 0, else negative_slope x
struct LeakyReLU : detail::FunctionLayerOf<LeakyReLU, leaky_relu, LeakyReluOptions> {
  using FunctionLayerOf::FunctionLayerOf;

 protected:
  std::string extra_repr() const override { return str(options.negative_slope); }
};

/// y = min(max(x, min_val), max_val)
struct Hardtanh : detail::FunctionLayerOf<Hardtanh, hardtanh, HardtanhOptions> {
  using FunctionLayerOf::FunctionLayerOf;

 protected:
  std::string extra_repr() const override { return str(options.min_val, " to ", options.max_val); }
};

struct PReLUOptions {
  std::int64_t num_parameters = 1;  ///< one weight for all elements, or one for each position of axis 1
  double init = 0.25;               ///< initial value of the weights
};
/// y = x if x > 0, else weight x, where the weight is a parameter. Throws ValueError for num_parameters below 1.
struct PReLU : Layer<PReLU, PReLUOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return prelu(x, weight); }

  const Tensor weight =  ///< (num_parameters)
      param("weight", {positive("num_parameters", options.num_parameters)}, init::constant(options.init));

 protected:
  std::string extra_repr() const override { return str(weight.size()); }
};

}  // namespace xgrad::nn
