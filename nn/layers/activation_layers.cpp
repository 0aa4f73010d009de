// Activations as layers.
#include "activation_layers.h"

#include "../../ops/layers/softmax.h"

namespace xgrad::nn {

Tensor ReLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(relu(x));
}

Tensor ReLU6::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(relu6(x));
}

Tensor SELU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(selu(x));
}

Tensor SiLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(silu(x));
}

Tensor Mish::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(mish(x));
}

Tensor Sigmoid::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(sigmoid(x));
}

Tensor LogSigmoid::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(logsigmoid(x));
}

Tensor Hardsigmoid::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(hardsigmoid(x));
}

Tensor Hardswish::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(hardswish(x));
}

Tensor Tanh::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(tanh(x));
}

Tensor Tanhshrink::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(tanhshrink(x));
}

Tensor Softsign::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(softsign(x));
}

Tensor Softplus::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(softplus(x));
}

Tensor LeakyReLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(leaky_relu(x, options));
}

std::string LeakyReLU::settings() const { return cat(options.negative_slope); }

Tensor Hardtanh::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(hardtanh(x, options));
}

std::string Hardtanh::settings() const { return cat(options.min_val, " to ", options.max_val); }

Tensor Hardshrink::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(hardshrink(x, lambda));
}

std::string Hardshrink::settings() const { return cat(lambda); }

Tensor Softshrink::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(softshrink(x, lambda));
}

std::string Softshrink::settings() const { return cat(lambda); }

Tensor RReLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  if (training()) return here(rrelu(x, options));
  return here(leaky_relu(x, {.negative_slope = (options.lower + options.upper) / 2}));
}

std::string RReLU::settings() const { return cat(options.lower, " to ", options.upper); }

Tensor ELU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(elu(x, alpha));
}

std::string ELU::settings() const { return cat(alpha); }

Tensor CELU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(celu(x, alpha));
}

std::string CELU::settings() const { return cat(alpha); }

Tensor GELU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(gelu(x, form));
}

std::string GELU::settings() const { return form == Gelu::erf ? "" : "tanh"; }

Tensor GLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(glu(x, axis));
}

std::string GLU::settings() const { return cat("axis ", axis); }

Tensor Softmax::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(softmax(x, axis));
}

std::string Softmax::settings() const { return cat("axis ", axis); }

Tensor LogSoftmax::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(log_softmax(x, axis));
}

std::string LogSoftmax::settings() const { return cat("axis ", axis); }

Tensor PReLU::operator()(const Tensor& x) const {
  const auto here = enter(x);
  return here(prelu(x, weight));
}

std::string PReLU::settings() const { return cat(weight.size()); }

PReLU::PReLU(At here, const Options& options)
    : Module(std::move(here)),
      weight(param("weight", {positive("num_parameters", options.num_parameters)}, init::constant(options.init))) {}

}  // namespace xgrad::nn
