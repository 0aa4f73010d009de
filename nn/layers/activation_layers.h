// Activations as layers, under PyTorch's names: for Sequential, and wherever a layer is asked for. Each is the function
// of ops/elementwise/elementwise.h or ops/elementwise/activations.h that its comment names, and throws what that
// throws.
#pragma once

#include "../../ops/elementwise/activations.h"
#include "../../ops/elementwise/elementwise.h"
#include "../module.h"

namespace xgrad::nn {

/// y = max(x, 0)
struct ReLU : Module {
  explicit ReLU(At here) : Module(std::move(here)) {}
  explicit ReLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = min(max(x, 0), 6)
struct ReLU6 : Module {
  explicit ReLU6(At here) : Module(std::move(here)) {}
  explicit ReLU6(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// See selu.
struct SELU : Module {
  explicit SELU(At here) : Module(std::move(here)) {}
  explicit SELU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x sigmoid(x)
struct SiLU : Module {
  explicit SiLU(At here) : Module(std::move(here)) {}
  explicit SiLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x tanh(softplus(x))
struct Mish : Module {
  explicit Mish(At here) : Module(std::move(here)) {}
  explicit Mish(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = 1/(1 + e^-x)
struct Sigmoid : Module {
  explicit Sigmoid(At here) : Module(std::move(here)) {}
  explicit Sigmoid(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = ln sigmoid(x)
struct LogSigmoid : Module {
  explicit LogSigmoid(At here) : Module(std::move(here)) {}
  explicit LogSigmoid(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = relu6(x + 3)/6
struct Hardsigmoid : Module {
  explicit Hardsigmoid(At here) : Module(std::move(here)) {}
  explicit Hardsigmoid(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x relu6(x + 3)/6
struct Hardswish : Module {
  explicit Hardswish(At here) : Module(std::move(here)) {}
  explicit Hardswish(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// Hyperbolic tangent.
struct Tanh : Module {
  explicit Tanh(At here) : Module(std::move(here)) {}
  explicit Tanh(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x - tanh x
struct Tanhshrink : Module {
  explicit Tanhshrink(At here) : Module(std::move(here)) {}
  explicit Tanhshrink(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x / (1 + |x|)
struct Softsign : Module {
  explicit Softsign(At here) : Module(std::move(here)) {}
  explicit Softsign(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = ln(1 + e^x)
struct Softplus : Module {
  explicit Softplus(At here) : Module(std::move(here)) {}
  explicit Softplus(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;
};

/// y = x above 0, else negative_slope x
struct LeakyReLU : Module {
  using Options = LeakyReluOptions;

  LeakyReLU(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit LeakyReLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Options options;

 protected:
  std::string settings() const override;
};

/// y = min(max(x, min_val), max_val)
struct Hardtanh : Module {
  using Options = HardtanhOptions;

  Hardtanh(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit Hardtanh(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Options options;

 protected:
  std::string settings() const override;
};

/// y = x where |x| > lambda, else 0
struct Hardshrink : Module {
  explicit Hardshrink(At here, double width = 0.5) : Module(std::move(here)), lambda(width) {}
  explicit Hardshrink(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double lambda;

 protected:
  std::string settings() const override;
};

/// y = sign x (|x| - lambda) where |x| > lambda, else 0
struct Softshrink : Module {
  explicit Softshrink(At here, double width = 0.5) : Module(std::move(here)), lambda(width) {}
  explicit Softshrink(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double lambda;

 protected:
  std::string settings() const override;
};

/// y = x from 0 on, else slope x; in training, each slope is drawn between lower and upper (the next draw of the
/// calling thread's generator), else it is their mean.
struct RReLU : Module {
  using Options = RReluOptions;

  RReLU(At here, const Options& given = {}) : Module(std::move(here)), options(given) {}
  explicit RReLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Options options;

 protected:
  std::string settings() const override;
};

/// y = x above 0, else alpha (e^x - 1)
struct ELU : Module {
  explicit ELU(At here, double factor = 1) : Module(std::move(here)), alpha(factor) {}
  explicit ELU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double alpha;

 protected:
  std::string settings() const override;
};

/// y = x above 0, else alpha (e^(x/alpha) - 1)
struct CELU : Module {
  explicit CELU(At here, double factor = 1) : Module(std::move(here)), alpha(factor) {}
  explicit CELU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const double alpha;

 protected:
  std::string settings() const override;
};

/// y = x P(x), P the normal distribution function
struct GELU : Module {
  explicit GELU(At here, Gelu formula = Gelu::erf) : Module(std::move(here)), form(formula) {}
  explicit GELU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Gelu form;

 protected:
  std::string settings() const override;
};

/// The first half of x along `axis` times the sigmoid of the second.
struct GLU : Module {
  explicit GLU(At here, int along = -1) : Module(std::move(here)), axis(along) {}
  explicit GLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const int axis;

 protected:
  std::string settings() const override;
};

/// y_i = e^x_i / sum_j e^x_j along `axis`
struct Softmax : Module {
  explicit Softmax(At here, int along = -1) : Module(std::move(here)), axis(along) {}
  explicit Softmax(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const int axis;

 protected:
  std::string settings() const override;
};

/// y_i = x_i - ln sum_j e^x_j along `axis`
struct LogSoftmax : Module {
  explicit LogSoftmax(At here, int along = -1) : Module(std::move(here)), axis(along) {}
  explicit LogSoftmax(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const int axis;

 protected:
  std::string settings() const override;
};

struct PReLUOptions {
  std::int64_t num_parameters = 1;  ///< one for all, or one for each position of axis 1
  double init = 0.25;               ///< what they begin as
};
/// y = x above 0, else weight x, where the weight is learned.
struct PReLU : Module {
  using Options = PReLUOptions;

  /// Throws ValueError for num_parameters below 1.
  PReLU(At here, const Options& options = {});
  explicit PReLU(Placeless, ...);  ///< does not compile: no place

  Tensor operator()(const Tensor& x) const;

  const Tensor weight;  ///< (num_parameters)

 protected:
  std::string settings() const override;
};

}  // namespace xgrad::nn
