// Activations as layers, under PyTorch's names: for Sequential, and wherever a layer is asked for. Each is the function
// of ops/elementwise/elementwise.h, ops/elementwise/activations.h or ops/layers/softmax.h that it names, and throws the
// same errors.
#pragma once

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/layers/softmax.h"
#include "function_layer.h"

namespace xgrad::nn {

namespace detail {
/// The function of tensors among those of one name: registers have some, too.
constexpr auto of_tensors(Tensor (*function)(const Tensor&)) { return function; }
}  // namespace detail

/// y = max(x, 0)
struct ReLU : detail::FunctionLayer<ReLU, relu> {
  using FunctionLayer::FunctionLayer;
};
/// y = min(max(x, 0), 6)
struct ReLU6 : detail::FunctionLayer<ReLU6, relu6> {
  using FunctionLayer::FunctionLayer;
};
/// See selu.
struct SELU : detail::FunctionLayer<SELU, selu> {
  using FunctionLayer::FunctionLayer;
};
/// y = x sigmoid(x)
struct SiLU : detail::FunctionLayer<SiLU, silu> {
  using FunctionLayer::FunctionLayer;
};
/// y = x tanh(softplus(x))
struct Mish : detail::FunctionLayer<Mish, mish> {
  using FunctionLayer::FunctionLayer;
};
/// y = 1/(1 + e^-x)
struct Sigmoid : detail::FunctionLayer<Sigmoid, detail::of_tensors(sigmoid)> {
  using FunctionLayer::FunctionLayer;
};
/// y = ln sigmoid(x)
struct LogSigmoid : detail::FunctionLayer<LogSigmoid, logsigmoid> {
  using FunctionLayer::FunctionLayer;
};
/// y = relu6(x + 3)/6
struct Hardsigmoid : detail::FunctionLayer<Hardsigmoid, hardsigmoid> {
  using FunctionLayer::FunctionLayer;
};
/// y = x relu6(x + 3)/6
struct Hardswish : detail::FunctionLayer<Hardswish, hardswish> {
  using FunctionLayer::FunctionLayer;
};
/// Hyperbolic tangent.
struct Tanh : detail::FunctionLayer<Tanh, detail::of_tensors(tanh)> {
  using FunctionLayer::FunctionLayer;
};
/// y = x - tanh x
struct Tanhshrink : detail::FunctionLayer<Tanhshrink, tanhshrink> {
  using FunctionLayer::FunctionLayer;
};
/// y = x / (1 + |x|)
struct Softsign : detail::FunctionLayer<Softsign, softsign> {
  using FunctionLayer::FunctionLayer;
};
/// y = ln(1 + e^x)
struct Softplus : detail::FunctionLayer<Softplus, softplus> {
  using FunctionLayer::FunctionLayer;
};
/// The first half of x along the axis times the sigmoid of the second.
struct GLU : detail::FunctionLayer<GLU, glu, detail::AxisArgument> {
  using FunctionLayer::FunctionLayer;
};
/// y_i = e^x_i / sum_j e^x_j along the axis
struct Softmax : detail::FunctionLayer<Softmax, softmax, detail::AxisArgument> {
  using FunctionLayer::FunctionLayer;
};
/// y_i = x_i - ln sum_j e^x_j along the axis
struct LogSoftmax : detail::FunctionLayer<LogSoftmax, log_softmax, detail::AxisArgument> {
  using FunctionLayer::FunctionLayer;
};

/// y = x where |x| > lambda, else 0
struct Hardshrink : detail::FunctionLayer<Hardshrink, hardshrink, detail::NoOptions, double> {
  explicit Hardshrink(At here, double lambda = 0.5) : FunctionLayer(std::move(here), lambda) {}
  explicit Hardshrink(Placeless, ...);  ///< does not compile: no place
};
/// y = sign x (|x| - lambda) where |x| > lambda, else 0
struct Softshrink : detail::FunctionLayer<Softshrink, softshrink, detail::NoOptions, double> {
  explicit Softshrink(At here, double lambda = 0.5) : FunctionLayer(std::move(here), lambda) {}
  explicit Softshrink(Placeless, ...);  ///< does not compile: no place
};
/// y = x above 0, else alpha (e^x - 1)
struct ELU : detail::FunctionLayer<ELU, elu, detail::NoOptions, double> {
  explicit ELU(At here, double alpha = 1) : FunctionLayer(std::move(here), alpha) {}
  explicit ELU(Placeless, ...);  ///< does not compile: no place
};
/// y = x above 0, else alpha (e^(x/alpha) - 1)
struct CELU : detail::FunctionLayer<CELU, celu, detail::NoOptions, double> {
  explicit CELU(At here, double alpha = 1) : FunctionLayer(std::move(here), alpha) {}
  explicit CELU(Placeless, ...);  ///< does not compile: no place
};

/// y = x P(x), P the normal distribution function
struct GELU : detail::FunctionLayer<GELU, gelu, Gelu> {
  explicit GELU(At here, Gelu form = Gelu::erf) : FunctionLayer(std::move(here), form) {}
  explicit GELU(Placeless, ...);  ///< does not compile: no place

 protected:
  std::string settings() const override { return options == Gelu::erf ? "" : "tanh"; }
};

/// y = x above 0, else negative_slope x
struct LeakyReLU : detail::FunctionLayer<LeakyReLU, leaky_relu, LeakyReluOptions> {
  using FunctionLayer::FunctionLayer;

 protected:
  std::string settings() const override { return cat(options.negative_slope); }
};

/// y = min(max(x, min_val), max_val)
struct Hardtanh : detail::FunctionLayer<Hardtanh, hardtanh, HardtanhOptions> {
  using FunctionLayer::FunctionLayer;

 protected:
  std::string settings() const override { return cat(options.min_val, " to ", options.max_val); }
};

/// y = x from 0 on, else slope x; in training, each slope is drawn between lower and upper (the next draw of the
/// calling thread's generator), else it is their mean.
struct RReLU : Layer<RReLU, RReluOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const {
    if (training()) return rrelu(x, options);
    return leaky_relu(x, {.negative_slope = (options.lower + options.upper) / 2});
  }

 protected:
  std::string settings() const override { return cat(options.lower, " to ", options.upper); }
};

struct PReLUOptions {
  std::int64_t num_parameters = 1;  ///< one for all, or one for each position of axis 1
  double init = 0.25;               ///< their first value
};
/// y = x above 0, else weight x, where the weight is learned. Throws ValueError for num_parameters below 1.
struct PReLU : Layer<PReLU, PReLUOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return prelu(x, weight); }

  const Tensor weight =  ///< (num_parameters)
      param("weight", {positive("num_parameters", options.num_parameters)}, init::constant(options.init));

 protected:
  std::string settings() const override { return cat(weight.size()); }
};

}  // namespace xgrad::nn
