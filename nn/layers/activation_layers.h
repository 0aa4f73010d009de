// Activations as layers, under PyTorch's names: for Sequential, and wherever a layer is asked for. Each is the function
// of ops/elementwise/elementwise.h or ops/elementwise/activations.h that its comment names, and throws the same errors.
#pragma once

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/elementwise.h"
#include "../../ops/layers/softmax.h"
#include "../layer.h"

namespace xgrad::nn {

/// y = max(x, 0)
struct ReLU : Layer<ReLU> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return relu(x); }
};

/// y = min(max(x, 0), 6)
struct ReLU6 : Layer<ReLU6> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return relu6(x); }
};

/// See selu.
struct SELU : Layer<SELU> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return selu(x); }
};

/// y = x sigmoid(x)
struct SiLU : Layer<SiLU> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return silu(x); }
};

/// y = x tanh(softplus(x))
struct Mish : Layer<Mish> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return mish(x); }
};

/// y = 1/(1 + e^-x)
struct Sigmoid : Layer<Sigmoid> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
};

/// y = ln sigmoid(x)
struct LogSigmoid : Layer<LogSigmoid> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return logsigmoid(x); }
};

/// y = relu6(x + 3)/6
struct Hardsigmoid : Layer<Hardsigmoid> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return hardsigmoid(x); }
};

/// y = x relu6(x + 3)/6
struct Hardswish : Layer<Hardswish> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return hardswish(x); }
};

/// Hyperbolic tangent.
struct Tanh : Layer<Tanh> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return tanh(x); }
};

/// y = x - tanh x
struct Tanhshrink : Layer<Tanhshrink> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return tanhshrink(x); }
};

/// y = x / (1 + |x|)
struct Softsign : Layer<Softsign> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return softsign(x); }
};

/// y = ln(1 + e^x)
struct Softplus : Layer<Softplus> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return softplus(x); }
};

/// y = x above 0, else negative_slope x
struct LeakyReLU : Layer<LeakyReLU, LeakyReluOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return leaky_relu(x, options); }

 protected:
  std::string settings() const override { return cat(options.negative_slope); }
};

/// y = min(max(x, min_val), max_val)
struct Hardtanh : Layer<Hardtanh, HardtanhOptions> {
  using Layer::Layer;
  Tensor forward(const Tensor& x) const { return hardtanh(x, options); }

 protected:
  std::string settings() const override { return cat(options.min_val, " to ", options.max_val); }
};

/// y = x where |x| > lambda, else 0
struct Hardshrink : Layer<Hardshrink> {
  explicit Hardshrink(At here, double width = 0.5) : Layer(std::move(here)), lambda(width) {}
  explicit Hardshrink(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return hardshrink(x, lambda); }

  const double lambda;

 protected:
  std::string settings() const override { return cat(lambda); }
};

/// y = sign x (|x| - lambda) where |x| > lambda, else 0
struct Softshrink : Layer<Softshrink> {
  explicit Softshrink(At here, double width = 0.5) : Layer(std::move(here)), lambda(width) {}
  explicit Softshrink(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return softshrink(x, lambda); }

  const double lambda;

 protected:
  std::string settings() const override { return cat(lambda); }
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

/// y = x above 0, else alpha (e^x - 1)
struct ELU : Layer<ELU> {
  explicit ELU(At here, double factor = 1) : Layer(std::move(here)), alpha(factor) {}
  explicit ELU(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return elu(x, alpha); }

  const double alpha;

 protected:
  std::string settings() const override { return cat(alpha); }
};

/// y = x above 0, else alpha (e^(x/alpha) - 1)
struct CELU : Layer<CELU> {
  explicit CELU(At here, double factor = 1) : Layer(std::move(here)), alpha(factor) {}
  explicit CELU(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return celu(x, alpha); }

  const double alpha;

 protected:
  std::string settings() const override { return cat(alpha); }
};

/// y = x P(x), P the normal distribution function
struct GELU : Layer<GELU> {
  explicit GELU(At here, Gelu formula = Gelu::erf) : Layer(std::move(here)), form(formula) {}
  explicit GELU(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return gelu(x, form); }

  const Gelu form;

 protected:
  std::string settings() const override { return form == Gelu::erf ? "" : "tanh"; }
};

/// The first half of x along `axis` times the sigmoid of the second.
struct GLU : Layer<GLU> {
  explicit GLU(At here, int along = -1) : Layer(std::move(here)), axis(along) {}
  explicit GLU(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return glu(x, axis); }

  const int axis;

 protected:
  std::string settings() const override { return cat("axis ", axis); }
};

/// y_i = e^x_i / sum_j e^x_j along `axis`
struct Softmax : Layer<Softmax> {
  explicit Softmax(At here, int along = -1) : Layer(std::move(here)), axis(along) {}
  explicit Softmax(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return softmax(x, axis); }

  const int axis;

 protected:
  std::string settings() const override { return cat("axis ", axis); }
};

/// y_i = x_i - ln sum_j e^x_j along `axis`
struct LogSoftmax : Layer<LogSoftmax> {
  explicit LogSoftmax(At here, int along = -1) : Layer(std::move(here)), axis(along) {}
  explicit LogSoftmax(Placeless, ...);  ///< does not compile: no place

  Tensor forward(const Tensor& x) const { return log_softmax(x, axis); }

  const int axis;

 protected:
  std::string settings() const override { return cat("axis ", axis); }
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
