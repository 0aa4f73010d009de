// Mlp.
#include "mlp.h"

namespace xgrad::nn {

Mlp::Mlp(At here, const Options& given)
    : Layer(std::move(here)),
      options(given),
      fc1(at("fc1"), options.in, options.hidden, {.bias = options.bias}),
      fc2(at("fc2"), options.hidden, options.out == 0 ? options.in : options.out, {.bias = options.bias}),
      dropout(at("dropout"), options.dropout) {}

Tensor Mlp::forward(const Tensor& x) const {
  const Tensor h = dropout(options.activation(fc1(x)));  // (..., hidden)
  return dropout(fc2(h));
}

std::string Mlp::settings() const { return cat(fc1.in, " -> ", fc1.out, " -> ", fc2.out); }

}  // namespace xgrad::nn
