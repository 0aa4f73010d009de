// Mlp.
#include "mlp.h"

#include "../../ops/elementwise/elementwise.h"

namespace xgrad::nn {

MlpOptions vision_mlp(std::int64_t dim, std::int64_t hidden, double dropout) {
  return {.in = dim,
          .hidden = hidden,
          .activation = gelu,
          .dropout = dropout,
          .init = init::xavier_uniform(),
          .bias_init = init::normal({.std = 1e-6}),
          .names = {"0", "3", "4"}};
}

Mlp::Mlp(At here, const Options& given)
    : Layer(std::move(here)),
      options(given),
      fc1(at(options.names[0]), options.in, options.hidden,
          {.bias = options.bias, .init = options.init, .bias_init = options.bias_init}),
      fc2(at(options.names[1]), options.hidden, options.out == 0 ? options.in : options.out,
          {.bias = options.bias, .init = options.init, .bias_init = options.bias_init}),
      dropout(at(options.names[2]), options.dropout) {}

Tensor Mlp::forward(const Tensor& x) const {
  const Tensor h = dropout(options.activation(fc1(x)));  // (..., hidden)
  return dropout(fc2(h));
}

std::string Mlp::settings() const { return cat(fc1.in, " -> ", fc1.out, " -> ", fc2.out); }

}  // namespace xgrad::nn
