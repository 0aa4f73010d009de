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

Tensor Mlp::forward(const Tensor& x) const {
  const Tensor h = dropout(options.activation(fc1(x)));  // (..., hidden)
  return dropout(fc2(h));
}

}  // namespace xgrad::nn
